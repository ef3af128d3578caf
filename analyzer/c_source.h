/* A C, C++ or Objective-C source as a module of the project. */
#ifndef MLA_ANALYZER_C_SOURCE_H
#define MLA_ANALYZER_C_SOURCE_H

#include "analyzer/c_arguments.h"
#include "analyzer/project.h"

/* What such a module has besides its syntax. */
struct mla_c_source {
	mla_tokens tokens;
	mla_clang_tree tree;
	mla_c_arguments *arguments;   /* what it was parsed with; a loan */
	struct mla_site *const *site; /* decisions with a test in it, once facts were built */
	uint32_t site_count;
};

/* Parses `text`, which the module then owns. On failure the text is the caller's. */
int mla_c_module_parse(mla_module **out, mla_c_arguments *arguments, mla_text *text);

/* Does the preprocessor leave all of the span out? */
bool mla_c_is_inactive(const mla_module *m, mla_span s);

/* Does it include the other one, itself or through others? */
bool mla_c_sees(const mla_module *m, const mla_module *other);

#endif

/*
 * C, C++ and Objective-C front end: source text to syntax, by libclang. The library is loaded when
 * the first such source is met, and each source is parsed in a process of its own: one that takes
 * too long, too much memory or breaks the library ends as an error, not as a hang or a crash.
 */
#ifndef MLA_ANALYZER_CLANG_H
#define MLA_ANALYZER_CLANG_H

#include "analyzer/c_info.h"
#include "analyzer/c_tokens.h"

/* What the parse of one source gave. Lives until mla_clang_free(). */
typedef struct {
	mla_node *root;           /* MODULE */
	mla_node *retained;       /* the same with inactive code kept, or NULL when there is none */
	const mla_span *inactive; /* what the preprocessor left out */
	uint32_t inactive_count;
	const uint32_t *error; /* where the source does not parse */
	uint32_t error_count;
	const uint32_t *lost; /* where something is used that a missing header declares */
	uint32_t lost_count;
	const mla_str *include; /* what it includes, itself or through others: paths of the scan */
	uint32_t include_count;
	const mla_str *missing; /* names of headers that were not found */
	uint32_t missing_count;
	void *memory;
	size_t size;
} mla_clang_tree;

/* Is it the name of a source of these languages? */
bool mla_clang_is_source(mla_str path);
bool mla_clang_is_cuda(mla_str path);

/* MLA_EPARSE when libclang cannot be loaded; the message names the package. */
int mla_clang_load(void);

/* The version of the library, loading it; "not found" when there is none. */
const char *mla_clang_version(void);

/*
 * Parses `text`, which is `path` (absolute), with these compiler arguments. Names in the tree point
 * into `text` or the tree's memory.
 */
int mla_clang_parse(mla_clang_tree *out, const mla_text *text, const mla_tokens *tokens,
                    const char *path, const char *const *arguments, uint32_t argument_count);
void mla_clang_free(mla_clang_tree *t);

#endif

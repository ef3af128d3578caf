/*
 * The sources of one scan as modules: parsed once, found again by path, imports followed from one
 * to another. Does no input itself: it asks a reader for the bytes of a path.
 */
#ifndef MLA_ANALYZER_PROJECT_H
#define MLA_ANALYZER_PROJECT_H

#include "analyzer/clang.h"
#include "analyzer/python.h"
#include "analyzer/syntax.h"

/* One name bound at module level. */
typedef struct {
	mla_str name;
	const mla_node *node; /* CLASS, FUNCTION, ALIAS, or the value of an assignment */
} mla_binding;

typedef struct mla_c_source mla_c_source;

/* A walk through all of a module that every fix in it asks for: see fixers/helper.c. */
typedef struct {
	const mla_node *last;
	uint32_t count;
	bool known;
} mla_memo;

typedef struct {
	const char *path; /* from the root of the scan, '/' between parts */
	mla_text *text;
	mla_arena *arena;
	mla_syntax syntax;
	const mla_binding *bindings; /* in source order; a later one wins */
	uint32_t binding_count;
	mla_c_source *c; /* of a C, C++ or Objective-C source (c_source.h); else NULL */
	mla_memo memo;
} mla_module;

/*
 * Gives the text of `path` (from the root of the scan): 0 with *out, 1 when there is no such file.
 * Any other failure counts as absent for an import.
 */
typedef struct {
	int (*read)(mla_text **out, void *payload, const char *path);
	void *payload;
} mla_reader;

typedef struct mla_project mla_project;

int mla_project_new(mla_project **out, mla_reader reader);
void mla_project_free(mla_project *p); /* and every module in it */

/* Parses `text` (which the module then owns) with a parser of the calling thread. */
int mla_module_parse(mla_module **out, mla_python *python, mla_text *text);
void mla_module_free(mla_module *m); /* only one that was never added */

/* Hands a parsed module over to the project. The first one of a path stays. */
void mla_project_add(mla_project *p, mla_module *m);

/* The modules in the project by path; NULL after the last. One that was asked for and is not there
 * is passed over. */
mla_module *mla_project_next(mla_project *p, uint32_t *index);

/* The module at `path`, read and parsed if need be; NULL when there is none. */
mla_module *mla_project_module(mla_project *p, const char *path);

/* The module that a node stands in; NULL: none of these. */
mla_module *mla_project_owner(mla_project *p, const mla_node *n);

/*
 * The module that `import spec` in `from` means: relative dots, then names. An absolute name is
 * looked for in every folder from the importer's upwards to the root. NULL when it is not here.
 */
mla_module *mla_project_import(mla_project *p, const mla_module *from, mla_str spec);

/* Would it be `home`? Answered from the paths alone: nothing is read. */
bool mla_import_means(const mla_module *from, mla_str spec, const mla_module *home);

/* What a name stands for after imports have been followed. Both NULL when unknown. */
typedef struct {
	mla_module *module;
	const mla_node *node; /* CLASS, FUNCTION or a value in `module`; NULL: the module itself */
} mla_symbol;

mla_symbol mla_project_resolve(mla_project *p, mla_module *m, mla_str name);

/* The same for NAME and ATTRIBUTE expressions (`mla.MultiLinear`, `models.mla.MultiLinear`). */
mla_symbol mla_project_resolve_node(mla_project *p, mla_module *m, const mla_node *expr);

/* The ALIAS through which `name` comes into `m`, or NULL when it is no import. */
const mla_node *mla_module_alias(const mla_module *m, mla_str name);
const mla_binding *mla_module_binding(const mla_module *m, mla_str name);

#endif

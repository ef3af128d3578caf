/*
 * With which arguments the compiler reads a source: those of compile_commands.json where it is
 * known, else defaults for its language and include folders around it.
 */
#ifndef MLA_ANALYZER_C_ARGUMENTS_H
#define MLA_ANALYZER_C_ARGUMENTS_H

#include "analyzer/c_tokens.h"

/* For the sources under one root; any thread may ask. */
typedef struct mla_c_arguments mla_c_arguments;

mla_c_arguments *mla_c_arguments_new(const char *root); /* absolute */
void mla_c_arguments_free(mla_c_arguments *a);

/* Where the file `path` of that root is. */
const char *mla_c_arguments_absolute(const mla_c_arguments *a, mla_arena *arena, const char *path);

typedef struct {
	const char *const *v; /* -x, the language, the standard, and others */
	uint32_t n;
} mla_argument_list;

/* For the source `path` (from the root), whose tokens tell the language of a header. */
void mla_c_arguments_for(mla_argument_list *out, mla_c_arguments *a, mla_arena *arena,
                         const char *path, mla_str bytes, const mla_tokens *tokens);

/* Adds the folders under the root in which the named headers are. False: there is none, or they
 * are there already. */
bool mla_c_arguments_find(mla_argument_list *list, mla_c_arguments *a, mla_arena *arena,
                          const char *path, const mla_str *header, uint32_t n);

/* "a/./b/../c" -> "a/c"; a path that leads above its start keeps what leads there. */
mla_str mla_c_path_plain(mla_arena *arena, mla_str path);

#endif

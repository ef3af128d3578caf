/* Where the headers under a root are: for an include whose folder nobody has named. */
#ifndef MLA_ANALYZER_C_HEADERS_H
#define MLA_ANALYZER_C_HEADERS_H

#include "analyzer/arena.h"

/* Looked for at the first question; any thread may ask. */
typedef struct mla_c_headers mla_c_headers;

mla_c_headers *mla_c_headers_new(const char *root); /* absolute */
void mla_c_headers_free(mla_c_headers *h);

/*
 * The folder, in `arena`, in which `name` ("utils.h", "ops/mul.h") is a header, for the source
 * `path` (absolute): of several, the one that has most folders in common with the source, then the
 * one with the fewest folders in its path, then the first by name. NULL: there is none.
 */
const char *mla_c_headers_folder(mla_c_headers *h, mla_arena *arena, const char *path,
                                 mla_str name);

#endif

/* Python without what is no code, found by its quotes and `#` alone. */
#ifndef MLA_CLI_CODE_ONLY_H
#define MLA_CLI_CODE_ONLY_H

#include "analyzer/base.h"

/*
 * Copies `bytes` to `out` (as many bytes) with blanks for comments and for strings, but for those
 * that are one name, as getattr() takes it. Line ends stay. False: a string has no end, so that
 * nothing can be said; `out` is of no use then.
 */
bool mla_code_only(char *out, mla_str bytes);

#endif

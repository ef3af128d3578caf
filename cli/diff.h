/* Unified diffs of changes, as git reads them. */
#ifndef MLA_CLI_DIFF_H
#define MLA_CLI_DIFF_H

#include "fixers/apply.h"

#include <stdio.h>

/* `mode` is that of the file, for the index line. MLA_EGIT when libgit2 refuses. */
int mla_diff_print(FILE *to, const mla_change *c, unsigned mode);

#endif

/* Unified diffs of changes, as git reads them. */
#ifndef MLA_CLI_DIFF_H
#define MLA_CLI_DIFF_H

#include "fixers/apply.h"

#include <git2.h>
#include <stdio.h>

/* How every diff of ours is made, whatever the user's configuration. */
void mla_diff_options(git_diff_options *out);

/* `mode` is that of the file, for the index line. MLA_EGIT when libgit2 refuses. */
int mla_diff_print(FILE *to, const mla_change *c, unsigned mode);

#endif

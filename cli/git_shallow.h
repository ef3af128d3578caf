/* Merge bases in clones without the whole history. */
#ifndef MLA_CLI_GIT_SHALLOW_H
#define MLA_CLI_GIT_SHALLOW_H

#include "cli/git.h"

/* The newest commit that both descend from as far as the history is here. False: there is none. */
bool mla_git_shallow_base(git_oid *out, git_repository *repo, const git_oid *a, const git_oid *b);

#endif

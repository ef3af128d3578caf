/* What a revision is compared with: the merge base, and where its files were before. */
#ifndef MLA_CLI_GIT_BASE_H
#define MLA_CLI_GIT_BASE_H

#include "cli/git.h"

/*
 * The merge base of `rev` and `head` (NULL: the HEAD of the repository). Without one it is what
 * `rev` names, and the reason is in mla_error_last(): 1 then.
 */
int mla_git_base(git_object **out, git_repository *repo, const char *rev, const git_object *head);

/*
 * old[i] becomes the path in `base` of what is path[i] in `now` (NULL: the work tree), where
 * libgit2 sees that it was renamed; the caller frees it. NULL: it was not.
 */
int mla_git_renamed(char **old, const char *const *path, uint32_t n, git_repository *repo,
                    const git_object *base, const git_object *now);

#endif

/*
 * Git's ignore rules: .gitignore of every folder, info/exclude, core.excludesFile. Our own, because
 * libgit2 drops a rule that takes back one of another file (`!keep.py` in a folder below).
 */
#ifndef MLA_CLI_IGNORE_H
#define MLA_CLI_IGNORE_H

#include "cli/files.h"
#include "cli/git.h"

typedef struct mla_ignore mla_ignore;

/* For the work tree of `repo` at `folder`. Rules that cannot be read are noted in `set`. */
mla_ignore *mla_ignore_new(mla_fileset *set, git_repository *repo, const char *folder);
void mla_ignore_free(mla_ignore *g); /* NULL is fine */

/* Is the path (from the folder) ignored, itself or with a folder it is in? Fast for paths that come
 * in the order of a walk. Whether git tracks it is not asked. */
bool mla_ignore_path(mla_ignore *g, const char *path, bool is_folder);

#endif

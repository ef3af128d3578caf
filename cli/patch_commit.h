/* The git side of a patch: trees, commits, diffs and the branch. The index, HEAD and the work tree
 * are not looked at and not touched. */
#ifndef MLA_CLI_PATCH_COMMIT_H
#define MLA_CLI_PATCH_COMMIT_H

#include "cli/patch_series.h"

#include <stdio.h>

/* MLA_ECONFIG when no branch can be made of this name. */
int mla_patch_branch_check(git_repository *repo, const char *name);

/* Author and committer as git has them: variables, then configuration. MLA_ECONFIG: not set. */
typedef struct {
	git_signature *author, *committer;
} mla_patch_people;

int mla_patch_people_find(mla_patch_people *out, git_repository *repo);
void mla_patch_people_free(mla_patch_people *p);

/* From here on new objects of the repository are kept in memory and gone with it. */
int mla_patch_in_memory(git_repository *repo);

/* Makes the commits, the first on HEAD as it was scanned. No reference changes. */
int mla_patch_commit(mla_series *s, const mla_patch_people *people);

/* The branch, which must not exist yet, at the last commit. */
int mla_patch_branch_create(const mla_series *s, const char *name);
void mla_patch_branch_remove(const mla_series *s, const char *name);

/* From HEAD to the files after the last commit; the commits themselves need not be there. */
int mla_patch_diff(git_buf *out, const mla_series *s);

/* The diff of one commit, and how much of each file it changes. */
int mla_patch_commit_diff(git_buf *diff, git_buf *stat, const mla_series *s, const mla_commit *c);

#endif

/* Git repositories, through libgit2: opening them and naming what is in them. */
#ifndef MLA_CLI_GIT_H
#define MLA_CLI_GIT_H

#include "analyzer/base.h"

#include <git2.h>

/* Once, before anything else here, and at the end. */
void mla_git_start(void);
void mla_git_end(void);

/*
 * Opens the repository that `folder` is in, found as git finds it from there. Variables that git
 * sets for its hooks (GIT_DIR, GIT_INDEX_FILE, ...) may speak of another one and are not asked.
 * 1: it is in none. MLA_EGIT: there is one, but not for libgit2.
 */
int mla_git_open(git_repository **out, const char *folder);

/* The commit or tree that `rev` names. The message says `option` (such as "--rev"). */
int mla_git_resolve(git_object **out, git_repository *repo, const char *option, const char *rev);

/* MLA_EGIT with the message, ": " and what libgit2 said last. */
int mla_git_error(const char *fmt, ...) MLA_PRINTF(1, 2);

#endif

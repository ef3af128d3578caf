/* The files of one revision, by path. Reads may come from several threads. */
#ifndef MLA_CLI_GIT_TREE_H
#define MLA_CLI_GIT_TREE_H

#include "cli/files.h"
#include "cli/git.h"

typedef enum {
	MLA_GIT_FILE,      /* a source */
	MLA_GIT_LINK,      /* a symbolic link, whatever its name */
	MLA_GIT_SUBMODULE, /* a commit of another repository */
	MLA_GIT_FAULT,     /* a folder or a name that cannot be read; `reason` says why */
} mla_git_kind;

typedef struct {
	char *path;
	mla_git_kind kind;
	git_oid id;
	unsigned mode;
	char *reason;
} mla_git_entry;

typedef struct mla_git_tree {
	git_repository *repo;
	git_odb *odb;
	git_object *root;               /* the commit or tree */
	MLA_VEC(mla_git_entry) entries; /* sorted by path */
} mla_git_tree;

/*
 * Lists the tree of `root`. Takes over `repo` and `root`, also when it fails. MLA_ELIMIT: there are
 * more entries than any tree of sources has.
 */
int mla_git_tree_new(mla_git_tree **out, git_repository *repo, git_object *root);
void mla_git_tree_free(mla_git_tree *t); /* NULL is fine */

/* NULL when there is no such entry. */
const mla_git_entry *mla_git_tree_find(const mla_git_tree *t, const char *path);

/* The same, or the submodule or the fault that the path is below. */
const mla_git_entry *mla_git_tree_at(const mla_git_tree *t, const char *path);

/* The entries below a folder ("": all of them): *first up to and without *end. */
void mla_git_tree_below(uint32_t *first, uint32_t *end, const mla_git_tree *t, const char *folder);

/* As mla_file_bytes(); of *st only the mode is set. */
int mla_git_tree_bytes(mla_bytes *out, struct stat *st, const mla_git_tree *t, const char *path);

/* The bytes of any file, also one that is no source; 1: there is none. */
int mla_git_tree_blob(mla_bytes *out, const mla_git_tree *t, const char *path);

#endif

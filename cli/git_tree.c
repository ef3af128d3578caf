/* Listing the tree of a revision, and the bytes of its files. Trees and objects may be hostile. */
#include "cli/git_tree.h"

#include "analyzer/str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	DEPTH_MAX = 128,       /* as for folders of the disk */
	ENTRIES_MAX = 1 << 23, /* the largest public trees have under a million; a few trees that
	                          name each other can spell out billions */
};

/* The folders from the root to the one at hand. */
typedef struct {
	mla_git_tree *t;
	git_tree *folder[DEPTH_MAX + 1];
	size_t at[DEPTH_MAX + 1];
	size_t len[DEPTH_MAX + 1]; /* of the path of the folder, with its '/' */
	uint32_t depth;            /* folders open */
	char path[PATH_MAX];
	uint32_t seen;
} walk;

static mla_git_entry *add(walk *w, mla_git_kind kind, const git_tree_entry *e)
{
	mla_git_entry entry = {.path = mla_copy(w->path), .kind = kind};

	if (e) {
		entry.id = *git_tree_entry_id(e);
		entry.mode = git_tree_entry_filemode(e);
	}
	mla_vec_push(&w->t->entries, entry);
	return &w->t->entries.v[w->t->entries.n - 1];
}

static void add_fault(walk *w, const char *reason)
{
	add(w, MLA_GIT_FAULT, NULL)->reason = mla_copy(reason);
}

/* The reason, when an object does not come. Clones without some objects are the usual one. */
static int object_error(int code, const git_oid *id)
{
	char name[GIT_OID_HEXSZ + 1];

	git_oid_tostr(name, sizeof(name), id);
	if (code == GIT_ENOTFOUND)
		return mla_error(MLA_EGIT,
		                 "object %s is not in this repository: a partial clone, or a "
		                 "damaged one",
		                 name);
	return mla_git_error("object %s cannot be read", name);
}

/* Names that git itself refuses to check out could make a path mean another place. */
static bool is_sane(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcmp(name, ".git") != 0;
}

static void enter(walk *w, const git_tree_entry *e)
{
	git_tree *folder;
	int error;

	if (w->depth > DEPTH_MAX) {
		add_fault(w, "folders nested too deeply");
		return;
	}
	error = git_tree_lookup(&folder, w->t->repo, git_tree_entry_id(e));
	if (error < 0) {
		object_error(error, git_tree_entry_id(e));
		add_fault(w, mla_error_last());
		return;
	}
	w->len[w->depth] = strlen(w->path) + 1;
	w->at[w->depth] = 0;
	w->folder[w->depth++] = folder;
}

static void visit(walk *w, const git_tree_entry *e)
{
	const char *name = git_tree_entry_name(e);
	size_t len = w->len[w->depth - 1];

	if (len + strlen(name) + 2 > sizeof(w->path)) {
		w->path[len ? len - 1 : 0] = '\0';
		add_fault(w, "a path in it is too long");
		return;
	}
	snprintf(w->path + len, sizeof(w->path) - len, "%s", name);
	if (len)
		w->path[len - 1] = '/';
	if (!is_sane(name)) {
		add_fault(w, "a name that git does not allow");
		return;
	}
	switch (git_tree_entry_filemode(e)) {
	case GIT_FILEMODE_TREE:
		enter(w, e);
		break;
	case GIT_FILEMODE_LINK:
		add(w, MLA_GIT_LINK, e);
		break;
	case GIT_FILEMODE_COMMIT:
		add(w, MLA_GIT_SUBMODULE, e);
		break;
	default:
		if (mla_file_is_source(name))
			add(w, MLA_GIT_FILE, e);
	}
}

static int by_path(const void *pa, const void *pb)
{
	const mla_git_entry *a = pa, *b = pb;
	int c = strcmp(a->path, b->path);

	return c ? c : git_oid_cmp(&a->id, &b->id); /* a hostile tree may name a path twice */
}

static int list(mla_git_tree *t, git_tree *root)
{
	walk *w = mla_alloc(sizeof(*w));
	int error = 0;

	w->t = t;
	w->folder[0] = root;
	w->depth = 1;
	while (w->depth && error == 0) {
		uint32_t top = w->depth - 1;
		const git_tree_entry *e = git_tree_entry_byindex(w->folder[top], w->at[top]++);

		if (e && ++w->seen > ENTRIES_MAX)
			error = mla_error(MLA_ELIMIT, "more than %d entries in one tree",
			                  ENTRIES_MAX);
		else if (e)
			visit(w, e);
		else
			git_tree_free(w->folder[--w->depth]);
	}
	while (w->depth)
		git_tree_free(w->folder[--w->depth]);
	free(w);
	if (t->entries.n)
		qsort(t->entries.v, t->entries.n, sizeof(*t->entries.v), by_path);
	return error;
}

int mla_git_tree_new(mla_git_tree **out, git_repository *repo, git_object *root)
{
	mla_git_tree *t = mla_alloc(sizeof(*t));
	git_tree *tree;
	int error;

	*t = (mla_git_tree){.repo = repo, .root = root};
	if ((error = git_repository_odb(&t->odb, repo)) < 0) {
		t->odb = NULL;
		error = mla_git_error("%s", git_repository_path(repo));
	} else if ((error = git_object_peel((git_object **)&tree, root, GIT_OBJECT_TREE)) < 0) {
		error = mla_git_error("%s: the tree cannot be read", git_repository_path(repo));
	} else {
		error = list(t, tree);
	}
	if (error < 0)
		mla_git_tree_free(t);
	*out = error < 0 ? NULL : t;
	return error;
}

void mla_git_tree_free(mla_git_tree *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->entries.n; i++) {
		free(t->entries.v[i].path);
		free(t->entries.v[i].reason);
	}
	mla_vec_free(&t->entries);
	git_object_free(t->root);
	git_odb_free(t->odb);
	git_repository_free(t->repo);
	free(t);
}

/* The first entry that is not before `path`; with `past`, not before anything that starts so. */
static uint32_t lower_bound(const mla_git_tree *t, const char *path, bool past)
{
	size_t n = strlen(path);
	uint32_t low = 0, high = t->entries.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *at = t->entries.v[middle].path;

		if (past ? strncmp(at, path, n) <= 0 : strcmp(at, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const mla_git_entry *mla_git_tree_find(const mla_git_tree *t, const char *path)
{
	uint32_t i = lower_bound(t, path, false);

	return i < t->entries.n && strcmp(t->entries.v[i].path, path) == 0 ? &t->entries.v[i]
	                                                                   : NULL;
}

const mla_git_entry *mla_git_tree_at(const mla_git_tree *t, const char *path)
{
	const mla_git_entry *e = mla_git_tree_find(t, path);
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	while (!e) {
		char *slash = strrchr(part, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
		e = mla_git_tree_find(t, part);
		if (e && e->kind != MLA_GIT_FAULT && e->kind != MLA_GIT_SUBMODULE)
			return NULL;
	}
	return e;
}

void mla_git_tree_below(uint32_t *first, uint32_t *end, const mla_git_tree *t, const char *folder)
{
	char prefix[PATH_MAX + 1];

	*first = 0;
	*end = t->entries.n;
	if (!*folder)
		return;
	snprintf(prefix, sizeof(prefix), "%s/", folder);
	*first = lower_bound(t, prefix, false);
	*end = lower_bound(t, prefix, true);
}

int mla_git_tree_bytes(mla_bytes *out, struct stat *st, const mla_git_tree *t, const char *path)
{
	const mla_git_entry *e = mla_git_tree_find(t, path);
	git_odb_object *object = NULL;
	git_object_t type;
	size_t size;
	int error;

	if (!e || e->kind != MLA_GIT_FILE)
		return 1;
	*st = (struct stat){.st_mode = e->mode};
	/* The header says the size before anything is unpacked. */
	error = git_odb_read_header(&size, &type, t->odb, &e->id);
	if (error == 0 && size > MLA_TEXT_MAX)
		return mla_error(MLA_ELIMIT, "larger than %d MB", MLA_TEXT_MAX >> 20);
	if (error == 0)
		error = git_odb_read(&object, t->odb, &e->id);
	if (error < 0)
		return object_error(error, &e->id);
	size = git_odb_object_size(object);
	if (git_odb_object_type(object) != GIT_OBJECT_BLOB || size > MLA_TEXT_MAX) {
		error = mla_error(MLA_EGIT, "the object of this path is no file");
	} else {
		if (out->cap < size + 1) {
			out->cap = 2 * size + 1;
			out->ptr = mla_realloc(out->ptr, out->cap, 1);
		}
		memcpy(out->ptr, git_odb_object_data(object), size);
		out->len = size;
	}
	git_odb_object_free(object);
	return error;
}

int mla_git_tree_blob(mla_bytes *out, const mla_git_tree *t, const char *path)
{
	git_object *blob;
	size_t size;
	int error = git_object_lookup_bypath(&blob, t->root, path, GIT_OBJECT_BLOB);

	if (error == GIT_ENOTFOUND || error == GIT_EINVALIDSPEC)
		return 1;
	if (error < 0)
		return mla_git_error("%s", path);
	size = (size_t)git_blob_rawsize((git_blob *)blob);
	if (size > MLA_TEXT_MAX) {
		error = mla_error(MLA_ELIMIT, "larger than %d MB", MLA_TEXT_MAX >> 20);
	} else {
		out->ptr = mla_realloc(out->ptr, out->cap = size + 1, 1);
		memcpy(out->ptr, git_blob_rawcontent((git_blob *)blob), size);
		out->len = size;
	}
	git_object_free(blob);
	return error;
}

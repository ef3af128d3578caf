/* Which files of a revision the paths of a command line mean. The disk is looked at only to find
 * the repository and the place in it. */
#include "cli/git_files.h"

#include "analyzer/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
	git_repository *repo;
	char folder[PATH_MAX]; /* of the repository: its work tree, else itself */
	char inner[PATH_MAX];  /* the path inside the tree; "": all of it */
} place;

bool mla_git_join(char *out, size_t size, const char *folder, const char *relative)
{
	size_t n = strlen(folder);

	if (n >= size)
		return false;
	memmove(out, folder, n + 1);
	for (const char *p = relative; *p;) {
		size_t len = strcspn(p, "/");

		if (len == 2 && p[0] == '.' && p[1] == '.') {
			if (!n)
				return false;
			while (n && out[n - 1] != '/')
				n--;
			n -= n != 0;
		} else if (len && !(len == 1 && p[0] == '.')) {
			if (n + len + 2 > size)
				return false;
			if (n)
				out[n++] = '/';
			memcpy(out + n, p, len);
			n += len;
		}
		out[n] = '\0';
		p += len + (p[len] == '/');
	}
	return true;
}

/* Cuts the last name off a path. */
static size_t cut(char *path, size_t n)
{
	while (n && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	/* The root stays, slashes between names go. */
	while (n > 1 && path[n - 1] == '/')
		n--;
	path[n] = '\0';
	return n;
}

/* The part of a path that exists, made absolute; *rest is what follows it. Without `whole` the last
 * name of the path is always in the rest. */
static int existing(char *real, const char **rest, const char *given, bool whole)
{
	char part[PATH_MAX];
	size_t n = strlen(given);

	if (n >= sizeof(part))
		return mla_error(MLA_EIO, "%s: path too long", given);
	memcpy(part, given, n + 1);
	if (!whole)
		n = cut(part, n);
	while (!realpath(n ? part : ".", real)) {
		if (!n || (errno != ENOENT && errno != ENOTDIR))
			return mla_error(MLA_EIO, "%s: %s", given, strerror(errno));
		n = cut(part, n);
	}
	*rest = given + n;
	return 0;
}

/* What is left of `path` below `folder`; NULL: it is not below it. */
static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (strncmp(path, folder, n) != 0 || (path[n] && path[n] != '/' && n > 1))
		return NULL;
	return path + n + (path[n] == '/');
}

static int locate(place *p, const char *given, bool whole)
{
	char real[PATH_MAX], folder[PATH_MAX], tree[PATH_MAX] = "", own[PATH_MAX];
	const char *rest = NULL, *inner;
	struct stat st;
	int error = existing(real, &rest, given, whole);

	if (error < 0)
		return error;
	snprintf(folder, sizeof(folder), "%s", real);
	if (stat(real, &st) == 0 && !S_ISDIR(st.st_mode))
		*strrchr(folder, '/') = '\0';
	error = mla_git_open(&p->repo, *folder ? folder : "/");
	if (error > 0)
		return mla_error(MLA_EGIT, "%s: in no git repository, where a revision could be",
		                 given);
	if (error < 0)
		return error;
	if (!realpath(git_repository_path(p->repo), own) ||
	    (git_repository_workdir(p->repo) && !realpath(git_repository_workdir(p->repo), tree)))
		return mla_error(MLA_EIO, "%s: %s", git_repository_path(p->repo), strerror(errno));
	/* Inside of the repository's own folder names are those of the tree, as in a bare one. */
	inner = below(real, own);
	if (!inner && *tree)
		inner = below(real, tree);
	snprintf(p->folder, sizeof(p->folder), "%s", *tree ? tree : own);
	if (!inner || !mla_git_join(p->inner, sizeof(p->inner), inner, rest))
		return mla_error(MLA_EGIT, "%s: outside of the repository", given);
	return 0;
}

/* As for links of the disk: one that hides sources is named. */
static bool leads_to_sources(const mla_git_tree *t, const mla_git_entry *link)
{
	const char *slash = strrchr(link->path, '/');
	char folder[PATH_MAX], target[PATH_MAX], to[PATH_MAX];
	uint32_t first, end;
	git_blob *blob;
	size_t n;

	if (git_blob_lookup(&blob, t->repo, &link->id) < 0)
		return false;
	n = (size_t)git_blob_rawsize(blob);
	if (n < sizeof(target)) {
		memcpy(target, git_blob_rawcontent(blob), n);
		target[n] = '\0';
	}
	git_blob_free(blob);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - link->path) : 0, link->path);
	if (n >= sizeof(target) || target[0] == '/' ||
	    !mla_git_join(to, sizeof(to), folder, target))
		return false;
	for (mla_git_tree_below(&first, &end, t, to); first < end; first++)
		if (t->entries.v[first].kind == MLA_GIT_FILE)
			return true;
	return false;
}

/* NULL: nothing is said of the entry. */
static mla_file *take(mla_tree *t, const mla_git_entry *e, bool named)
{
	switch (e->kind) {
	case MLA_GIT_FILE:
		return mla_tree_add(t, e->path);
	case MLA_GIT_LINK:
		if (mla_file_is_source(e->path) || named)
			return mla_tree_leave_out(t, e->path, MLA_FILE_SKIPPED, "symbolic link");
		if (leads_to_sources(t->git, e))
			return mla_tree_leave_out(t, e->path, MLA_FILE_SKIPPED,
			                          "symbolic link to a folder");
		return NULL;
	case MLA_GIT_SUBMODULE:
		return mla_tree_leave_out(t, e->path, MLA_FILE_SKIPPED,
		                          "another repository or a submodule");
	case MLA_GIT_FAULT:
		return mla_tree_leave_out(t, e->path, MLA_FILE_FAILED, e->reason);
	}
	return NULL;
}

static int select_files(mla_tree *t, const mla_options *o, const char *given, const char *inner)
{
	const mla_git_entry *e = mla_git_tree_at(t->git, inner);
	uint32_t first, end;
	git_object *found;
	bool folder;

	if (e) {
		take(t, e, true)->named = true;
		return 0;
	}
	mla_git_tree_below(&first, &end, t->git, inner);
	for (uint32_t i = first; i < end; i++)
		take(t, &t->git->entries.v[i], false);
	if (first < end || !*inner)
		return 0;
	if (git_object_lookup_bypath(&found, t->git->root, inner, GIT_OBJECT_ANY) < 0)
		return mla_error(MLA_EGIT, "%s: not in %s", given, o->rev);
	folder = git_object_type(found) == GIT_OBJECT_TREE;
	git_object_free(found);
	return folder ? 0 : mla_error(MLA_EIO, "%s: not a Python or C source", given);
}

static int open_tree(mla_tree **out, mla_fileset *s, const mla_options *o, place *p)
{
	git_object *root;
	int error;

	*out = mla_fileset_tree(s, p->folder);
	if ((*out)->git)
		return 0;
	if ((error = mla_git_resolve(&root, p->repo, "--rev", o->rev)) < 0)
		return strcmp(o->rev, "HEAD") == 0 && git_repository_head_unborn(p->repo) == 1
		               ? mla_error(MLA_EGIT,
		                           "%s: HEAD is no revision: the repository has no commit "
		                           "yet",
		                           p->folder)
		               : error;
	error = mla_git_tree_new(&(*out)->git, p->repo, root);
	p->repo = NULL;
	return error;
}

/* A path that is a link on disk and in the revision means the link; one on disk only may lead to
 * the repository. */
static int collect(mla_fileset *s, const mla_options *o, const char *given)
{
	place *p = mla_alloc(sizeof(*p));
	const mla_git_entry *e = NULL;
	struct stat st;
	mla_tree *t;
	int error;

	if (lstat(given, &st) == 0 && S_ISLNK(st.st_mode) && locate(p, given, false) == 0 &&
	    open_tree(&t, s, o, p) == 0)
		e = mla_git_tree_find(t->git, p->inner);
	if (e) {
		error = select_files(t, o, given, p->inner);
		goto done;
	}
	git_repository_free(p->repo);
	p->repo = NULL;
	error = locate(p, given, true);
	if (error == 0)
		error = open_tree(&t, s, o, p);
	if (error == 0)
		error = select_files(t, o, given, p->inner);
done:
	git_repository_free(p->repo);
	free(p);
	return error;
}

int mla_git_collect(mla_fileset *out, const mla_options *o, const char *const *path, uint32_t n)
{
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++)
		error = collect(out, o, path[i]);
	for (uint32_t i = 0; i < out->trees.n && error == 0; i++)
		error = mla_tree_settle(&out->trees.v[i]);
	return error;
}

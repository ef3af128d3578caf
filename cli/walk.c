/* The paths of a command line, and walking folders. */
#include "cli/config.h"
#include "cli/files.h"

#include "analyzer/str.h"
#include "cli/git_files.h"
#include "cli/ignore.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

typedef MLA_VEC(char *) path_list;

typedef struct {
	mla_fileset *set;
	mla_tree *tree;
	git_repository *repo;
	mla_ignore *ignore; /* NULL: no rules */
	git_index *index;   /* of repo, once it was needed */
	mla_configs *configs;
	int error;           /* of a configuration on the way */
	char path[PATH_MAX]; /* absolute, of the entry at hand */
	path_list clones;    /* absolute, met outside of any repository */
} walk;

static const char *below(const mla_tree *t, const char *absolute)
{
	size_t n = strlen(t->folder);

	return absolute[n] == '/' ? absolute + n + 1 : absolute + n;
}

static mla_file *skip(mla_tree *t, const char *relative, const char *reason)
{
	return mla_tree_leave_out(t, relative, MLA_FILE_SKIPPED, reason);
}

static void fail(mla_tree *t, const char *relative, const char *reason)
{
	mla_tree_leave_out(t, relative, MLA_FILE_FAILED, reason);
}

/* Git does not ignore what it tracks: the file itself, or something below the folder. */
static bool tracked(walk *w, const char *relative, bool folder)
{
	char prefix[PATH_MAX + 2];
	size_t at;

	if (!w->index && git_repository_index(&w->index, w->repo) < 0) {
		mla_git_error("%s: the index of the git repository cannot be read",
		              w->tree->folder);
		mla_fileset_note(w->set, "%s; what is ignored counts as not tracked",
		                 mla_error_last());
		return false;
	}
	if (!folder)
		return git_index_find(&at, w->index, relative) == 0;
	snprintf(prefix, sizeof(prefix), "%s/", relative);
	return git_index_find_prefix(&at, w->index, prefix) == 0;
}

static bool ignored(walk *w, bool folder)
{
	const char *relative = below(w->tree, w->path);

	if (!w->ignore || !mla_ignore_path(w->ignore, relative, folder) ||
	    tracked(w, relative, folder))
		return false;
	mla_vec_push(&w->tree->ignored, mla_copy(relative));
	return true;
}

static bool excluded(walk *w)
{
	bool out = false;

	if (w->configs && w->error == 0)
		w->error =
			mla_configs_leave_out(&out, w->configs, w->tree, below(w->tree, w->path));
	return out || w->error < 0;
}

static bool is_metadata(const char *name)
{
	static const char *const names[] = {".git", ".hg", ".svn", ".jj", NULL};

	return mla_str_in(mla_str_c(name), names);
}

static bool has_entry(walk *w, size_t len, const char *name)
{
	struct stat st;
	bool has;

	if (len + strlen(name) + 2 > sizeof(w->path))
		return false;
	snprintf(w->path + len, sizeof(w->path) - len, "/%s", name);
	has = lstat(w->path, &st) == 0;
	w->path[len] = '\0';
	return has;
}

/* Is there a source in a folder, as far as a short look shows? Doubt counts as yes. */
static bool may_hold_sources(const char *folder, int depth)
{
	enum { DEEPEST = 4, ENTRIES = 1000 };
	DIR *dir = opendir(folder);
	struct dirent *d;
	bool may = false;

	if (!dir || depth > DEEPEST) {
		may = !dir ? errno == EACCES : true;
		goto done;
	}
	for (int n = 0; !may && (d = readdir(dir)); n++) {
		char below_it[PATH_MAX];

		if (d->d_name[0] == '.' || is_metadata(d->d_name))
			continue;
		may = mla_file_is_source(d->d_name) || n == ENTRIES;
		if (!may && d->d_type == DT_DIR &&
		    (size_t)snprintf(below_it, sizeof(below_it), "%s/%s", folder, d->d_name) <
		            sizeof(below_it))
			may = may_hold_sources(below_it, depth + 1);
	}
done:
	if (dir)
		closedir(dir);
	return may;
}

/* A link that does not end in the name of a source matters when it leads to a folder with some. */
static void visit_link(walk *w)
{
	struct stat st;

	if (stat(w->path, &st) == 0 && S_ISDIR(st.st_mode) && !ignored(w, false) &&
	    may_hold_sources(w->path, 0))
		skip(w->tree, below(w->tree, w->path), "symbolic link to a folder");
}

/* What lies in another repository is that one's matter. In a folder that belongs to none, clones
 * are what the user means: each is scanned as if it had been named. */
static void visit_repository(walk *w, const char *relative)
{
	if (w->repo)
		skip(w->tree, relative, "another repository or a submodule");
	else
		mla_vec_push(&w->clones, mla_copy(w->path));
}

static int walk_folder(walk *w, int depth);

static void visit(walk *w, mode_t mode, const char *name, int depth)
{
	const char *relative = below(w->tree, w->path);

	if (S_ISDIR(mode)) {
		if (is_metadata(name) || ignored(w, true) || excluded(w))
			return;
		if (has_entry(w, strlen(w->path), ".git"))
			visit_repository(w, relative);
		else if (depth >= 128)
			fail(w->tree, relative, "folders nested too deeply");
		else if (walk_folder(w, depth + 1) < 0)
			fail(w->tree, relative, mla_error_last());
		return;
	}
	if (S_ISLNK(mode) && !mla_file_is_source(name)) {
		visit_link(w);
		return;
	}
	if (!mla_file_is_source(name) || ignored(w, false))
		return;
	if (S_ISREG(mode))
		mla_tree_add(w->tree, relative);
	else
		skip(w->tree, relative, S_ISLNK(mode) ? "symbolic link" : "not a regular file");
}

/* Symbolic links are not followed: a link to a file inside the tree would be reported twice, one
 * to a place outside has no path in the repository. */
static int walk_folder(walk *w, int depth)
{
	size_t len = strlen(w->path);
	DIR *dir = opendir(w->path);
	struct dirent *d;

	if (!dir)
		return mla_error(MLA_EIO, "%s", strerror(errno));
	while ((d = readdir(dir))) {
		struct stat st;
		mode_t mode;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		/* What the folder says of its entries saves asking the system about each. */
		mode = d->d_type == DT_REG ? S_IFREG : d->d_type == DT_DIR ? S_IFDIR : 0;
		if (mode == S_IFREG && !mla_file_is_source(d->d_name))
			continue;
		if (len + strlen(d->d_name) + 2 > sizeof(w->path)) {
			fail(w->tree, below(w->tree, w->path), "a path in it is too long");
			continue;
		}
		snprintf(w->path + len, sizeof(w->path) - len, "/%s", d->d_name);
		if (!mode && lstat(w->path, &st) < 0)
			fail(w->tree, below(w->tree, w->path), strerror(errno));
		else
			visit(w, mode ? mode : st.st_mode, d->d_name, depth);
		w->path[len] = '\0';
	}
	closedir(dir);
	return 0;
}

/* One path of the command line. */
typedef struct {
	const char *given;
	char *absolute;       /* of standard input, the name it has been given */
	char *root;           /* of its repository; NULL: it is in none */
	git_repository *repo; /* of `root` */
	mode_t mode;
	bool is_stdin;
} target;

typedef MLA_VEC(target) target_list;

static bool is_below(const char *absolute, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(absolute, folder, n) == 0 &&
	       (absolute[n] == '/' || absolute[n] == '\0' || n == 1);
}

/* The folder that is looked at for a repository and for the common root of loose paths. */
static void folder_of(char *out, size_t size, const target *t)
{
	const char *slash = strrchr(t->absolute, '/');

	snprintf(out, size, "%.*s",
	         S_ISDIR(t->mode) || slash == t->absolute ? (int)strlen(t->absolute)
	                                                  : (int)(slash - t->absolute),
	         t->absolute);
	if (!S_ISDIR(t->mode) && slash == t->absolute)
		snprintf(out, size, "/");
}

/* A repository that cannot be read leaves a plain folder. */
static void find_repository(mla_fileset *s, target *t)
{
	char folder[PATH_MAX], real[PATH_MAX];
	int error;

	folder_of(folder, sizeof(folder), t);
	error = mla_git_open(&t->repo, folder);
	if (error < 0)
		mla_fileset_note(s, "%s; its ignore rules do not count", mla_error_last());
	if (error == 0 && git_repository_workdir(t->repo) &&
	    realpath(git_repository_workdir(t->repo), real) && is_below(t->absolute, real)) {
		t->root = mla_copy(real);
		return;
	}
	git_repository_free(t->repo);
	t->repo = NULL;
}

/* Standard input stands where its file name says, so that imports beside it are found. */
static int name_stdin(target *t, const mla_options *o)
{
	const char *name = o->stdin_filename ? o->stdin_filename : "stdin.py";
	const char *slash = strrchr(name, '/');
	char folder[PATH_MAX], real[PATH_MAX], absolute[2 * PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - name) : 1,
	         slash ? name : ".");
	if (!realpath(slash == name ? "/" : folder, real))
		return mla_error(MLA_EIO, "%s: %s", folder, strerror(errno));
	if ((size_t)snprintf(absolute, sizeof(absolute), "%s/%s", strcmp(real, "/") ? real : "",
	                     slash ? slash + 1 : name) >= PATH_MAX)
		return mla_error(MLA_EIO, "%s: path too long", name);
	t->absolute = mla_copy(absolute);
	t->mode = S_IFREG;
	t->is_stdin = true;
	return 0;
}

static int resolve(mla_fileset *s, target *t, const mla_options *o, const char *given)
{
	char absolute[PATH_MAX];
	struct stat st;
	int error;

	*t = (target){.given = given};
	if (strcmp(given, "-") == 0) {
		if ((error = name_stdin(t, o)) < 0)
			return error;
	} else {
		if (!realpath(given, absolute) || stat(absolute, &st) < 0)
			return mla_error(MLA_EIO, "%s: %s", given, strerror(errno));
		t->absolute = mla_copy(absolute);
		t->mode = st.st_mode;
	}
	find_repository(s, t);
	return 0;
}

/* Cuts `folder` down to what it shares with `other`. */
static void keep_common(char *folder, const char *other)
{
	while (!is_below(other, folder)) {
		char *slash = strrchr(folder, '/');

		slash[slash == folder] = '\0';
	}
}

/*
 * The one root of all paths outside of repositories: the working directory when they are below it,
 * else the deepest folder that holds them all. One root, so that no file is reached on two ways and
 * no two files are reported under one path.
 */
static void loose_root(char *out, size_t size, const target_list *list, const char *cwd)
{
	out[0] = '\0';
	for (uint32_t i = 0; i < list->n; i++) {
		char folder[PATH_MAX];

		if (list->v[i].root)
			continue;
		folder_of(folder, sizeof(folder), &list->v[i]);
		if (is_below(folder, cwd))
			snprintf(folder, sizeof(folder), "%s", cwd);
		if (out[0])
			keep_common(out, folder);
		else
			snprintf(out, size, "%s", folder);
	}
}

static int read_stdin(mla_text **out, const char *path)
{
	size_t cap = 1 << 16, n = 0;
	char *bytes = mla_alloc(cap);
	int error = 0;

	for (;;) {
		ssize_t got = read(STDIN_FILENO, bytes + n, cap - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = mla_error(MLA_EIO, "standard input: %s", strerror(errno));
		if (got <= 0 || n > MLA_TEXT_MAX)
			break;
		n += (size_t)got;
		if (n == cap)
			bytes = mla_realloc(bytes, cap *= 2, 1);
	}
	if (error == 0 && mla_text_new(out, path, (mla_str){bytes, (uint32_t)n}) < 0)
		error = mla_error(MLA_ELIMIT, "standard input: %s", mla_error_last());
	free(bytes);
	return error;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Not in the order of the folder, which differs from disk to disk. */
static void add_clones(mla_fileset *s, target_list *list, path_list *clones)
{
	if (clones->n)
		qsort(clones->v, clones->n, sizeof(*clones->v), by_name);
	for (uint32_t i = 0; i < clones->n; i++) {
		target t = {.absolute = clones->v[i], .mode = S_IFDIR};

		t.given = t.absolute;
		find_repository(s, &t);
		mla_vec_push(list, t);
	}
	mla_vec_free(clones);
}

static int collect(mla_fileset *s, const mla_options *o, target_list *list, uint32_t at,
                   const char *loose, mla_configs *configs)
{
	const target *t = &list->v[at];

	walk w = {.set = s,
	          .tree = mla_fileset_tree(s, t->root ? t->root : loose),
	          .repo = t->repo,
	          .configs = configs};
	const char *relative = below(w.tree, t->absolute);
	uint32_t known = w.tree->files.n;
	mla_file *f;
	int error = 0;

	snprintf(w.path, sizeof(w.path), "%s", t->absolute);
	if (t->is_stdin) {
		f = mla_tree_add(w.tree, relative);
		f->named = true;
		error = read_stdin(&f->text, f->path);
	} else if (S_ISDIR(t->mode)) {
		if (w.repo && !o->no_ignore)
			w.ignore = mla_ignore_new(s, w.repo, w.tree->folder);
		if ((error = walk_folder(&w, 0)) < 0)
			error = mla_error(error, "%s: %s", t->given, mla_error_last());
		else
			error = w.error;
		/* Nothing found in nothing is no good news. */
		if (w.tree->files.n == known && !w.clones.n)
			mla_fileset_note(s, "%s: no Python or C source in it to check", t->given);
	} else if (!S_ISREG(t->mode)) {
		skip(w.tree, relative, "not a regular file")->named = true;
	} else if (!mla_file_is_source(t->absolute)) {
		error = mla_error(MLA_EIO, "%s: not a Python or C source", t->given);
	} else {
		mla_tree_add(w.tree, relative)->named = true;
	}
	mla_ignore_free(w.ignore);
	git_index_free(w.index);
	add_clones(s, list, &w.clones);
	return error;
}

/* A folder of nothing but clones would count as one more place that paths are relative to. */
static void drop_empty(mla_fileset *s)
{
	for (uint32_t i = s->trees.n; i-- > 0 && s->trees.n > 1;) {
		mla_tree *t = &s->trees.v[i];

		if (t->files.n || t->left_out.n || t->ignored.n)
			continue;
		mla_tree_free(t);
		memmove(t, t + 1, (--s->trees.n - i) * sizeof(*t));
	}
}

int mla_fileset_collect(mla_fileset *out, const mla_options *o, mla_configs *configs)
{
	static const char *const here[] = {"."};
	const char *const *path = o->arg_count ? o->args : here;
	uint32_t n = o->arg_count ? o->arg_count : 1;
	char cwd[PATH_MAX], loose[PATH_MAX] = "";
	target_list list = {0};
	int error = 0;

	*out = (mla_fileset){0};
	if (o->rev)
		return mla_git_collect(out, o, path, n);
	if (!getcwd(cwd, sizeof(cwd)))
		return mla_error(MLA_EIO, "working directory: %s", strerror(errno));
	for (uint32_t i = 0; i < n && error == 0; i++) {
		target t;

		error = resolve(out, &t, o, path[i]);
		mla_vec_push(&list, t);
	}
	if (error == 0)
		loose_root(loose, sizeof(loose), &list, cwd);
	for (uint32_t i = 0; i < list.n && error == 0; i++)
		error = collect(out, o, &list, i, loose, configs);
	for (uint32_t i = 0; i < out->trees.n && error == 0; i++)
		error = mla_tree_settle(&out->trees.v[i]);
	drop_empty(out);
	for (uint32_t i = 0; i < list.n; i++) {
		git_repository_free(list.v[i].repo);
		free(list.v[i].absolute);
		free(list.v[i].root);
	}
	mla_vec_free(&list);
	return error;
}

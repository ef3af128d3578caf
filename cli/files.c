/* Walking folders and reading files. Git's ignore rules are asked of libgit2. */
#include "cli/files.h"

#include "analyzer/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
	mla_tree *tree;
	git_repository *repo; /* NULL: no ignore rules */
	git_index *index;     /* of repo, once it was needed */
	char path[PATH_MAX];  /* absolute, of the entry at hand */
} walk;

static char *copy(const char *s)
{
	char *p = mla_alloc(strlen(s) + 1);

	memcpy(p, s, strlen(s));
	return p;
}

static const char *below(const mla_tree *t, const char *absolute)
{
	size_t n = strlen(t->folder);

	return absolute[n] == '/' ? absolute + n + 1 : absolute + n;
}

static mla_file *add(mla_tree *t, const char *relative)
{
	mla_file f = {0};

	f.path = copy(relative);
	mla_vec_push(&t->files, f);
	return &t->files.v[t->files.n - 1];
}

static mla_file *leave_out(mla_tree *t, const char *relative, mla_file_state state,
                           const char *reason)
{
	mla_file *f = add(t, relative);

	f->state = state;
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
	return f;
}

static mla_file *skip(mla_tree *t, const char *relative, const char *reason)
{
	return leave_out(t, relative, MLA_FILE_SKIPPED, reason);
}

static void fail(mla_tree *t, const char *relative, const char *reason)
{
	leave_out(t, relative, MLA_FILE_FAILED, reason);
}

static bool is_source(const char *name)
{
	return mla_str_ends(mla_str_c(name), ".py");
}

/* Git does not ignore what it tracks: the file itself, or something below the folder. */
static bool tracked(walk *w, const char *relative, bool folder)
{
	size_t at;

	if (!w->index && git_repository_index(&w->index, w->repo) < 0)
		return false;
	return folder ? git_index_find_prefix(&at, w->index, relative) == 0
	              : git_index_find(&at, w->index, relative) == 0;
}

static bool ignored(walk *w, bool folder)
{
	char relative[PATH_MAX + 2];
	int yes = 0;

	if (!w->repo)
		return false;
	/* A trailing slash tells libgit2 that patterns for folders apply. */
	snprintf(relative, sizeof(relative), "%s%s", below(w->tree, w->path), folder ? "/" : "");
	return git_ignore_path_is_ignored(&yes, w->repo, relative) == 0 && yes &&
	       !tracked(w, relative, folder);
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

/* Is there a Python source in a folder, as far as a short look shows? Doubt counts as yes. */
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
		may = is_source(d->d_name) || n == ENTRIES;
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

static int walk_folder(walk *w, int depth);

static void visit(walk *w, mode_t mode, const char *name, int depth)
{
	const char *relative = below(w->tree, w->path);

	if (S_ISDIR(mode)) {
		if (is_metadata(name) || ignored(w, true))
			return;
		if (has_entry(w, strlen(w->path), ".git"))
			skip(w->tree, relative, "another repository or a submodule");
		else if (depth >= 128)
			fail(w->tree, relative, "folders nested too deeply");
		else if (walk_folder(w, depth + 1) < 0)
			fail(w->tree, relative, mla_error_last());
		return;
	}
	if (S_ISLNK(mode) && !is_source(name)) {
		visit_link(w);
		return;
	}
	if (!is_source(name) || ignored(w, false))
		return;
	if (S_ISREG(mode))
		add(w->tree, relative);
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
		if (mode == S_IFREG && !is_source(d->d_name))
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

static mla_tree *tree_for(mla_fileset *s, const char *folder)
{
	mla_tree t = {0};

	for (uint32_t i = 0; i < s->trees.n; i++)
		if (strcmp(s->trees.v[i].folder, folder) == 0)
			return &s->trees.v[i];
	t.folder = copy(folder);
	mla_vec_push(&s->trees, t);
	return &s->trees.v[s->trees.n - 1];
}

/* The root for an absolute path: its repository; else the working directory where it is below it;
 * else the folder itself. */
static void root_of(char *out, size_t size, git_repository **repo, const char *absolute,
                    bool folder, const char *cwd)
{
	size_t n = strlen(cwd);
	const char *slash;

	*repo = NULL;
	if (git_repository_open_ext(repo, absolute, 0, NULL) == 0 &&
	    git_repository_workdir(*repo)) {
		char real[PATH_MAX];

		if (realpath(git_repository_workdir(*repo), real)) {
			snprintf(out, size, "%s", real);
			return;
		}
	}
	git_repository_free(*repo);
	*repo = NULL;
	if (strncmp(absolute, cwd, n) == 0 &&
	    (absolute[n] == '/' || absolute[n] == '\0' || n == 1)) {
		snprintf(out, size, "%s", cwd);
		return;
	}
	slash = strrchr(absolute, '/');
	snprintf(out, size, "%.*s",
	         folder || slash == absolute ? (int)strlen(absolute) : (int)(slash - absolute),
	         absolute);
}

static int collect_path(mla_fileset *s, const mla_options *o, const char *path, const char *cwd)
{
	char absolute[PATH_MAX], root[PATH_MAX];
	git_repository *repo;
	struct stat st;
	walk w;
	int error = 0;

	if (!realpath(path, absolute) || stat(absolute, &st) < 0)
		return mla_error(MLA_EIO, "%s: %s", path, strerror(errno));
	root_of(root, sizeof(root), &repo, absolute, S_ISDIR(st.st_mode), cwd);
	w.tree = tree_for(s, root);
	w.repo = o->no_ignore ? NULL : repo;
	w.index = NULL;
	snprintf(w.path, sizeof(w.path), "%s", absolute);
	if (S_ISDIR(st.st_mode)) {
		if ((error = walk_folder(&w, 0)) < 0)
			error = mla_error(error, "%s: %s", path, mla_error_last());
	} else if (!S_ISREG(st.st_mode)) {
		skip(w.tree, below(w.tree, absolute), "not a regular file")->named = true;
	} else if (!is_source(absolute)) {
		error = mla_error(MLA_EIO, "%s: not a Python source", path);
	} else {
		add(w.tree, below(w.tree, absolute))->named = true;
	}
	git_index_free(w.index);
	git_repository_free(repo);
	return error;
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

/* Standard input stands where its file name says, so that imports beside it are found. */
static int collect_stdin(mla_fileset *s, const mla_options *o, const char *cwd)
{
	const char *name = o->stdin_filename ? o->stdin_filename : "stdin.py";
	const char *slash = strrchr(name, '/');
	char folder[PATH_MAX], absolute[PATH_MAX], root[PATH_MAX];
	git_repository *repo;
	mla_tree *tree;
	mla_file *f;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - name) : 1,
	         slash ? name : ".");
	if (slash == name)
		snprintf(folder, sizeof(folder), "/");
	if (!realpath(folder, absolute))
		return mla_error(MLA_EIO, "%s: %s", folder, strerror(errno));
	root_of(root, sizeof(root), &repo, absolute, true, cwd);
	git_repository_free(repo);
	tree = tree_for(s, root);
	if (strlen(absolute) + strlen(name) + 2 > sizeof(absolute))
		return mla_error(MLA_EIO, "%s: path too long", name);
	strcat(strcat(absolute, "/"), slash ? slash + 1 : name);
	f = add(tree, below(tree, absolute));
	f->named = true;
	return read_stdin(&f->text, f->path);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const mla_file *)a)->path, ((const mla_file *)b)->path);
}

/* Sorted, and a path that was reached twice kept once. */
static void settle(mla_tree *t)
{
	uint32_t n = 0;

	if (t->files.n)
		qsort(t->files.v, t->files.n, sizeof(*t->files.v), by_path);
	for (uint32_t i = 0; i < t->files.n; i++) {
		if (n && strcmp(t->files.v[n - 1].path, t->files.v[i].path) == 0)
			free(t->files.v[i].path);
		else
			t->files.v[n++] = t->files.v[i];
	}
	t->files.n = n;
}

int mla_fileset_collect(mla_fileset *out, const mla_options *o)
{
	static const char *const here[] = {"."};
	const char *const *path = o->arg_count ? o->args : here;
	uint32_t n = o->arg_count ? o->arg_count : 1;
	char cwd[PATH_MAX];
	int error = 0;

	*out = (mla_fileset){0};
	if (!getcwd(cwd, sizeof(cwd)))
		return mla_error(MLA_EIO, "working directory: %s", strerror(errno));
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = strcmp(path[i], "-") == 0 ? collect_stdin(out, o, cwd)
		                                  : collect_path(out, o, path[i], cwd);
	for (uint32_t i = 0; i < out->trees.n; i++)
		settle(&out->trees.v[i]);
	return error;
}

void mla_fileset_free(mla_fileset *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++) {
		mla_tree *t = &s->trees.v[i];

		for (uint32_t k = 0; k < t->files.n; k++) {
			mla_text_free(t->files.v[k].text);
			free(t->files.v[k].path);
		}
		mla_vec_free(&t->files);
		free(t->folder);
	}
	mla_vec_free(&s->trees);
}

static int read_all(mla_bytes *out, int fd, size_t size)
{
	/* One byte more than the file has, to see whether it grew meanwhile. */
	if (out->cap < size + 1) {
		out->cap = 2 * size + 1;
		out->ptr = mla_realloc(out->ptr, out->cap, 1);
	}
	for (out->len = 0;;) {
		ssize_t got = read(fd, out->ptr + out->len, size + 1 - out->len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return mla_error(MLA_EIO, "%s", strerror(errno));
		out->len += (size_t)got;
		if (got == 0)
			return 0;
		if (out->len > size)
			return mla_error(MLA_EIO, "changed while it was read");
	}
}

int mla_file_bytes(mla_bytes *out, struct stat *st, const mla_tree *tree, const char *path)
{
	char absolute[PATH_MAX];
	int fd, error;

	/* Imports are made of names, so no part of a path is "..": this only guards that. */
	if (strstr(path, "/../") || strncmp(path, "../", 3) == 0)
		return 1;
	if ((size_t)snprintf(absolute, sizeof(absolute), "%s/%s", tree->folder, path) >=
	    sizeof(absolute))
		return 1;
	fd = open(absolute, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
		               ? 1
		               : mla_error(MLA_EIO, "%s", strerror(errno));
	if (fstat(fd, st) < 0)
		error = mla_error(MLA_EIO, "%s", strerror(errno));
	else if (!S_ISREG(st->st_mode))
		error = mla_error(MLA_EIO, "not a regular file");
	else if (st->st_size > MLA_TEXT_MAX)
		error = mla_error(MLA_ELIMIT, "larger than %d MB", MLA_TEXT_MAX >> 20);
	else
		error = read_all(out, fd, (size_t)st->st_size);
	close(fd);
	return error;
}

int mla_file_read(mla_text **out, struct stat *st, const mla_tree *tree, const char *path)
{
	mla_bytes buffer = {0};
	int error = mla_file_bytes(&buffer, st, tree, path);

	if (error == 0)
		error = mla_text_new(out, path, (mla_str){buffer.ptr, (uint32_t)buffer.len});
	free(buffer.ptr);
	return error;
}

void mla_file_display(char *out, size_t size, const mla_tree *tree, const char *path)
{
	char cwd[PATH_MAX], absolute[PATH_MAX];
	size_t n;

	snprintf(absolute, sizeof(absolute), "%s/%s", tree->folder, path);
	if (getcwd(cwd, sizeof(cwd)) && (n = strlen(cwd)) && strncmp(absolute, cwd, n) == 0 &&
	    absolute[n] == '/')
		snprintf(out, size, "%s", absolute + n + 1);
	else
		snprintf(out, size, "%s", absolute);
}

/* The files under a root, and reading them, whatever has become of them meanwhile. */
#include "cli/files.h"

#include "analyzer/clang.h"
#include "analyzer/str.h"
#include "cli/git_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void mla_tree_free(mla_tree *t)
{
	for (uint32_t i = 0; i < t->files.n; i++) {
		mla_text_free(t->files.v[i].text);
		free(t->files.v[i].path);
	}
	for (uint32_t i = 0; i < t->unread.n; i++)
		free(t->unread.v[i].path);
	for (uint32_t i = 0; i < t->ignored.n; i++)
		free(t->ignored.v[i]);
	mla_vec_free(&t->unread);
	mla_vec_free(&t->ignored);
	mla_vec_free(&t->left_out);
	mla_vec_free(&t->files);
	mla_git_tree_free(t->git);
	free(t->folder);
}

void mla_fileset_free(mla_fileset *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++)
		mla_tree_free(&s->trees.v[i]);
	for (uint32_t i = 0; i < s->notes.n; i++)
		free(s->notes.v[i]);
	mla_vec_free(&s->notes);
	mla_vec_free(&s->trees);
}

char *mla_copy(const char *s)
{
	char *p = mla_alloc(strlen(s) + 1);

	memcpy(p, s, strlen(s));
	return p;
}

bool mla_file_is_source(const char *name)
{
	return mla_str_ends(mla_str_c(name), ".py") || mla_clang_is_source(mla_str_c(name));
}

mla_tree *mla_fileset_tree(mla_fileset *s, const char *folder)
{
	mla_tree t = {0};

	for (uint32_t i = 0; i < s->trees.n; i++)
		if (strcmp(s->trees.v[i].folder, folder) == 0)
			return &s->trees.v[i];
	t.folder = mla_copy(folder);
	mla_vec_push(&s->trees, t);
	return &s->trees.v[s->trees.n - 1];
}

/* The same thing happens for many paths of one repository; it is said once. */
void mla_fileset_note(mla_fileset *s, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (uint32_t i = 0; i < s->notes.n; i++)
		if (strcmp(s->notes.v[i], text) == 0)
			return;
	mla_vec_push(&s->notes, mla_copy(text));
}

mla_file *mla_tree_add(mla_tree *t, const char *path)
{
	mla_file f = {0};

	f.path = mla_copy(path);
	mla_vec_push(&t->files, f);
	return &t->files.v[t->files.n - 1];
}

mla_file *mla_tree_leave_out(mla_tree *t, const char *path, mla_file_state state,
                             const char *reason)
{
	mla_file *f = mla_tree_add(t, path);

	f->state = state;
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
	return f;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const mla_file *)a)->path, ((const mla_file *)b)->path);
}

int mla_tree_settle(mla_tree *t)
{
	uint32_t n = 0;
	int error = 0;

	if (t->files.n)
		qsort(t->files.v, t->files.n, sizeof(*t->files.v), by_path);
	for (uint32_t i = 0; i < t->files.n; i++) {
		mla_file *f = &t->files.v[i], *last = n ? &t->files.v[n - 1] : NULL;

		if (!last || strcmp(last->path, f->path) != 0) {
			t->files.v[n++] = *f;
			continue;
		}
		if (f->text || last->text)
			error = mla_error(MLA_ECONFIG,
			                  "%s: given both on standard input and as a file",
			                  f->path);
		last->named |= f->named;
		mla_text_free(f->text);
		free(f->path);
	}
	t->files.n = n;
	return error;
}

int mla_bytes_read(mla_bytes *out, int fd, size_t size)
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

/* Imports are made of names and paths come from walks, so no part of a path is "..": this only
 * guards that. */
static bool is_inside(const char *path)
{
	return !strstr(path, "/../") && strncmp(path, "../", 3) != 0;
}

bool mla_file_exists(const mla_tree *tree, const char *path)
{
	char absolute[PATH_MAX];
	struct stat st;

	if (tree->git)
		return mla_git_tree_at(tree->git, path) != NULL;
	return is_inside(path) &&
	       (size_t)snprintf(absolute, sizeof(absolute), "%s/%s", tree->folder, path) <
	               sizeof(absolute) &&
	       lstat(absolute, &st) == 0;
}

int mla_file_bytes(mla_bytes *out, struct stat *st, const mla_tree *tree, const char *path)
{
	char absolute[PATH_MAX];
	int fd, error;

	if (tree->git)
		return mla_git_tree_bytes(out, st, tree->git, path);
	if (!is_inside(path))
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
	else if (S_ISDIR(st->st_mode))
		error = 1; /* a folder is no module, whatever its name */
	else if (!S_ISREG(st->st_mode))
		error = mla_error(MLA_EIO, "not a regular file");
	else if (st->st_size > MLA_TEXT_MAX)
		error = mla_error(MLA_ELIMIT, "larger than %d MB", MLA_TEXT_MAX >> 20);
	else
		error = mla_bytes_read(out, fd, (size_t)st->st_size);
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
	if (tree->git)
		snprintf(out, size, "%s", path);
	else if (getcwd(cwd, sizeof(cwd)) && (n = strlen(cwd)) && strncmp(absolute, cwd, n) == 0 &&
	         absolute[n] == '/')
		snprintf(out, size, "%s", absolute + n + 1);
	else
		snprintf(out, size, "%s", absolute);
}

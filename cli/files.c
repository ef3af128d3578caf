/* Reading files under a root, whatever has become of them meanwhile. */
#include "cli/files.h"

#include "analyzer/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

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

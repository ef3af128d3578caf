/* Temporary file, fsync, rename; old contents kept until every rename is done. */
#include "cli/write.h"

#include "analyzer/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	mode_t mode;
	bool made, renamed;
} target;

static int system_error(const char *path, const char *what)
{
	return mla_error(MLA_EIO, "%s: %s: %s", path, what, strerror(errno));
}

static int write_all(int fd, mla_str s)
{
	for (uint32_t at = 0; at < s.len;) {
		ssize_t n = write(fd, s.ptr + at, s.len - at);

		if (n < 0 && errno != EINTR)
			return -1;
		at += n > 0 ? (uint32_t)n : 0;
	}
	return 0;
}

/* The bytes on disk must still be those the fix was made from. */
static int check_unchanged(const mla_tree *tree, const mla_change *c, struct stat *st)
{
	mla_text *now;
	int error = mla_file_read(&now, st, tree, c->module->path);
	bool same;

	if (error)
		return mla_error(MLA_EIO, "%s: %s", c->module->path,
		                 error > 0 ? "is gone" : mla_error_last());
	same = mla_str_eq(mla_text_bytes(now), mla_text_bytes(c->module->text));
	mla_text_free(now);
	return same ? 0
	            : mla_error(MLA_EIO, "%s: changed since it was read; not written",
	                        c->module->path);
}

static int write_beside(target *t, const char *name, mla_str bytes, mode_t mode)
{
	int fd, error = 0;

	snprintf(t->temporary, sizeof(t->temporary), "%s.mlalint-XXXXXX", t->path);
	fd = mkstemp(t->temporary);
	if (fd < 0)
		return system_error(name, "cannot write beside it");
	t->made = true;
	if (write_all(fd, bytes) < 0 || fchmod(fd, mode & 07777) < 0 || fsync(fd) < 0)
		error = system_error(name, "cannot write");
	if (close(fd) < 0 && error == 0)
		error = system_error(name, "cannot write");
	return error;
}

static int prepare(target *t, const mla_tree *tree, const mla_change *c)
{
	struct stat st;
	int error = check_unchanged(tree, c, &st);

	if (error < 0)
		return error;
	if ((size_t)snprintf(t->path, sizeof(t->path), "%s/%s", tree->folder, c->module->path) >=
	    sizeof(t->path))
		return mla_error(MLA_EIO, "%s: path too long", c->module->path);
	if (access(t->path, W_OK) < 0)
		return system_error(c->module->path, "cannot write");
	t->mode = st.st_mode;
	return write_beside(t, c->module->path, c->after, st.st_mode);
}

/* Puts the old bytes back under the name they had, in the same way the new ones came there. */
static void restore(target *t, const mla_change *c)
{
	t->made = false;
	if (write_beside(t, c->module->path, mla_text_bytes(c->module->text), t->mode) == 0)
		t->made = rename(t->temporary, t->path) < 0;
	if (t->made)
		unlink(t->temporary);
}

int mla_write_changes(const mla_tree *tree, const mla_change *const *change, uint32_t n)
{
	target *t = mla_alloc(n * sizeof(*t));
	char why[512];
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++)
		error = prepare(&t[i], tree, change[i]);
	for (uint32_t i = 0; i < n && error == 0; i++) {
		if (rename(t[i].temporary, t[i].path) < 0)
			error = system_error(change[i]->module->path, "cannot replace");
		else
			t[i].renamed = true;
	}
	/* What went wrong is told; undoing must not overwrite that message. */
	if (error)
		snprintf(why, sizeof(why), "%s", mla_error_last());
	for (uint32_t i = 0; i < n; i++) {
		if (error && t[i].renamed)
			restore(&t[i], change[i]);
		else if (t[i].made && !t[i].renamed)
			unlink(t[i].temporary);
	}
	free(t);
	return error ? mla_error(error, "%s", why) : 0;
}

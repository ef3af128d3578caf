/*
 * Temporary file, fsync, rename; old contents kept until every rename is done. A file with more
 * than one link is written in place: a rename would leave the other names with the old contents.
 * That the new contents have room is known by then, for there is a temporary file with them too. A
 * signal waits: all files get their new contents, or none.
 */
#include "cli/write.h"

#include "analyzer/str.h"
#include "cli/stop.h"
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	struct stat old;
	bool made, replaced;
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

/* Owner and group as far as we may; the bits that lend them to others only with them. */
static int keep_owner(int fd, const struct stat *old)
{
	bool kept = fchown(fd, old->st_uid, old->st_gid) == 0;

	return fchmod(fd, old->st_mode & (kept ? 07777 : 0777));
}

static int write_beside(target *t, const char *name, mla_str bytes)
{
	const char *slash = strrchr(t->path, '/');
	int fd, error = 0;

	/* A name of its own: that of the file may be as long as a name can be. */
	snprintf(t->temporary, sizeof(t->temporary), "%.*s/.mlalint-XXXXXX", (int)(slash - t->path),
	         t->path);
	fd = mkstemp(t->temporary);
	if (fd < 0)
		return system_error(name, "cannot write beside it");
	t->made = true;
	if (write_all(fd, bytes) < 0 || keep_owner(fd, &t->old) < 0 || fsync(fd) < 0)
		error = system_error(name, "cannot write");
	if (close(fd) < 0 && error == 0)
		error = system_error(name, "cannot write");
	return error;
}

static int write_in_place(const target *t, mla_str bytes)
{
	int fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), error;

	if (fd < 0)
		return -1;
	error = write_all(fd, bytes) < 0 || ftruncate(fd, bytes.len) < 0 || fsync(fd) < 0;
	return close(fd) < 0 || error ? -1 : 0;
}

static bool is_linked(const target *t)
{
	return t->old.st_nlink > 1;
}

static int prepare(target *t, const mla_tree *tree, const mla_change *c)
{
	int error = check_unchanged(tree, c, &t->old);

	if (error < 0)
		return error;
	if ((size_t)snprintf(t->path, sizeof(t->path), "%s/%s", tree->folder, c->module->path) >=
	    sizeof(t->path))
		return mla_error(MLA_EIO, "%s: path too long", c->module->path);
	if (access(t->path, W_OK) < 0)
		return system_error(c->module->path, "cannot write");
	return write_beside(t, c->module->path, c->after);
}

static int replace(target *t, const mla_change *c)
{
	if (is_linked(t)) {
		t->replaced = true; /* half of it, if this fails */
		if (write_in_place(t, c->after) < 0)
			return system_error(c->module->path, "cannot write");
		return 0;
	}
	if (rename(t->temporary, t->path) < 0)
		return system_error(c->module->path, "cannot replace");
	t->made = false;
	t->replaced = true;
	return 0;
}

/* Puts the old bytes back under the name they had, in the same way the new ones came there. */
static int restore(target *t, const mla_change *c)
{
	mla_str old = mla_text_bytes(c->module->text);

	if (is_linked(t))
		return write_in_place(t, old);
	if (write_beside(t, c->module->path, old) < 0 || rename(t->temporary, t->path) < 0)
		return -1;
	t->made = false;
	return 0;
}

static void note(const mla_tree *tree, const mla_change *c)
{
	char path[PATH_MAX];

	mla_file_display(path, sizeof(path), tree, c->module->path);
	mla_stop_written(path);
}

/* What went wrong is the last error afterwards, too. */
static void undo(target *t, const mla_tree *tree, const mla_change *const *change, uint32_t n)
{
	char why[512];

	snprintf(why, sizeof(why), "%s", mla_error_last());
	for (uint32_t i = 0; i < n; i++)
		if (t[i].replaced && restore(&t[i], change[i]) < 0) {
			mla_error(MLA_EIO, "%s: cannot get its old contents back: %s",
			          change[i]->module->path, strerror(errno));
			mla_fail();
			note(tree, change[i]);
		}
	mla_error(MLA_EIO, "%s", why);
}

static int write_held(target *t, const mla_tree *tree, const mla_change *const *change, uint32_t n)
{
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0 && !mla_stop_asked(); i++)
		error = prepare(&t[i], tree, change[i]);
	if (error < 0 || mla_stop_asked())
		return error;
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = replace(&t[i], change[i]);
	if (error < 0)
		undo(t, tree, change, n);
	for (uint32_t i = 0; i < n && error == 0; i++)
		note(tree, change[i]);
	return error;
}

int mla_write_changes(const mla_tree *tree, const mla_change *const *change, uint32_t n)
{
	target *t = mla_alloc(n * sizeof(*t));
	int error;

	mla_stop_hold();
	error = write_held(t, tree, change, n);
	for (uint32_t i = 0; i < n; i++)
		if (t[i].made)
			unlink(t[i].temporary);
	mla_stop_release();
	free(t);
	return error;
}

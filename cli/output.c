/*
 * Noticing when reports do not get where they should. A report that replaces a file is written
 * beside it and takes its place at the end, so that a run that fails leaves the old one.
 */
#include "cli/output.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"
#include "cli/stop.h"
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_device(const char *path, const struct stat *st)
{
	return !S_ISREG(st->st_mode) || strncmp(path, "/dev/", 5) == 0 ||
	       strncmp(path, "/proc/", 6) == 0;
}

static char *copy(const char *s)
{
	char *p = mla_alloc(strlen(s) + 1);

	memcpy(p, s, strlen(s));
	return p;
}

/* The absolute path of a file that is not there yet; NULL: its folder is not there either. */
static char *resolve(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], real[PATH_MAX], *out;
	size_t size;

	if ((size_t)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - path) : 2,
	                     slash ? path : "./") >= sizeof(folder) ||
	    !realpath(folder, real))
		return NULL;
	size = strlen(real) + strlen(path) + 2;
	out = mla_alloc(size);
	snprintf(out, size, "%s/%s", real, slash ? slash + 1 : path);
	return out;
}

/* Sets file and aside, unless it is no regular file and so is written directly. */
static void find_place(mla_output *o, const struct stat *old, bool exists)
{
	char real[PATH_MAX];
	struct stat link;
	const char *slash;
	size_t size;

	if (exists ? is_device(o->path, old) || !realpath(o->path, real)
	           : lstat(o->path, &link) == 0)
		return;
	o->file = exists ? copy(real) : resolve(o->path);
	if (!o->file)
		return;
	slash = strrchr(o->file, '/');
	size = strlen(o->file) + 48;
	o->aside = mla_alloc(size);
	/* A name of its own: that of the file may be as long as a name can be. */
	snprintf(o->aside, size, "%.*s.mlalint-%ld", (int)(slash + 1 - o->file), o->file,
	         (long)getpid());
}

/* mkstemp() with the mode that the umask leaves. Numbers are taken by the other reports of this run
 * and by a run that was killed. */
static int open_new(char *aside)
{
	enum { TRIES = 1000 };
	size_t n = strlen(aside);
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		sprintf(aside + n, "-%d", i);
		fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static FILE *open_aside(char *aside, const char *file, const struct stat *old, bool exists)
{
	int fd;

	if (exists && access(file, W_OK) < 0)
		return NULL; /* a file that may not be written is not replaced either */
	mla_stop_hold();
	fd = open_new(aside);
	if (fd >= 0)
		mla_stop_temporary(aside);
	mla_stop_release();
	if (fd < 0)
		return NULL;
	if (exists) {
		bool kept = fchown(fd, old->st_uid, old->st_gid) == 0;

		if (fchmod(fd, old->st_mode & (kept ? 07777 : 0777)) < 0) {
			close(fd);
			unlink(aside);
			return NULL;
		}
	}
	return fdopen(fd, "w");
}

static void forget_place(mla_output *o)
{
	if (o->aside)
		mla_stop_forget(o->aside);
	free(o->file);
	free(o->aside);
	o->file = o->aside = NULL;
}

/* What is there stays until the report has come: the file may turn out to be one that is scanned.
 */
static FILE *open_in_place(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

/* The rest of a longer report that was there before. */
static int cut(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) < 0 ||
	       (S_ISREG(st.st_mode) && ftruncate(fileno(f), ftello(f)) < 0);
}

static int open_one(mla_output *o)
{
	struct stat old;
	bool exists;

	if (mla_output_is_stdout(o->path)) {
		o->to = stdout;
		return 0;
	}
	exists = stat(o->path, &old) == 0;
	find_place(o, &old, exists);
	if (o->aside)
		o->to = open_aside(o->aside, o->file, &old, exists);
	/* A folder in which nothing can be made may still hold a file that can be written. */
	if (!o->to) {
		forget_place(o);
		o->to = open_in_place(o->path);
	}
	return o->to ? 0 : mla_error(MLA_EIO, "%s: %s", o->path, strerror(errno));
}

/* Two reports in one place would destroy each other. */
static int check_place(const mla_outputs *s, const mla_output *o)
{
	for (uint32_t i = 0; i < s->n && o->file; i++)
		if (s->v[i].file && strcmp(s->v[i].file, o->file) == 0)
			return mla_error(MLA_ECONFIG, "-o: two reports to %s", o->path);
	return 0;
}

int mla_outputs_open(mla_outputs *out, const mla_options *o)
{
	int error = 0;

	*out = (mla_outputs){0};
	for (uint32_t i = 0; i < o->output_count && error == 0; i++) {
		out->v[i] = (mla_output){.format = o->output[i].format, .path = o->output[i].path};
		error = open_one(&out->v[i]);
		if (error < 0)
			break;
		error = check_place(out, &out->v[i]);
		out->n++;
	}
	if (error < 0)
		mla_outputs_close(out, MLA_EXIT_NO_VERDICT);
	return error;
}

void mla_outputs_flush(mla_outputs *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		fflush(s->v[i].to);
}

static int close_one(mla_output *o, int status)
{
	bool failed = fflush(o->to) != 0 || ferror(o->to);
	/* Without a verdict there may be a report all the same: it says what failed. */
	bool wanted = status != MLA_EXIT_NO_VERDICT || (o->aside && ftell(o->to) > 0);

	mla_stop_hold();
	if (o->to != stdout && !o->aside && !failed && (wanted || ftello(o->to) > 0))
		failed = cut(o->to) != 0;
	if (o->to != stdout)
		failed |= fclose(o->to) != 0;
	if (o->aside && !failed && wanted)
		failed = rename(o->aside, o->file) < 0;
	if (failed) {
		mla_error(MLA_EIO, "%s: %s", o->to == stdout ? "standard output" : o->path,
		          strerror(errno));
		status = mla_fail();
	}
	if (o->aside && (failed || !wanted))
		unlink(o->aside);
	forget_place(o);
	mla_stop_release();
	return status;
}

int mla_outputs_close(mla_outputs *s, int status)
{
	int worst = status;

	for (uint32_t i = 0; i < s->n; i++)
		if (close_one(&s->v[i], status) != status)
			worst = MLA_EXIT_NO_VERDICT;
	return worst;
}

int mla_stdout_close(int status)
{
	return close_one(&(mla_output){.path = "-", .to = stdout}, status);
}

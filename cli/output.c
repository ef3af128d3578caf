/*
 * Where reports go, and noticing when they do not get there. A report that replaces a file is
 * written beside it and takes its place at the end, so that a run that fails leaves the old one.
 */
#include "cli/verbs.h"

#include "analyzer/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Control characters, also those of two bytes in UTF-8 (U+0080 to U+009F). */
void mla_put_clean(FILE *to, mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		unsigned char next = i + 1 < s.len ? (unsigned char)s.ptr[i + 1] : 0;

		if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
			fprintf(to, "\\x%02x", next);
			i++;
		} else if ((c < 0x20 && c != '\t') || c == 0x7F) {
			fprintf(to, "\\x%02x", c);
		} else {
			fputc(c, to);
		}
	}
}

void mla_put_joined(FILE *to, mla_str s)
{
	for (uint32_t i = 0; i < s.len;) {
		uint32_t end = i, n = 0;
		bool broken = false;

		while (end < s.len && !strchr(" \t\r\n", s.ptr[end]))
			end++;
		for (n = end; n < s.len && strchr(" \t\r\n", s.ptr[n]); n++)
			broken |= s.ptr[n] == '\n' || s.ptr[n] == '\r';
		/* A backslash before the line end goes with it. */
		mla_put_clean(to,
		              (mla_str){s.ptr + i,
		                        end - i - (broken && end > i && s.ptr[end - 1] == '\\')});
		if (broken)
			fputc(' ', to);
		else
			mla_put_clean(to, (mla_str){s.ptr + end, n - end});
		i = n;
	}
}

int mla_fail(void)
{
	fputs("mlalint: ", stderr);
	mla_put_clean(stderr, mla_str_c(mla_error_last()));
	fputc('\n', stderr);
	return MLA_EXIT_NO_VERDICT;
}

typedef struct {
	char file[PATH_MAX], aside[PATH_MAX + 32];
	struct stat old;
	bool exists;
} place;

/* False: no regular file, so it is written directly. */
static bool find_place(place *p, const char *output)
{
	struct stat link;
	const char *slash;

	p->exists = stat(output, &p->old) == 0;
	if (p->exists && (!S_ISREG(p->old.st_mode) || strncmp(output, "/dev/", 5) == 0 ||
	                  strncmp(output, "/proc/", 6) == 0))
		return false;
	if (p->exists ? !realpath(output, p->file)
	              : lstat(output, &link) == 0 || strlen(output) >= sizeof(p->file))
		return false;
	if (!p->exists)
		memcpy(p->file, output, strlen(output) + 1);
	slash = strrchr(p->file, '/');
	snprintf(p->aside, sizeof(p->aside), "%.*s.mlalint-%ld",
	         slash ? (int)(slash + 1 - p->file) : 0, p->file, (long)getpid());
	return true;
}

static FILE *open_aside(const place *p)
{
	int fd;

	if (p->exists && access(p->file, W_OK) < 0)
		return NULL; /* a file that may not be written is not replaced either */
	unlink(p->aside);    /* left by a run that was killed */
	fd = open(p->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	if (p->exists) {
		bool kept = fchown(fd, p->old.st_uid, p->old.st_gid) == 0;

		if (fchmod(fd, p->old.st_mode & (kept ? 07777 : 0777)) < 0) {
			close(fd);
			unlink(p->aside);
			return NULL;
		}
	}
	return fdopen(fd, "w");
}

static bool to_stdout(const mla_options *o)
{
	return !o->output || strcmp(o->output, "-") == 0 || strcmp(o->output, "/dev/stdout") == 0;
}

FILE *mla_output_open(const mla_options *o)
{
	place p;
	FILE *f = NULL;

	if (to_stdout(o))
		return stdout;
	if (find_place(&p, o->output))
		f = open_aside(&p);
	/* A folder in which nothing can be made may still hold a file that can be written. */
	if (!f)
		f = fopen(o->output, "w");
	if (!f) {
		mla_error(MLA_EIO, "%s: %s", o->output, strerror(errno));
		mla_fail();
	}
	return f;
}

/* Is the report in the file beside? */
static bool is_aside(const place *p, FILE *f)
{
	struct stat a, b;

	return fstat(fileno(f), &a) == 0 && lstat(p->aside, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int mla_output_close(const mla_options *o, FILE *f, int status)
{
	place p;
	bool failed = fflush(f) != 0 || ferror(f);
	bool aside = f != stdout && find_place(&p, o->output) && is_aside(&p, f);
	/* Without a verdict there may be a report all the same: it says what failed. */
	bool wanted = status != MLA_EXIT_NO_VERDICT || (aside && ftell(f) > 0);

	if (f != stdout)
		failed |= fclose(f) != 0;
	if (aside && !failed && wanted)
		failed = rename(p.aside, p.file) < 0;
	if (failed) {
		mla_error(MLA_EIO, "%s: %s", o->output ? o->output : "standard output",
		          strerror(errno));
		status = mla_fail();
	}
	if (aside && (failed || !wanted))
		unlink(p.aside);
	return status;
}

bool mla_use_color(const mla_options *o, FILE *f)
{
	const char *no_color = getenv("NO_COLOR");

	if (o->color != MLA_COLOR_AUTO)
		return o->color == MLA_COLOR_ALWAYS;
	return !(no_color && *no_color) && isatty(fileno(f));
}

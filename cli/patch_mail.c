/*
 * Mail as git format-patch writes it. What mail servers or git would change on the way (carriage
 * returns, bytes that are no UTF-8, very long lines) goes as base64.
 */
#include "cli/patch_mail.h"

#include "analyzer/str.h"
#include "cli/json.h"
#include "cli/patch_commit.h"
#include "cli/patch_text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_utf8(mla_str s)
{
	json_t *v = json_stringn(s.ptr, s.len);
	bool valid = v != NULL;

	json_decref(v);
	return valid;
}

static bool is_ascii(mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] >= 0x80 || (unsigned char)s.ptr[i] < 0x20)
			return false;
	return true;
}

/* RFC 2047: words of at most 75 columns, none of which ends inside of a character. */
static void put_encoded(FILE *to, mla_str s)
{
	static const char start[] = "=?UTF-8?q?";
	enum { LONGEST = 75, END = 2 };
	uint32_t column = 0;

	for (uint32_t i = 0, n; i < s.len; i += n) {
		for (n = 1; i + n < s.len && ((unsigned char)s.ptr[i + n] & 0xC0) == 0x80; n++)
			;
		if (!column || column + 3 * n + END > LONGEST) {
			fprintf(to, "%s%s", column ? "?=\n " : "", start);
			column = sizeof(start) - 1;
		}
		for (uint32_t k = i; k < i + n; k++) {
			unsigned char c = (unsigned char)s.ptr[k];
			bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			             (c >= '0' && c <= '9');

			column += (uint32_t)fprintf(to, plain ? "%c" : "=%02X", c);
		}
	}
	fputs("?=", to);
}

static void put_header_text(FILE *to, mla_str s)
{
	if (is_ascii(s) && !mla_str_contains(s, "=?"))
		fwrite(s.ptr, 1, s.len, to);
	else
		put_encoded(to, s);
}

/* RFC 5322 wants quotes around a name with some of its signs. */
static void put_name(FILE *to, mla_str s)
{
	bool quote = false;

	for (uint32_t i = 0; i < s.len; i++)
		quote |= strchr("()<>[]:;@\\,.\"", s.ptr[i]) != NULL;
	if (!quote || !is_ascii(s) || mla_str_contains(s, "=?")) {
		put_header_text(to, s);
		return;
	}
	fputc('"', to);
	for (uint32_t i = 0; i < s.len; i++)
		fprintf(to, s.ptr[i] == '"' || s.ptr[i] == '\\' ? "\\%c" : "%c", s.ptr[i]);
	fputc('"', to);
}

static void put_date(FILE *to, const git_time *when)
{
	char text[64];
	time_t local = (time_t)(when->time + 60 * when->offset);
	int off = when->offset < 0 ? -when->offset : when->offset;
	struct tm tm;

	gmtime_r(&local, &tm);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S", &tm); /* no locale is set */
	fprintf(to, "Date: %s %c%02d%02d\n", text, when->offset < 0 ? '-' : '+', off / 60,
	        off % 60);
}

static void put_base64(FILE *to, const char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	enum { GROUPS = 19 }; /* 76 columns */
	const unsigned char *p = (const unsigned char *)bytes;
	uint32_t group = 0;

	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
		             (n > 2 ? p[i + 2] : 0);

		fprintf(to, "%c%c%c%c", digits[v >> 18], digits[v >> 12 & 63],
		        n > 1 ? digits[v >> 6 & 63] : '=', n > 2 ? digits[v & 63] : '=');
		if (++group % GROUPS == 0 || i + 3 >= size)
			fputc('\n', to);
	}
}

/* May the text travel as it is? Mail ends a line after 998 bytes. */
static bool is_plain(mla_str s)
{
	enum { LONGEST = 998 };
	uint32_t start = 0;

	for (uint32_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\r' || s.ptr[i] == '\0' || i - start >= LONGEST)
			return false;
		if (s.ptr[i] == '\n')
			start = i + 1;
	}
	return is_utf8(s);
}

static int make_text(char **out, size_t *size, const mla_series *s, const mla_commit *c)
{
	git_buf diff = {0}, stat = {0};
	FILE *f = open_memstream(out, size);
	int error = mla_patch_commit_diff(&diff, &stat, s, c);

	if (error == 0) {
		fprintf(f, "%.*s---\n", MLA_ARG(c->body));
		fwrite(stat.ptr, 1, stat.size, f);
		fputc('\n', f);
		fwrite(diff.ptr, 1, diff.size, f);
		fprintf(f, "-- \nmlalint %s\n\n", MLA_VERSION);
	}
	fclose(f);
	git_buf_dispose(&diff);
	git_buf_dispose(&stat);
	return error;
}

/*
 * As git format-patch names its files. Where the subject ends in a path, what does not fit goes
 * from the middle: the end is what tells one file of a series from another.
 */
static char *file_name(uint32_t number, mla_str subject, bool ends_in_path)
{
	enum { LONGEST = 52, HEAD = 20, MOST = 256 };
	char slug[MOST + 1], name[LONGEST + 32];
	uint32_t n = 0, head, tail;

	for (uint32_t i = 0; i < subject.len && n < MOST; i++) {
		char c = subject.ptr[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		             (c >= '0' && c <= '9') || c == '_' || c == '.';

		if (plain)
			slug[n++] = c;
		else if (n && slug[n - 1] != '-')
			slug[n++] = '-';
	}
	while (n && (slug[n - 1] == '-' || slug[n - 1] == '.'))
		n--;
	if (n > LONGEST && ends_in_path) {
		for (tail = n - (LONGEST - HEAD - 1); tail + 1 < n && slug[tail - 1] != '-';)
			tail++;
		if (tail + 1 == n) /* one long name */
			tail = n - (LONGEST - HEAD - 1);
		for (head = HEAD; head > 1 && slug[head] != '-';)
			head--;
		slug[head] = '-';
		memmove(slug + head + 1, slug + tail, n - tail);
		n = head + 1 + n - tail;
	}
	n = n > LONGEST ? LONGEST : n;
	while (n && (slug[n - 1] == '-' || slug[n - 1] == '.'))
		n--;
	snprintf(name, sizeof(name), "%04u-%.*s.patch", number, (int)n, slug);
	return mla_copy(name);
}

static int make(mla_mail *out, const mla_series *s, uint32_t i, const git_signature *author)
{
	const mla_commit *c = &s->commits.v[i];
	mla_arena *arena = s->scan->arena;
	char id[GIT_OID_HEXSZ + 1], *text = NULL;
	size_t size = 0;
	int error = make_text(&text, &size, s, c);
	bool plain = error == 0 && is_plain((mla_str){text, (uint32_t)size});
	FILE *f = open_memstream(&out->text, &out->size);

	fprintf(f,
	        "From %s Mon Sep 17 00:00:00 2001\nFrom: ", git_oid_tostr(id, sizeof(id), &c->id));
	put_name(f, mla_patch_line(arena, mla_str_c(author->name)));
	fprintf(f, " <%s>\n", author->email);
	put_date(f, &author->when);
	if (s->commits.n > 1)
		fprintf(f, "Subject: [PATCH %u/%u] ", i + 1, s->commits.n);
	else
		fputs("Subject: [PATCH] ", f);
	put_header_text(f, c->subject);
	fprintf(f,
	        "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
	        "Content-Transfer-Encoding: %s\n\n",
	        plain ? "8bit" : "base64");
	if (plain)
		fwrite(text, 1, size, f);
	else if (error == 0)
		put_base64(f, text, size);
	fclose(f);
	free(text);
	out->name = file_name(i + 1, c->subject, s->scan->options->split == MLA_SPLIT_FILE);
	return error;
}

int mla_mails_make(mla_mails *out, const mla_series *s, const git_signature *author)
{
	int error = 0;

	*out = (mla_mails){0};
	for (uint32_t i = 0; i < s->commits.n && error == 0; i++) {
		mla_mail mail = {0};

		error = make(&mail, s, i, author);
		mla_vec_push(&out->v, mail);
	}
	return error;
}

void mla_mails_free(mla_mails *m)
{
	for (uint32_t i = 0; i < m->v.n; i++) {
		free(m->v.v[i].name);
		free(m->v.v[i].text);
	}
	mla_vec_free(&m->v);
}

static bool is_ours(const mla_mails *m, const char *name)
{
	for (uint32_t i = 0; i < m->v.n; i++)
		if (strcmp(m->v.v[i].name, name) == 0)
			return true;
	return false;
}

static int open_folder(const mla_mails *m, const char *folder)
{
	struct dirent *d;
	int error = 0;
	DIR *dir;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return mla_error(MLA_EIO, "--mbox %s: %s", folder, strerror(errno));
	if (!(dir = opendir(folder)))
		return mla_error(MLA_EIO, "--mbox %s: %s", folder, strerror(errno));
	while (error == 0 && (d = readdir(dir)))
		if (mla_str_ends(mla_str_c(d->d_name), ".patch") && !is_ours(m, d->d_name))
			error = mla_error(MLA_EIO,
			                  "--mbox %s: %s is there already and would be applied "
			                  "along with the new mail",
			                  folder, d->d_name);
	closedir(dir);
	return error;
}

static int write_mail(const mla_mail *mail, const char *folder)
{
	char path[PATH_MAX], aside[PATH_MAX];
	bool failed;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, mail->name) >= sizeof(path) ||
	    (size_t)snprintf(aside, sizeof(aside), "%s/.mlalint-%ld", folder, (long)getpid()) >=
	            sizeof(aside))
		return mla_error(MLA_EIO, "--mbox %s: path too long", folder);
	f = fopen(aside, "w");
	failed = !f || fwrite(mail->text, 1, mail->size, f) != mail->size;
	if (f)
		failed |= fclose(f) != 0;
	failed = failed || rename(aside, path) < 0;
	if (!failed)
		return 0;
	mla_error(MLA_EIO, "%s: %s", path, strerror(errno));
	unlink(aside);
	return MLA_EIO;
}

int mla_mails_write(const mla_mails *m, const char *folder)
{
	int error = open_folder(m, folder);

	for (uint32_t i = 0; i < m->v.n && error == 0; i++) {
		error = write_mail(&m->v.v[i], folder);
		if (error < 0)
			mla_mails_remove(&(mla_mails){.v = {.v = m->v.v, .n = i}}, folder);
	}
	return error;
}

void mla_mails_remove(const mla_mails *m, const char *folder)
{
	char path[PATH_MAX];

	for (uint32_t i = 0; i < m->v.n; i++)
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, m->v.v[i].name) <
		    sizeof(path))
			unlink(path);
}

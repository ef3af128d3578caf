/* Sources with some text replaced, as a project: what a wrong patch would leave. */
#ifndef MLA_TESTS_MUTANTS_H
#define MLA_TESTS_MUTANTS_H

#include "tests/unit/test.h"

#include "analyzer/arena.h"
#include "analyzer/project.h"
#include "analyzer/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDITS = 8 };

/* Replaces the `which`-th occurrence (from 1; 0: all) of `from` in files that end in `file`. */
typedef struct {
	const char *file, *from, *to;
	int which;
} edit;

static inline char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long n;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	text = mla_alloc((size_t)n + 1);
	assert_int_equal(fread(text, 1, (size_t)n, f), n);
	fclose(f);
	return text;
}

static inline char *replaced(char *text, const edit *e, bool *done)
{
	size_t from = strlen(e->from), to = strlen(e->to), at = 0;
	int seen = 0;

	for (char *p; (p = strstr(text + at, e->from));) {
		char *made;

		seen++;
		at = (size_t)(p - text);
		if (e->which && seen != e->which) {
			at += from;
			continue;
		}
		*done = true;
		made = mla_alloc(strlen(text) + to + 1);
		memcpy(made, text, at);
		memcpy(made + at, e->to, to);
		strcpy(made + at + to, p + from);
		free(text);
		text = made;
		at += to;
	}
	return text;
}

static inline char *edited(char *text, const char *path, const edit *list)
{
	for (int i = 0; i < EDITS && list[i].file; i++) {
		bool done = false;

		if (!mla_str_ends(mla_str_c(path), list[i].file))
			continue;
		text = replaced(text, &list[i], &done);
		if (!done)
			fail_msg("no \"%s\" in %s", list[i].from, path);
	}
	return text;
}

#endif

/* Counting findings and kept tests. */
#include "cli/statistics.h"

#include "analyzer/str.h"
#include "cli/report.h"

#include <stdlib.h>

static void add(mla_statistics *s, const char *code, const char *name, bool fixable)
{
	uint32_t i = 0;

	while (i < s->n && (strcmp(s->v[i].code, code) != 0 || strcmp(s->v[i].name, name) != 0))
		i++;
	if (i == s->n)
		s->v[s->n++] = (mla_statistic){.code = code, .name = name};
	s->v[i].count++;
	s->v[i].fixable += fixable;
}

static int by_count(const void *pa, const void *pb)
{
	const mla_statistic *a = pa, *b = pb;
	int c = (a->count < b->count) - (a->count > b->count);

	if (!c)
		c = strcmp(a->code, b->code);
	return c ? c : strcmp(a->name, b->name);
}

void mla_statistics_count(mla_statistics *out, const mla_scan *s)
{
	const mla_result *r;
	const mla_kept_test *k;
	mla_cursor at = {0}, at_kept = {0};

	*out = (mla_statistics){0};
	while ((r = mla_next_result(&at, s)))
		add(out, r->finding->rule->code, r->finding->rule->name, r->fix->edits.n != 0);
	out->rules = out->n;
	while ((k = mla_next_kept(&at_kept, s)))
		add(out, "kept", mla_kept_name(k->test->kept), false);
	qsort(out->v, out->rules, sizeof(*out->v), by_count);
	qsort(out->v + out->rules, out->n - out->rules, sizeof(*out->v), by_count);
}

void mla_statistics_print(FILE *to, const mla_scan *s)
{
	mla_statistics all;

	mla_statistics_count(&all, s);
	for (uint32_t i = 0; i < all.n; i++) {
		fprintf(to, "%7u  %-6s  %s", all.v[i].count, all.v[i].code, all.v[i].name);
		if (i < all.rules)
			fprintf(to, " (%u with a fix)", all.v[i].fixable);
		fputc('\n', to);
	}
}

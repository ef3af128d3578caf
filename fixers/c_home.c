/* Which file defines the function for a decision, so that no translation unit gets it twice. */
#include "fixers/c_home.h"

#include "fixers/c_place.h"
#include "fixers/c_scope.h"

#include "analyzer/c_info.h"
#include "analyzer/c_source.h"
#include "analyzer/str.h"

typedef struct {
	mla_arena *arena;
	mla_project *project;
} search;

static bool is_header(const mla_module *m)
{
	static const char *const ends[] = {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", NULL};

	for (const char *const *e = ends; *e; e++)
		if (mla_str_ends(mla_str_c(m->path), *e))
			return true;
	return false;
}

static bool is_seen(const mla_site *s, const mla_module *m)
{
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i]->module != m && !mla_c_sees(s->test[i]->module, m))
			return false;
	return true;
}

static const mla_record *record_of(const search *q, const mla_site *s)
{
	mla_c_sizes sizes;
	const char *why;

	return mla_c_scope_sizes(&sizes, &why, q->arena, s->test[0]) ? sizes.record : NULL;
}

/* The file of the tests; of several the one that the others include; else the sizes' header. */
static mla_module *home_of_site(const search *q, const mla_site *s)
{
	const mla_record *sizes;
	uint32_t index = 0;
	mla_module *m;

	for (uint32_t i = 0; i < s->test_count; i++)
		if (is_seen(s, s->test[i]->module))
			return s->test[i]->module;
	sizes = record_of(q, s);
	while (sizes && (m = mla_project_next(q->project, &index)))
		if (m->c && is_header(m) && is_seen(s, m) && mla_c_definition(m, sizes))
			return m;
	return NULL;
}

static bool is_fixable(const mla_site *s)
{
	return !s->refusal;
}

/* Another file that gets the function for a decision of its own, and that is seen from `home`. */
static mla_module *home_above(const search *q, const mla_module *home)
{
	uint32_t index = 0;
	mla_module *m;

	while ((m = mla_project_next(q->project, &index)))
		for (uint32_t i = 0; m->c && i < m->c->site_count; i++) {
			mla_module *other =
				is_fixable(m->c->site[i]) ? home_of_site(q, m->c->site[i]) : NULL;

			if (other && other != home && mla_c_sees(home, other) &&
			    !mla_c_sees(other, home))
				return other;
		}
	return NULL;
}

/* Does `x` see a home besides this one that does not see this one? */
static bool sees_another(const search *q, const mla_module *x, const mla_module *home)
{
	uint32_t index = 0;
	mla_module *m;

	while ((m = mla_project_next(q->project, &index)))
		for (uint32_t i = 0; m->c && i < m->c->site_count; i++) {
			mla_module *other =
				is_fixable(m->c->site[i]) ? home_of_site(q, m->c->site[i]) : NULL;

			if (other && other != home && mla_c_sees(x, other) &&
			    !mla_c_sees(other, home))
				return true;
		}
	return false;
}

/* A file that sees the home and another one would get the function twice. */
static bool is_seen_with_another(const search *q, const mla_module *home)
{
	uint32_t index = 0;
	mla_module *x;

	while ((x = mla_project_next(q->project, &index)))
		if (x->c && x != home && mla_c_sees(x, home) && sees_another(q, x, home))
			return true;
	return false;
}

/* From the first to the last test of decisions in the file. */
static bool range_in(uint32_t *first, uint32_t *last, const mla_module *m)
{
	*first = UINT32_MAX;
	*last = 0;
	for (uint32_t i = 0; i < m->c->site_count; i++) {
		const mla_site *s = m->c->site[i];

		for (uint32_t k = 0; is_fixable(s) && k < s->test_count; k++) {
			const mla_span *span = &s->test[k]->node->span;

			if (s->test[k]->module != m)
				continue;
			if (span->start < *first)
				*first = span->start;
			if (span->end > *last)
				*last = span->end;
		}
	}
	return *last != 0;
}

/* Behind the first struct that holds the sizes of a decision with this home. */
static bool place_by_struct(mla_c_home *out, const search *q)
{
	uint32_t index = 0;
	bool found = false;
	mla_module *m;

	while ((m = mla_project_next(q->project, &index)))
		for (uint32_t i = 0; m->c && i < m->c->site_count; i++) {
			const mla_site *s = m->c->site[i];
			const mla_record *r = NULL;
			const mla_node *definition;
			uint32_t at;

			if (is_fixable(s) && home_of_site(q, s) == out->module)
				r = record_of(q, s);
			definition = r ? mla_c_definition(out->module, r) : NULL;
			if (!definition || !mla_c_place_after(&at, out->module, definition))
				continue;
			if (!found || at < out->at)
				out->at = at;
			found = true;
		}
	return found;
}

bool mla_c_home_find(mla_c_home *out, const char **why, mla_arena *arena, mla_project *project,
                     const mla_site *s)
{
	enum { LEVELS = 16 };
	const search q = {arena, project};
	mla_module *above;
	uint32_t first, last;

	*out = (mla_c_home){.module = home_of_site(&q, s)};
	if (!out->module) {
		*why = "the tests are in several files, and no header with the struct of the sizes "
		       "is among the sources";
		return false;
	}
	for (int i = 0; i < LEVELS && (above = home_above(&q, out->module)); i++)
		out->module = above;
	if (is_seen_with_another(&q, out->module)) {
		*why = "a file includes two of those that would define the function";
		return false;
	}
	if (range_in(&first, &last, out->module)) {
		*why = "there is no line of its own before the function";
		return mla_c_place_before(&out->at, out->module, first, last);
	}
	out->below = true;
	*why = "there is no line of its own behind the struct of the sizes";
	return place_by_struct(out, &q);
}

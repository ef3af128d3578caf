/* Which findings a comment covers. Knows nothing of what a rule finds. */
#include "rules/suppression.h"

#include "analyzer/str.h"

static bool names_rule(mla_str code, const mla_rule *rule)
{
	return mla_str_is(code, rule->code) || mla_str_is(code, rule->name);
}

/* The comment and the code in it that cover a place for a rule. */
static bool covering(const mla_suppressions *s, const mla_rule *rule, mla_span place,
                     uint32_t *index, uint32_t *which)
{
	for (uint32_t i = 0; i < s->n; i++) {
		mla_str code;

		if (place.start < s->v[i].covers.start || place.start >= s->v[i].covers.end)
			continue;
		for (uint32_t k = 0; mla_suppression_code(&code, &s->v[i], k); k++)
			if (names_rule(code, rule)) {
				*index = i;
				*which = k;
				return true;
			}
	}
	return false;
}

enum { CODES_PER_COMMENT = 64 };

bool mla_suppression_used(const mla_findings *f, uint32_t index, uint32_t code)
{
	return code < CODES_PER_COMMENT && (f->used[index] >> code & 1);
}

static void take_out(mla_findings *f, const mla_suppressions *s)
{
	uint32_t n = 0, index, which;

	f->suppressed = mla_arena_array(f->arena, f->n, sizeof(*f->suppressed));
	f->used = mla_arena_array(f->arena, s->n, sizeof(*f->used));
	for (uint32_t i = 0; i < f->n; i++) {
		if (!covering(s, f->v[i].rule, f->v[i].span, &index, &which)) {
			f->v[n++] = f->v[i];
			continue;
		}
		f->v[i].suppression = &s->v[index];
		f->suppressed[f->suppressed_n++] = f->v[i];
		if (which < CODES_PER_COMMENT)
			f->used[index] |= (uint64_t)1 << which;
	}
	f->n = n;
}

/* Those of one module after the other: a decision may have hundreds of tests, mostly in one. */
typedef struct {
	const mla_module *module;
	mla_suppressions list;
} lookup;

static const mla_suppressions *suppressions_of(lookup *l, mla_arena *arena, const mla_module *m)
{
	if (l->module != m)
		mla_suppressions_find(&l->list, arena, m);
	l->module = m;
	return &l->list;
}

/* A decision changes as a whole: with one of its tests suppressed the others stay too. */
static void withhold_fixes(mla_findings *f)
{
	lookup known = {0};

	for (uint32_t i = 0; i < f->n; i++) {
		mla_finding *g = &f->v[i];

		for (uint32_t k = 0; g->site && !g->no_fix.len && k < g->site->test_count; k++) {
			const mla_test *t = g->site->test[k];
			uint32_t index, which;

			if (covering(suppressions_of(&known, f->arena, t->module), g->rule,
			             t->node->span, &index, &which))
				g->no_fix = mla_arena_format(
					f->arena,
					"another test of this decision is suppressed (%s%sline %u)",
					t->module == g->module ? "" : t->module->path,
					t->module == g->module ? "" : ", ",
					mla_text_line(t->module->text, t->node->span.start));
		}
	}
}

int mla_rules_run(mla_findings *out, const mla_facts *facts, const bool *on)
{
	int error = 0;

	mla_suppressions_find(&out->suppressions, out->arena, facts->module);
	for (int late = 0; late < 2 && error == 0; late++) {
		for (uint32_t i = 0; mla_rules[i] && error == 0; i++)
			if (on[i] && mla_rules[i]->about_suppressions == late) {
				out->on = on;
				error = mla_rules[i]->check(mla_rules[i], facts, out);
			}
		if (!late) {
			take_out(out, &out->suppressions);
			withhold_fixes(out);
		}
	}
	return error;
}

/* Shared wording and completeness of absorb decisions. */
#include "rules/decision.h"

#include "analyzer/str.h"

static mla_str refusal_text(mla_arena *arena, const mla_site *s)
{
	uint32_t line = s->refusal_at
	                        ? mla_text_line(s->refusal_module->text, s->refusal_at->span.start)
	                        : 0;
	const char *why = "";

	switch (s->refusal) {
	case MLA_REFUSE_NOTHING:
		return (mla_str){"", 0};
	case MLA_REFUSE_GATHER_AND_ABSORB:
		why = "one test both gathers one query's top-k rows and absorbs";
		break;
	case MLA_REFUSE_ONE_ROW:
		why = "the absorbed arm reads one query's row";
		break;
	case MLA_REFUSE_MASK:
		why = "the two arms treat the mask differently";
		break;
	case MLA_REFUSE_NO_FOLLOWUP:
		why = "no follow-up projects the absorbed output back";
		break;
	case MLA_REFUSE_NO_SIZES:
		why = "the latent sizes r, n and v were not found in the class or its bases";
		break;
	case MLA_REFUSE_BOUND_AGAIN:
		why = "the query count is assigned again between the tests";
		break;
	case MLA_REFUSE_PATTERN:
		why = "a case pattern cannot hold a threshold";
		break;
	case MLA_REFUSE_OTHER_USE:
		why = "the outcome of the test is used for something else";
		break;
	case MLA_REFUSE_NO_LAYER:
		why = "the layer is not at hand where the test is made";
		break;
	case MLA_REFUSE_SHARED:
		why = "the test is in a function that others may call";
		break;
	case MLA_REFUSE_LATENTS:
		why = "the class has several latents of different sizes";
		break;
	case MLA_REFUSE_LIMIT:
		why = "the method is too long or too deep to follow";
		break;
	case MLA_REFUSE_SYNTAX:
		why = "the method does not parse";
		break;
	}
	return mla_arena_format(arena, "%s (line %u)", why, line);
}

static const mla_test *other_test(const mla_site *s, const mla_test *t)
{
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i] != t && s->test[i]->role != t->role)
			return s->test[i];
	return NULL;
}

void mla_decision_describe(mla_finding *f, const mla_facts *facts, const mla_test *t,
                           mla_arena *arena)
{
	f->module = facts->module;
	f->span = t->node->span;
	f->role = t->role;
	f->test = t;
	f->site = t->site;
	f->pair = other_test(t->site, t);
	f->threshold_known = mla_latent_threshold(&f->threshold, &t->site->latent);
	f->no_fix = refusal_text(arena, t->site);
	if (!f->no_fix.len && f->threshold_known && f->threshold.queries == 1)
		f->no_fix = mla_str_c("the threshold is 1 at this geometry: "
		                      "the patch would change nothing");
}

mla_str mla_decision_threshold(mla_arena *arena, const mla_finding *f)
{
	const mla_geometry *g = &f->threshold.geometry;

	if (!f->threshold_known)
		return mla_str_c(
			"r d / (2 r - d) queries, d = n + v (no size defaults in the source)");
	return mla_arena_format(arena, "%u %s (r=%u n=%u v=%u, %s)", f->threshold.queries,
	                        f->threshold.queries == 1 ? "query" : "queries", g->rank, g->nope,
	                        g->value, mla_source_name(f->threshold.source));
}

/* Shared wording and completeness of absorb decisions. */
#include "rules/decision.h"

#include "analyzer/str.h"

static bool spans_files(const mla_site *s)
{
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i]->module != s->refusal_module)
			return true;
	return false;
}

/* One text for all findings of the site: where they are in several files, it names the file. */
static mla_str refusal_text(mla_arena *arena, const mla_site *s)
{
	uint32_t line = s->refusal_at
	                        ? mla_text_line(s->refusal_module->text, s->refusal_at->span.start)
	                        : 0;
	const char *why = "";
	bool named;

	switch (s->refusal) {
	case MLA_REFUSE_NOTHING:
		return (mla_str){"", 0};
	case MLA_REFUSE_GATHER_AND_ABSORB:
		why = s->gathers ? "one test both gathers top-k rows and absorbs"
		                 : "one test both gathers one query's top-k rows and absorbs";
		break;
	case MLA_REFUSE_ONE_ROW:
		why = "the absorbed arm reads one query's row";
		break;
	case MLA_REFUSE_MASK:
		why = "the two arms treat the mask differently";
		break;
	case MLA_REFUSE_MASK_TEXT:
		why = "the absorbed arm uses the mask as an array, the other one only hands it to "
		      "an attention call, which takes a string like \"causal\" as well";
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
	case MLA_REFUSE_MACRO:
		why = "the comparison comes from a macro";
		break;
	case MLA_REFUSE_INACTIVE:
		why = "the preprocessor leaves the test out";
		break;
	case MLA_REFUSE_SCOPE:
		why = "rank, nope and value sizes are not all in scope at the test";
		break;
	case MLA_REFUSE_SYNTAX:
		why = "the method does not parse";
		break;
	}
	named = s->refusal_at && spans_files(s);
	return mla_arena_format(arena, "%s (%s%sline %u)", why,
	                        named ? s->refusal_module->path : "", named ? ", " : "", line);
}

static const mla_test *other_test(const mla_site *s, const mla_test *t)
{
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i] != t && s->test[i]->role != t->role)
			return s->test[i];
	return NULL;
}

static const mla_test *widest(const mla_test *t)
{
	while (t->wider)
		t = t->wider;
	return t;
}

static bool excludes_bound(const mla_test *t)
{
	return t->op == MLA_OP_LT || t->op == MLA_OP_GE;
}

static bool disagree(const mla_test *a, const mla_test *b)
{
	bool same;

	if (a->bound == MLA_BOUND_CONSTANT && b->bound == MLA_BOUND_CONSTANT)
		return a->limit != b->limit;
	if (a->bound != b->bound)
		return a->bound == MLA_BOUND_CONSTANT || b->bound == MLA_BOUND_CONSTANT ||
		       (a->bound != MLA_BOUND_UNKNOWN && b->bound != MLA_BOUND_UNKNOWN);
	same = mla_node_same(a->module->text, a->against, b->module->text, b->against);
	return same && excludes_bound(a) != excludes_bound(b);
}

const mla_test *mla_decision_split(const mla_test *t)
{
	const mla_test *select = NULL;

	for (uint32_t i = 0; t->site && i < t->site->test_count && !select; i++)
		if (t->site->test[i]->role == MLA_ROLE_SELECT)
			select = t->site->test[i];
	if (!select || t == select || t->wider || widest(select) == t)
		return NULL;
	return disagree(widest(select), t) ? widest(select) : NULL;
}

int mla_decision_report(const mla_rule *rule, const mla_facts *facts, mla_findings *out,
                        bool (*is_meant)(const mla_test *t),
                        mla_str (*message)(mla_arena *arena, const mla_finding *f))
{
	for (uint32_t i = 0; i < facts->test_count; i++) {
		const mla_test *t = facts->test[i];
		mla_finding *f;

		/* In C a choice by the sizes is no site: nothing is left to be decided there. */
		if (t->role == MLA_ROLE_NONE || !t->site || !is_meant(t))
			continue;
		f = mla_finding_add(out, rule);
		mla_decision_describe(f, facts, t, out->arena);
		f->message = message(out->arena, f);
	}
	return 0;
}

mla_str mla_decision_followup(mla_arena *arena, const mla_finding *f, const char *kind)
{
	bool elsewhere = f->pair && f->pair->module != f->module;

	return mla_arena_format(
		arena, "%s of the %s test in %s%sline %u: `%.*s` must change together with it",
		f->role == MLA_ROLE_MIRROR ? "mirror" : "follow-up", kind,
		elsewhere ? f->pair->module->path : "", elsewhere ? ", " : "",
		f->pair ? mla_text_line(f->pair->module->text, f->pair->node->span.start) : 0,
		MLA_ARG(mla_text_slice(f->module->text, f->span)));
}

void mla_decision_describe(mla_finding *f, const mla_facts *facts, const mla_test *t,
                           mla_arena *arena)
{
	f->module = facts->module;
	f->span = t->node->span;
	f->role = t->role;
	f->symbol = t->module->c && t->function ? t->function->name : t->site->symbol;
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

const char *mla_decision_sparse(const mla_finding *f)
{
	if (f->site->gathers)
		return "; nothing is gained above the top-k budget of this sparse model, which "
		       "gathers for several queries too";
	if (f->site->top_k)
		return "; with a sparse top-k the absorbed arm attends to fewer rows, and the "
		       "limit "
		       "is higher there";
	return "";
}

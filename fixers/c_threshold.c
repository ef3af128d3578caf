/*
 * Replaces the comparison of every test of the decision by one with the helper's result, and
 * nothing else of the condition: its other operands are what keeps it correct.
 */
#include "fixers/c_threshold.h"

#include "fixers/c_helper.h"
#include "fixers/c_scope.h"

#include "analyzer/c_info.h"
#include "analyzer/str.h"

typedef struct {
	mla_fix *fix;
	mla_arena *arena;
	mla_form form;
} plan;

static bool can_change(plan *p, const mla_test *t)
{
	uint32_t line = mla_text_line(t->module->text, t->node->span.start);

	if (t->node->kind != MLA_N_COMPARE || !t->count)
		return mla_fix_refuse(p->fix, "the test in line %u is no comparison", line);
	if (!t->node->c || t->node->c->macro)
		return mla_fix_refuse(p->fix, "the comparison in line %u comes from a macro", line);
	if (p->form == MLA_FORM_CACHE_LENGTH && t->role == MLA_ROLE_MIRROR)
		return mla_fix_refuse(p->fix,
		                      "the mirror in line %u of %s is evaluated at another cached "
		                      "length",
		                      line, t->module->path);
	return true;
}

/* The helper's result as the test compares it. */
static bool call_at(mla_str *out, plan *p, mla_str name, const mla_test *t)
{
	uint32_t line = mla_text_line(t->module->text, t->node->span.start);
	mla_c_sizes sizes;
	mla_str length = {"", 0};
	const char *why, *cast;

	if (!mla_c_scope_sizes(&sizes, &why, p->arena, t))
		return mla_fix_refuse(p->fix, "%s (line %u of %s)", why, line, t->module->path);
	if (p->form == MLA_FORM_CACHE_LENGTH && !mla_c_scope_length(&length, p->arena, t))
		return mla_fix_refuse(
			p->fix, "the cached length is not in scope at the test (line %u)", line);
	/* The result is positive, and a signed operand would make compilers warn. */
	cast = t->count->c && t->count->c->unsigned_long ? "(unsigned long long)" : "";
	*out = mla_arena_format(p->arena, "%s%.*s(%.*s, %.*s, %.*s%s%.*s)", cast, MLA_ARG(name),
	                        MLA_ARG(sizes.size[0]), MLA_ARG(sizes.size[1]),
	                        MLA_ARG(sizes.size[2]), length.len ? ", " : "", MLA_ARG(length));
	return true;
}

static bool is_widened(const plan *p, const mla_test *t)
{
	return t->bound == MLA_BOUND_CACHED || t->bound == MLA_BOUND_UNKNOWN ||
	       (t->bound == MLA_BOUND_GEOMETRY && p->form == MLA_FORM_GEOMETRY);
}

static bool replace_all(plan *p, mla_str name)
{
	const mla_site *s = p->fix->site;

	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_test *t = s->test[i];
		mla_str call, count;

		if (t->wider)
			continue;
		if (is_widened(p, t))
			return mla_fix_refuse(p->fix,
			                      "the test in line %u compares with a threshold of "
			                      "its own",
			                      mla_text_line(t->module->text, t->node->span.start));
		if (!can_change(p, t) || !call_at(&call, p, name, t))
			return false;
		count = mla_text_slice(t->module->text, t->count->outer);
		mla_edits_add(&p->fix->edits, t->module, t->node->span,
		              mla_arena_format(p->arena, "%.*s %s %.*s", MLA_ARG(count),
		                               t->small_when_true ? "<=" : ">", MLA_ARG(call)));
	}
	return true;
}

int mla_fix_c_threshold(mla_fix *out, mla_arena *arena, mla_project *project,
                        const mla_finding *finding, mla_form form)
{
	plan p = {.fix = out, .arena = arena, .form = form};
	mla_str name = mla_str_c(form == MLA_FORM_GEOMETRY ? "mla_max_absorbed_queries"
	                                                   : "mla_max_absorbed_queries_at");

	(void)finding;
	out->form = form;
	out->title = form == MLA_FORM_GEOMETRY
	                     ? "Absorb up to the number of queries that the sizes allow on a "
	                       "long cache"
	                     : "Absorb up to the number of queries that sizes and cached length "
	                       "allow";
	if (!replace_all(&p, name) || !mla_c_helper_require(&name, out, project, form)) {
		out->edits.n = 0;
		return 0;
	}
	return mla_edits_finish(&out->edits);
}

/*
 * The fix of MLA004: the later test takes the condition of the one that selects the arm. Where that
 * one is no threshold yet, both get it, which is the fix of the other rules.
 */
#include "fixers/fix.h"

#include "analyzer/str.h"
#include "rules/decision.h"

/* The whole of `L == 1 or L <= limit`, when every part of it is a test of the decision. */
static const mla_node *whole_condition(const mla_site *s, const mla_test *select)
{
	const mla_node *top = select->node;

	while (top->parent && top->parent->kind == MLA_N_OR)
		top = top->parent;
	for (const mla_node *n = top; n; n = mla_node_next(n, top, n->kind == MLA_N_COMPARE)) {
		bool known = n->kind == MLA_N_OR;

		for (uint32_t i = 0; i < s->test_count; i++)
			known |= s->test[i]->node == n;
		if (!known)
			return select->node;
	}
	return top;
}

/* Does every variable of the condition mean the same where the later test stands? */
static bool reaches(mla_fix *fix, const mla_node *condition, const mla_test *from,
                    const mla_test *to)
{
	const mla_span between = {from->node->span.end, to->node->span.start};

	if (from->function != to->function)
		return mla_fix_refuse(fix, "the tests of this decision are in different functions");
	for (const mla_node *n = condition; n; n = mla_node_next(n, condition, false))
		if (n->kind == MLA_N_WALRUS ||
		    (n->kind == MLA_N_NAME &&
		     mla_node_assigned(mla_kid(to->function, 1), n->name, between)))
			return mla_fix_refuse(
				fix,
				"the condition in line %u is not what it was "
				"where the later test is made",
				mla_text_line(from->module->text, condition->span.start));
	return true;
}

static mla_str symbol(bool strict, bool small)
{
	return mla_str_c(small ? strict ? "<" : "<=" : strict ? ">=" : ">");
}

/* The later test with the bound of the select, on the side it was about. */
static mla_str compared(mla_arena *arena, const mla_test *t, const mla_test *select)
{
	bool strict = select->op == MLA_OP_LT || select->op == MLA_OP_GE;
	mla_str op = symbol(strict, t->small_when_true);

	return mla_arena_format(
		arena, "%.*s %.*s %.*s", MLA_ARG(mla_text_slice(t->module->text, t->count->outer)),
		MLA_ARG(op), MLA_ARG(mla_text_slice(select->module->text, select->against->outer)));
}

static void replace(mla_fix *fix, mla_arena *arena, const mla_test *t, const mla_test *select,
                    const mla_node *condition)
{
	mla_str text = mla_node_text(select->module->text, condition);
	const mla_node *above = t->node->parent;
	bool same_side = t->small_when_true == select->small_when_true;
	bool alone = above && above->kind != MLA_N_AND && above->kind != MLA_N_NOT &&
	             t->node->outer.start == t->node->span.start;

	if (condition == select->node)
		text = compared(arena, t, select);
	else if (!same_side)
		text = mla_arena_format(arena, "not (%.*s)", MLA_ARG(text));
	else if (!alone)
		text = mla_arena_format(arena, "(%.*s)", MLA_ARG(text));
	text = mla_arena_format(arena, "%s%.*s", mla_fix_lead(t), MLA_ARG(text));
	mla_edits_add(&fix->edits, t->module, t->node->span, text);
}

int mla_fix_split_guards(mla_fix *out, mla_arena *arena, mla_project *project,
                         const mla_finding *finding, mla_form form)
{
	const mla_test *select = mla_decision_split(finding->test);
	const mla_site *s = finding->site;
	const mla_node *condition;

	if (!mla_test_is_widened(select))
		return mla_fix_absorb_threshold(out, arena, project, finding, form);
	condition = whole_condition(s, select);
	out->form = select->bound == MLA_BOUND_GEOMETRY ? MLA_FORM_GEOMETRY : MLA_FORM_CACHE_LENGTH;
	out->title = "Let every test of the decision draw the line where the first one does";
	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_test *t = s->test[i];

		if (!mla_decision_split(t))
			continue;
		if (!reaches(out, condition, select, t)) {
			out->edits.n = 0;
			return 0;
		}
		replace(out, arena, t, select, condition);
	}
	return mla_edits_finish(&out->edits);
}

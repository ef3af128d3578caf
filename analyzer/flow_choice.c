/*
 * Values that a test chooses between: `mode = "absorb" if L == 1 else "expand"`, a flag set in
 * either arm, one of two methods. Comparing such a value is making the test again.
 */
#include "analyzer/flow.h"

#include "analyzer/str.h"

enum { MAX_DEPTH = 4 };

const mla_value *mla_value_constant(mla_flow *f, mla_str text)
{
	mla_value *v = mla_value_new(f, MLA_V_CONSTANT, 0);

	v->text = text;
	return v;
}

static bool is_number(const mla_value *v)
{
	return v->kind == MLA_V_INT && v->number_known && !v->tags;
}

static bool is_constant(const mla_value *v)
{
	return v->kind == MLA_V_CONSTANT || v->kind == MLA_V_NONE || is_number(v);
}

bool mla_value_same_constant(const mla_value *a, const mla_value *b)
{
	if (a->kind != b->kind || !is_constant(a) || !is_constant(b))
		return false;
	return a->kind == MLA_V_NONE || (a->kind == MLA_V_INT && a->number == b->number) ||
	       (a->kind == MLA_V_CONSTANT && mla_str_eq(a->text, b->text));
}

static bool is_truth_value(const mla_value *v, const char *text)
{
	return v->kind == MLA_V_CONSTANT && mla_str_is(v->text, text);
}

static uint32_t depth_of(const mla_value *v)
{
	uint32_t a, b;

	if (v->kind != MLA_V_CHOICE)
		return 0;
	a = depth_of(v->element[0]);
	b = depth_of(v->element[1]);
	return 1 + (a > b ? a : b);
}

/* May it be one of the two? Functions among themselves, constants among themselves. */
static bool can_be_chosen(const mla_value *v, const mla_value *other)
{
	bool functions = v->kind == MLA_V_FUNCTION && other->kind == MLA_V_FUNCTION;

	return functions || is_constant(v) || (v->kind == MLA_V_CHOICE && depth_of(v) < MAX_DEPTH);
}

const mla_value *mla_flow_choose(mla_flow *f, const mla_value *test, const mla_value *a,
                                 const mla_value *b)
{
	const mla_value **element;
	mla_value *v;

	if (test->kind != MLA_V_TRUTH || !can_be_chosen(a, b) || !can_be_chosen(b, a) ||
	    mla_value_same_constant(a, b) ||
	    (a->kind == MLA_V_FUNCTION && a->function == b->function))
		return NULL;
	if (is_truth_value(a, "True") && is_truth_value(b, "False"))
		return test;
	if (is_truth_value(a, "False") && is_truth_value(b, "True"))
		return mla_flow_not(f, test);
	element = mla_arena_array(f->arena, 2, sizeof(*element));
	element[0] = a;
	element[1] = b;
	v = mla_value_new(f, MLA_V_CHOICE, 0);
	v->test = test;
	v->element = element;
	v->n = 2;
	return v;
}

/* What a question about a value comes to: yes, no, what a test says, or nobody knows. */
typedef struct {
	bool known;
	bool yes;
	const mla_value *test; /* TRUTH; then `yes` says nothing */
} answer;

/* Is it this constant; with NULL: does it count as true? */
static answer ask(mla_flow *f, const mla_value *v, const mla_value *constant);

static answer join(mla_flow *f, const mla_value *test, answer a, answer b)
{
	const answer unknown = {false, false, NULL};
	const mla_value *not = mla_flow_not(f, test);

	if (!a.known || !b.known)
		return unknown;
	if (!a.test && !b.test) {
		if (a.yes == b.yes)
			return a;
		return (answer){true, false, a.yes ? test : not };
	}
	if (a.test && b.test)
		return (answer){true, false, mla_flow_both(f, a.test, b.test)};
	if (a.test)
		return (answer){true, false, mla_flow_both(f, b.yes ? not : test, a.test)};
	return (answer){true, false, mla_flow_both(f, a.yes ? test : not, b.test)};
}

static answer ask(mla_flow *f, const mla_value *v, const mla_value *constant)
{
	if (v->kind == MLA_V_CHOICE)
		return join(f, v->test, ask(f, v->element[0], constant),
		            ask(f, v->element[1], constant));
	if (v->kind == MLA_V_TRUTH) {
		if (!constant || is_truth_value(constant, "True"))
			return (answer){true, false, v};
		if (is_truth_value(constant, "False"))
			return (answer){true, false, mla_flow_not(f, v)};
		return (answer){false, false, NULL};
	}
	if (!is_constant(v))
		return (answer){false, false, NULL};
	if (constant)
		return (answer){true, mla_value_same_constant(v, constant), NULL};
	return (answer){true,
	                !(v->kind == MLA_V_NONE || is_truth_value(v, "False") ||
	                  (is_number(v) && v->number == 0) ||
	                  (v->kind == MLA_V_CONSTANT && !v->text.len)),
	                NULL};
}

const mla_value *mla_flow_condition(mla_flow *f, const mla_value *v)
{
	answer a;

	if (v->kind != MLA_V_CHOICE)
		return v;
	a = ask(f, v, NULL);
	return a.known && a.test ? a.test : v;
}

/* `mode in ("absorb", "fold")`: one question for each member. */
static answer ask_members(mla_flow *f, const mla_value *v, const mla_value *members)
{
	answer all = {true, false, NULL};

	for (uint32_t i = 0; i < members->n && all.known; i++) {
		answer a = is_constant(members->element[i]) ? ask(f, v, members->element[i])
		                                            : (answer){false, false, NULL};

		if (!a.known || (a.test && all.test))
			all.known = false;
		else if (a.test || a.yes)
			all = a;
	}
	return all;
}

const mla_value *mla_flow_equal(mla_flow *f, mla_op op, const mla_value *a, const mla_value *b)
{
	bool equal = op == MLA_OP_EQ || op == MLA_OP_IS || op == MLA_OP_IN;
	answer is;

	if (a->kind != MLA_V_CHOICE && a->kind != MLA_V_TRUTH) {
		const mla_value *swap = a;

		if (op == MLA_OP_IN || op == MLA_OP_NOT_IN)
			return NULL;
		a = b;
		b = swap;
	}
	if (a->kind != MLA_V_CHOICE && a->kind != MLA_V_TRUTH)
		return NULL;
	if ((op == MLA_OP_IN || op == MLA_OP_NOT_IN) && b->kind == MLA_V_TUPLE)
		is = ask_members(f, a, b);
	else if ((equal || op == MLA_OP_NE || op == MLA_OP_IS_NOT) && is_constant(b))
		is = ask(f, a, b);
	else
		return NULL;
	if (!is.known || !is.test)
		return NULL;
	return equal ? is.test : mla_flow_not(f, is.test);
}

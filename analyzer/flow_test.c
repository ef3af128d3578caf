/* Tests of a query count: recognising them, and combining them into conditions. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

/* The variable that holds the layer, in this function or one around it. */
static mla_str layer_name(const mla_env *e)
{
	for (; e; e = e->outer)
		for (uint32_t i = 0; i < e->n; i++)
			if (e->v[i].value->kind == MLA_V_SELF)
				return e->v[i].name;
	return (mla_str){"", 0};
}

void mla_flow_other_use(const mla_value *v, const mla_node *at)
{
	for (uint32_t i = 0; v->kind == MLA_V_TRUTH && i < v->n; i++)
		if (!v->truth[i].test->other_use)
			v->truth[i].test->other_use = at;
}

static mla_test *test_at(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_test *t = NULL;

	for (uint32_t i = 0; i < f->tests.n && !t; i++)
		if (f->tests.v[i]->node == n)
			t = f->tests.v[i];
	if (!t) {
		t = mla_arena_alloc(f->arena, sizeof(*t));
		t->module = fr->module;
		t->node = n;
		t->function = fr->function;
		t->self = layer_name(fr->env);
		mla_vec_push(&f->tests, t);
	}
	for (uint32_t i = 0; i < f->touched.n; i++)
		if (f->touched.v[i] == t)
			return t;
	mla_vec_push(&f->touched, t);
	return t;
}

static const mla_value *truth_of(mla_flow *f, mla_test *t)
{
	mla_value *v = mla_value_new(f, MLA_V_TRUTH, 0);
	mla_truth *part = mla_arena_alloc(f->arena, sizeof(*part));

	*part = (mla_truth){t, t->small_when_true};
	v->truth = part;
	v->n = 1;
	return v;
}

static mla_op mirrored(mla_op op)
{
	switch (op) {
	case MLA_OP_LT:
		return MLA_OP_GT;
	case MLA_OP_LE:
		return MLA_OP_GE;
	case MLA_OP_GT:
		return MLA_OP_LT;
	case MLA_OP_GE:
		return MLA_OP_LE;
	default:
		return op;
	}
}

static mla_bound bound_of(const mla_value *v)
{
	uint32_t tags = mla_value_tags(v);

	if (tags & MLA_TAG_SIZE)
		return tags & MLA_TAG_LENGTH ? MLA_BOUND_CACHED : MLA_BOUND_GEOMETRY;
	if (tags & MLA_TAG_LENGTH) /* `L < T`: new tokens against cached ones, no threshold */
		return MLA_BOUND_UNKNOWN;
	if (tags & MLA_TAG_QUANTITY)
		return MLA_BOUND_QUANTITY;
	return v->number_known ? MLA_BOUND_CONSTANT : MLA_BOUND_UNKNOWN;
}

/* Fills in what the comparison `count op bound` says; false when it is no threshold at all. */
static bool describe(mla_test *t, mla_op op, const mla_value *bound)
{
	if (op < MLA_OP_EQ || op > MLA_OP_GE)
		return false;
	t->op = op;
	t->small_when_true = op == MLA_OP_EQ || op == MLA_OP_LT || op == MLA_OP_LE;
	t->bound = bound_of(bound);
	t->limit = bound->number - (op == MLA_OP_LT || op == MLA_OP_GE);
	return t->bound != MLA_BOUND_CONSTANT || t->limit >= 1;
}

const mla_value *mla_flow_compare(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *left, const mla_value *right)
{
	bool on_left = left->kind == MLA_V_INT && (left->tags & MLA_TAG_COUNT);
	bool on_right = right->kind == MLA_V_INT && (right->tags & MLA_TAG_COUNT);
	const mla_value *bound = on_left ? right : left;
	mla_op op = on_left ? n->op : mirrored(n->op);
	mla_test probe = {0};
	mla_test *t;

	/* `L in (1,)` is `L == 1`. */
	if ((op == MLA_OP_IN || op == MLA_OP_NOT_IN) && on_left && bound->kind == MLA_V_TUPLE &&
	    bound->n == 1) {
		bound = bound->element[0];
		op = op == MLA_OP_IN ? MLA_OP_EQ : MLA_OP_NE;
	}
	if (on_left == on_right || bound->kind == MLA_V_NONE || bound->kind == MLA_V_TUPLE ||
	    !describe(&probe, op, bound))
		return mla_value_any(f, 0);
	t = test_at(f, fr, n);
	describe(t, op, bound);
	t->count = n->kid[on_left ? 0 : 1];
	t->against = n->kid[on_left ? 1 : 0];
	return truth_of(f, t);
}

const mla_value *mla_flow_pattern(mla_flow *f, mla_frame *fr, const mla_node *pattern,
                                  const mla_value *subject)
{
	mla_value bound = {.kind = MLA_V_INT, .number_known = true};
	mla_test *t;

	if (subject->kind != MLA_V_INT || !(subject->tags & MLA_TAG_COUNT) ||
	    pattern->kind != MLA_N_INT || !mla_str_int(&bound.number, pattern->name, 1, INT32_MAX))
		return mla_value_any(f, 0);
	t = test_at(f, fr, pattern);
	describe(t, MLA_OP_EQ, &bound);
	return truth_of(f, t);
}

const mla_value *mla_flow_not(mla_flow *f, const mla_value *v)
{
	mla_value *out;
	mla_truth *part;

	if (v->kind != MLA_V_TRUTH)
		return v;
	out = mla_value_new(f, MLA_V_TRUTH, v->tags);
	part = mla_arena_array(f->arena, v->n, sizeof(*part));
	for (uint32_t i = 0; i < v->n; i++)
		part[i] = (mla_truth){v->truth[i].test, !v->truth[i].small_when_true};
	out->truth = part;
	out->n = v->n;
	return out;
}

/* Is `t` about more queries than a constant test? */
static bool is_wider(const mla_test *t, const mla_test *than)
{
	return than->bound == MLA_BOUND_CONSTANT &&
	       (t->bound != MLA_BOUND_CONSTANT || t->limit > than->limit);
}

/* and, or: either test decides which arm is taken, as far as it goes. */
const mla_value *mla_flow_both(mla_flow *f, const mla_value *a, const mla_value *b)
{
	mla_value *out;
	mla_truth *part;

	if (a->kind != MLA_V_TRUTH || b->kind != MLA_V_TRUTH)
		return a->kind == MLA_V_TRUTH ? a : b;
	out = mla_value_new(f, MLA_V_TRUTH, 0);
	part = mla_arena_array(f->arena, (size_t)a->n + b->n, sizeof(*part));
	for (uint32_t i = 0; i < a->n; i++)
		part[out->n++] = a->truth[i];
	for (uint32_t i = 0; i < b->n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < a->n; k++)
			known |= a->truth[k].test == b->truth[i].test;
		if (!known)
			part[out->n++] = b->truth[i];
	}
	for (uint32_t i = 0; i < out->n; i++)
		for (uint32_t k = 0; k < out->n; k++)
			if (is_wider(part[k].test, part[i].test) &&
			    (!part[i].test->wider || is_wider(part[k].test, part[i].test->wider)))
				part[i].test->wider = part[k].test;
	out->truth = part;
	return out;
}

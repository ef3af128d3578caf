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

static mla_bound_kind bound_of(const mla_value *v)
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

static bool is_count(const mla_value *v)
{
	return v->kind == MLA_V_INT && (v->tags & MLA_TAG_COUNT);
}

/* The last of 1, 2, ... k when these are the values of a tuple, a list or a set. */
static bool counts_up(int64_t *last, const mla_value *v)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		int64_t k = v->element[i]->number;

		if (v->element[i]->kind != MLA_V_INT || !v->element[i]->number_known || k < 1 ||
		    k > 63)
			return false;
		seen |= (uint64_t)1 << k;
	}
	*last = v->n;
	return v->n && v->n < 63 && seen == ((uint64_t)2 << v->n) - 2;
}

/* `in (1, 2, 3)`, `in range(1, 4)`: the largest member where all from 1 on are; NULL: not so. */
static const mla_value *from_one_on(mla_flow *f, mla_frame *fr, const mla_node *n,
                                    const mla_value *members)
{
	mla_value *last = mla_value_new(f, MLA_V_INT, 0);
	const mla_value *first, *end;

	last->number_known = true;
	if (members->kind == MLA_V_TUPLE)
		return counts_up(&last->number, members) ? last : NULL;
	if (n->kind != MLA_N_CALL || !mla_str_is(n->kid[0]->name, "range") || n->n < 2 || n->n > 3)
		return NULL;
	first = n->n == 3 ? mla_flow_eval(f, fr, n->kid[1]) : NULL;
	end = mla_flow_eval(f, fr, n->kid[n->n - 1]);
	if ((first && (!first->number_known || first->number > 1)) || !end->number_known)
		return NULL;
	last->number = end->number - 1;
	return last;
}

const mla_value *mla_flow_compare(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *left, const mla_value *right)
{
	bool on_left = is_count(left), on_right = is_count(right);
	const mla_value *bound = on_left ? right : left;
	mla_op op = on_left ? n->op : mirrored(n->op);
	const mla_value *members;
	mla_test probe = {0};
	mla_test *t;

	if ((op == MLA_OP_IN || op == MLA_OP_NOT_IN) && on_left &&
	    (members = from_one_on(f, fr, n->kid[1], bound))) {
		bound = members;
		op = op == MLA_OP_IN ? MLA_OP_LE : MLA_OP_GT;
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

/* Does `low op count` hold for every count there is? */
static bool always_above(const mla_value *low, mla_op op)
{
	return low->number_known && !(low->tags & MLA_TAG_COUNT) &&
	       ((op == MLA_OP_LE && low->number <= 1) || (op == MLA_OP_LT && low->number <= 0));
}

const mla_value *mla_flow_between(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *const v[3])
{
	bool up = is_count(v[1]) && always_above(v[0], n->kid[1]->op);
	bool down = is_count(v[1]) && always_above(v[2], mirrored(n->kid[3]->op));
	const mla_value *bound = up ? v[2] : v[0];
	mla_op op = up ? n->kid[3]->op : mirrored(n->kid[1]->op);
	mla_test probe = {0}, *t;

	if (up == down || (op != MLA_OP_LE && op != MLA_OP_LT) || !describe(&probe, op, bound))
		return mla_value_any(f, 0);
	t = test_at(f, fr, n);
	describe(t, op, bound);
	t->count = n->kid[2];
	t->against = n->kid[up ? 4 : 0];
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

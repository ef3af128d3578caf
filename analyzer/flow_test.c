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
	if (v->kind == MLA_V_CHOICE)
		v = v->test;
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

	*part = (mla_truth){.test = t, .small_when_true = t->small_when_true};
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

/* Fills in what the comparison `count + shift op bound` says; false when it is no threshold. */
static bool describe(mla_test *t, mla_op op, const mla_value *bound, int64_t shift)
{
	if (op < MLA_OP_EQ || op > MLA_OP_GE)
		return false;
	t->op = op;
	t->small_when_true = op == MLA_OP_EQ || op == MLA_OP_LT || op == MLA_OP_LE;
	t->bound = bound_of(bound);
	t->limit = bound->number - shift - (op == MLA_OP_LT || op == MLA_OP_GE);
	return t->bound == MLA_BOUND_CONSTANT ? t->limit >= 1 : !shift;
}

static bool is_count(const mla_value *v)
{
	return v->kind == MLA_V_INT && (v->tags & MLA_TAG_COUNT);
}

/* The L of `L - 1`, where all of the shift is written there; NULL: elsewhere, in a name. */
static const mla_node *without_shift(const mla_node *n, int64_t shift)
{
	int64_t k;

	if (!shift)
		return n;
	if (n->kind != MLA_N_BINARY)
		return NULL;
	for (uint32_t i = 0; i < 2; i++)
		if (n->kid[i]->kind == MLA_N_INT &&
		    mla_str_int(&k, n->kid[i]->name, 1, INT32_MAX) &&
		    shift == (n->op == MLA_OP_SUB ? -k : k))
			return n->kid[1 - i];
	return NULL;
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

/* No test of a count. Of a cached length, it may limit what such a test beside it decides. */
static const mla_value *other_comparison(mla_flow *f, const mla_node *n, const mla_value *left,
                                         const mla_value *right)
{
	mla_value *v = mla_value_new(f, MLA_V_ANY, 0);

	if ((left->tags & MLA_TAG_LENGTH) != (right->tags & MLA_TAG_LENGTH))
		v->length_test = n;
	v->number = (right->tags & MLA_TAG_LENGTH) != 0; /* on which side it is */
	return v;
}

const mla_value *mla_flow_compare(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *left, const mla_value *right)
{
	bool on_left = is_count(left), on_right = is_count(right);
	const mla_value *bound = on_left ? right : left;
	mla_op op = on_left ? n->op : mirrored(n->op);
	const mla_value *members, *again = mla_flow_equal(f, n->op, left, right);
	mla_test probe = {0};
	const mla_node *count;
	int64_t shift = bound == right ? left->number : right->number;
	mla_test *t;

	if (again)
		return again;
	if (bound->number_known && (op == MLA_OP_IS || op == MLA_OP_IS_NOT))
		op = op == MLA_OP_IS ? MLA_OP_EQ : MLA_OP_NE;

	if ((op == MLA_OP_IN || op == MLA_OP_NOT_IN) && on_left && !shift &&
	    (members = from_one_on(f, fr, n->kid[1], bound))) {
		bound = members;
		op = op == MLA_OP_IN ? MLA_OP_LE : MLA_OP_GT;
	}
	if (on_left == on_right || bound->kind == MLA_V_NONE || bound->kind == MLA_V_TUPLE ||
	    !(count = without_shift(n->kid[on_left ? 0 : 1], shift)) ||
	    !describe(&probe, op, bound, shift))
		return other_comparison(f, n, left, right);
	t = test_at(f, fr, n);
	describe(t, op, bound, shift);
	t->count = count;
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
	bool plain = is_count(v[1]) && !v[1]->number;
	bool up = plain && always_above(v[0], n->kid[1]->op);
	bool down = plain && always_above(v[2], mirrored(n->kid[3]->op));
	const mla_value *bound = up ? v[2] : v[0];
	mla_op op = up ? n->kid[3]->op : mirrored(n->kid[1]->op);
	mla_test probe = {0}, *t;

	if (up == down || (op != MLA_OP_LE && op != MLA_OP_LT) || !describe(&probe, op, bound, 0))
		return mla_value_any(f, 0);
	t = test_at(f, fr, n);
	describe(t, op, bound, 0);
	t->count = n->kid[2];
	t->against = n->kid[up ? 4 : 0];
	return truth_of(f, t);
}

bool mla_pattern_takes_all(const mla_node *c)
{
	const mla_node *pattern = mla_kid(c, 0);

	return pattern && !mla_kid(c, 1) &&
	       (pattern->kind == MLA_N_WILDCARD || pattern->kind == MLA_N_NAME);
}

/* The largest of the numbers that a pattern is made of, when these are all from 1 (or 0) on. */
static bool numbers_of(int64_t *last, const mla_node *pattern)
{
	uint64_t seen = 0;
	uint32_t n = pattern->kind == MLA_N_PATTERN_OR ? pattern->n : 1;

	*last = 0;
	for (uint32_t i = 0; i < n; i++) {
		const mla_node *k = pattern->kind == MLA_N_PATTERN_OR ? pattern->kid[i] : pattern;
		int64_t v;

		if (k->kind != MLA_N_INT || !mla_str_int(&v, k->name, 0, n > 1 ? 62 : INT32_MAX))
			return false;
		seen |= n > 1 ? (uint64_t)1 << v : 0;
		*last = v > *last ? v : *last;
	}
	return *last && (n == 1 || (seen | 1) == ((uint64_t)2 << *last) - 1);
}

/*
 * The expression that can be compared in place of the pattern: the subject, where it is a plain one
 * and no other number is asked for behind the pattern. NULL: there is none.
 */
static const mla_node *comparable(const mla_node *pattern)
{
	const mla_node *c = pattern->parent, *match = c->parent, *subject;

	if (c->kind != MLA_N_CASE || mla_kid(c, 1) || match->kind != MLA_N_MATCH)
		return NULL;
	subject = match->kid[0];
	for (const mla_node *n = subject; n; n = mla_node_next(n, subject, false))
		if (n->kind != MLA_N_NAME && n->kind != MLA_N_ATTRIBUTE &&
		    n->kind != MLA_N_SUBSCRIPT && n->kind != MLA_N_INT && n->kind != MLA_N_UNARY)
			return NULL;
	for (uint32_t i = c->index + 1; i < match->n; i++)
		if (!mla_pattern_takes_all(match->kid[i]))
			return NULL;
	return subject;
}

static const mla_value *count_pattern(mla_flow *f, mla_frame *fr, const mla_node *pattern)
{
	mla_value bound = {.kind = MLA_V_INT, .number_known = true};
	mla_test *t;

	if (!numbers_of(&bound.number, pattern))
		return mla_value_any(f, 0);
	t = test_at(f, fr, pattern);
	describe(t, pattern->kind == MLA_N_PATTERN_OR ? MLA_OP_LE : MLA_OP_EQ, &bound, 0);
	t->count = comparable(pattern);
	t->against = pattern;
	return truth_of(f, t);
}

const mla_value *mla_flow_pattern(mla_flow *f, mla_frame *fr, const mla_node *pattern,
                                  const mla_value *subject)
{
	const mla_value *v, *out = NULL;

	if (is_count(subject))
		return subject->number ? mla_value_any(f, 0) : count_pattern(f, fr, pattern);
	/* case (_, 1, _) of x.shape */
	if ((pattern->kind == MLA_N_TUPLE || pattern->kind == MLA_N_LIST) &&
	    (subject->kind == MLA_V_SHAPE || subject->kind == MLA_V_TUPLE))
		for (uint32_t i = 0; i < pattern->n && pattern->n < MLA_ARGUMENTS_MAX; i++) {
			if (subject->kind == MLA_V_TUPLE && subject->n != pattern->n)
				break;
			v = subject->kind == MLA_V_TUPLE
			            ? subject->element[i]
			            : mla_value_axis(f, subject, (int)i, pattern->n);
			if (pattern->kid[i]->kind == MLA_N_INT)
				v = mla_flow_pattern(f, fr, pattern->kid[i], v);
			if (v->kind == MLA_V_TRUTH)
				out = out ? mla_flow_both(f, out, v) : v;
		}
	else if (pattern->kind == MLA_N_TRUE || pattern->kind == MLA_N_FALSE ||
	         pattern->kind == MLA_N_STRING || pattern->kind == MLA_N_INT)
		out = mla_flow_equal(f, MLA_OP_EQ, subject, mla_flow_eval(f, fr, pattern));
	return out ? out : mla_value_any(f, 0);
}

const mla_value *mla_flow_not(mla_flow *f, const mla_value *v)
{
	mla_value *out;
	mla_truth *part;

	v = mla_flow_condition(f, v);
	if (v->kind != MLA_V_TRUTH)
		return v;
	out = mla_value_new(f, MLA_V_TRUTH, v->tags);
	part = mla_arena_array(f->arena, v->n, sizeof(*part));
	for (uint32_t i = 0; i < v->n; i++)
		part[i] = (mla_truth){v->truth[i].test, !v->truth[i].small_when_true,
		                      v->truth[i].open_if_false, v->truth[i].open_if_true};
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

	a = mla_flow_condition(f, a);
	b = mla_flow_condition(f, b);
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

/*
 * `L > 1 and total <= most`: many queries take their arm only while the cache is short.
 * `L == 1 or total > most` says the same.
 */
static const mla_node *short_cache(const mla_node *n, const mla_truth *part,
                                   const mla_value *length)
{
	const mla_node *c = length->length_test;
	bool conjunction = n->kind == MLA_N_AND;
	mla_op op;

	if (!c || part->small_when_true == conjunction)
		return NULL;
	op = length->number ? mirrored(c->op) : c->op;
	return (conjunction ? op == MLA_OP_LE || op == MLA_OP_LT
	                    : op == MLA_OP_GE || op == MLA_OP_GT)
	               ? c
	               : NULL;
}

const mla_value *mla_flow_logic(mla_flow *f, const mla_node *n, const mla_value *a,
                                const mla_value *b)
{
	const mla_value *both = mla_flow_both(f, a, b);
	const mla_value *beside = a->kind == MLA_V_TRUTH ? b : a;
	mla_truth *part = mla_arena_array(f->arena, both->n, sizeof(*part));
	mla_value *v = mla_value_new(f, MLA_V_TRUTH, both->tags);

	for (uint32_t i = 0; i < both->n; i++) {
		part[i] = both->truth[i];
		part[i].open_if_true |= n->kind == MLA_N_OR;
		part[i].open_if_false |= n->kind == MLA_N_AND;
		if (!part[i].test->short_cache)
			part[i].test->short_cache = short_cache(n, &part[i], beside);
	}
	v->truth = part;
	v->n = both->n;
	return v;
}

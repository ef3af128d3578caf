/* Tests of a query count in the abstract execution: comparisons and switches. */
#include "analyzer/c_flow.h"

enum { SHIFT_MAX = 1 << 30 };

mla_test *mla_c_test(mla_c_flow *f, const mla_c_frame *fr, const mla_node *node)
{
	mla_test *t;

	for (uint32_t i = 0; i < f->tests.n; i++)
		if (f->tests.v[i]->node == node)
			return f->tests.v[i];
	t = mla_arena_alloc(f->arena, sizeof(*t));
	t->module = fr->module;
	t->node = node;
	t->function = mla_node_function(node);
	mla_vec_push(&f->tests, t);
	return t;
}

static bool constant_of(int64_t *value, const mla_node *n)
{
	for (; n; n = n->kind == MLA_N_CAST ? n->kid[0] : NULL)
		if (n->c && n->c->value_known) {
			*value = n->c->value;
			return true;
		}
	return false;
}

/* `n - 1`, `n + 2`, `n`: the operand without the constant that is added to it. */
static const mla_node *without_shift(const mla_node *n, int64_t *shift)
{
	int64_t value = 0;

	n = mla_c_without_casts(n);
	*shift = 0;
	if (!n || n->kind != MLA_N_BINARY || (n->op != MLA_OP_SUB && n->op != MLA_OP_ADD) ||
	    !constant_of(&value, mla_kid(n, 1)) || value < -SHIFT_MAX || value > SHIFT_MAX)
		return n;
	*shift = n->op == MLA_OP_ADD ? value : -value;
	return mla_c_without_casts(n->kid[0]);
}

/* By its name; or, against a positive constant, by the loop over queries that it ends. */
static bool is_count(mla_c_flow *f, mla_c_frame *fr, const mla_node *whole, mla_c_value v,
                     const mla_node *against)
{
	enum { LEVELS = 3 };
	int64_t value = 0, shift;
	const mla_node *n = without_shift(whole, &shift);

	if (shift && n)
		v = mla_c_eval(f, fr, n);
	if (!n || (n->kind != MLA_N_NAME && n->kind != MLA_N_ATTRIBUTE))
		return false;
	if (v.tags & MLA_C_COUNT)
		return !(v.tags & (MLA_C_TENSOR | MLA_C_LENGTH));
	return !v.tags && n->c && n->c->integer && mla_decl_of(n) != MLA_DECL_CONSTANT &&
	       constant_of(&value, against) && value - shift >= 1 &&
	       mla_c_bounds_queries(f, fr->function, n->c->id, LEVELS);
}

static mla_op mirrored(mla_op op)
{
	switch (op) {
	case MLA_OP_LT:
		return MLA_OP_GT;
	case MLA_OP_GT:
		return MLA_OP_LT;
	case MLA_OP_LE:
		return MLA_OP_GE;
	case MLA_OP_GE:
		return MLA_OP_LE;
	default:
		return op;
	}
}

/* Does a loop end by this comparison? */
static bool ends_loop(const mla_node *n)
{
	const mla_node *p = n->parent;

	for (; p && (p->kind == MLA_N_AND || p->kind == MLA_N_OR || p->kind == MLA_N_NOT);
	     p = p->parent)
		n = p;
	return p && ((p->kind == MLA_N_LOOP && n->index == 1) ||
	             (p->kind == MLA_N_WHILE && n->index == 0) ||
	             (p->kind == MLA_N_DO && n->index == 1));
}

/* What the count is compared with. False: with nothing that makes it a test of a query count. */
static bool take_bound(mla_test *t, mla_c_value bound)
{
	const uint32_t sizes = MLA_C_RANK | MLA_C_NOPE | MLA_C_VDIM | MLA_C_HEAD_K;
	int64_t shift;

	t->count = without_shift(t->count, &shift);
	t->bound = MLA_BOUND_QUANTITY;
	if (constant_of(&t->limit, t->against)) {
		if (shift && (t->limit > INT64_MAX / 2 || t->limit < INT64_MIN / 2))
			return false;
		t->limit -= shift;
		t->bound = MLA_BOUND_CONSTANT;
		if (t->op == MLA_OP_LT || t->op == MLA_OP_GE)
			t->limit--;
		return t->limit >= 1;
	}
	if (bound.tags & sizes)
		t->bound = bound.tags & MLA_C_LENGTH ? MLA_BOUND_CACHED : MLA_BOUND_GEOMETRY;
	else if (bound.tags & (MLA_C_COUNT | MLA_C_LENGTH | MLA_C_NEW_INDEX))
		return false;
	return t->op != MLA_OP_EQ && t->op != MLA_OP_NE && !ends_loop(t->node);
}

static mla_c_value truth_of(mla_c_flow *f, mla_test *t, bool small_when_true)
{
	mla_c_truth *v = mla_arena_alloc(f->arena, sizeof(*v));

	*v = (mla_c_truth){t, small_when_true, true, true};
	return (mla_c_value){.truth = {v, 1}};
}

static bool is_length_test(const mla_node *n, mla_c_value left, mla_c_value right)
{
	int64_t value;

	return ((left.tags & MLA_C_LENGTH) && constant_of(&value, mla_kid(n, 1))) ||
	       ((right.tags & MLA_C_LENGTH) && constant_of(&value, mla_kid(n, 0)));
}

/* A parameter that got a constant, against another one. */
static mla_c_value compare_known(const mla_node *n, mla_c_value left, mla_c_value right)
{
	int64_t value = 0;
	bool known = constant_of(&value, left.known ? mla_kid(n, 1) : mla_kid(n, 0)) &&
	             (n->op == MLA_OP_EQ || n->op == MLA_OP_NE);
	bool equal = (left.known ? left.constant : right.constant) == value;

	return (mla_c_value){.known = known, .constant = equal == (n->op == MLA_OP_EQ)};
}

/* `flag == true`, `mode != EXPAND`: what a test was turned into, against a constant. */
static mla_c_truths compare_outcome(mla_c_flow *f, const mla_node *n, mla_c_value left,
                                    mla_c_value right)
{
	bool on_left = left.choice.n || left.truth.n;
	mla_c_value v = on_left ? left : right;
	mla_c_truths truth = {0};
	int64_t value = 0;

	if (!constant_of(&value, on_left ? mla_kid(n, 1) : mla_kid(n, 0)) ||
	    (n->op != MLA_OP_EQ && n->op != MLA_OP_NE))
		return truth;
	if (v.choice.n)
		truth = mla_c_chosen(f, v.choice, value, false);
	if (!truth.n && v.truth.n && (value == 0 || value == 1))
		truth = value ? v.truth : mla_c_negate(f, v.truth);
	return n->op == MLA_OP_EQ ? truth : mla_c_negate(f, truth);
}

mla_c_value mla_c_compare(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value left = mla_kid(n, 0) ? mla_c_eval(f, fr, n->kid[0]) : (mla_c_value){0};
	mla_c_value right = mla_kid(n, 1) ? mla_c_eval(f, fr, n->kid[1]) : (mla_c_value){0};
	bool on_left = is_count(f, fr, mla_kid(n, 0), left, mla_kid(n, 1));
	mla_test found = {.node = n}, *t;
	mla_c_truths outcome;

	if (left.known || right.known)
		return compare_known(n, left, right);
	outcome = compare_outcome(f, n, left, right);
	if (outcome.n || left.truth.n || right.truth.n)
		return (mla_c_value){.truth = outcome};
	if (!on_left && !is_count(f, fr, mla_kid(n, 1), right, mla_kid(n, 0)))
		return (mla_c_value){.length_test = is_length_test(n, left, right) ? n : NULL};
	found.op = on_left ? (mla_op)n->op : mirrored((mla_op)n->op);
	found.count = n->kid[on_left ? 0 : 1];
	found.against = n->kid[on_left ? 1 : 0];
	found.small_when_true =
		found.op == MLA_OP_LE || found.op == MLA_OP_LT || found.op == MLA_OP_EQ;
	if (!take_bound(&found, on_left ? right : left))
		return (mla_c_value){0};
	t = mla_c_test(f, fr, n);
	t->op = found.op;
	t->count = found.count;
	t->against = found.against;
	t->small_when_true = found.small_when_true;
	t->bound = found.bound;
	t->limit = found.limit;
	return truth_of(f, t, t->small_when_true);
}

/* The labels 1, 2, 3 ... in a row that come first, as one test of the subject. */
static mla_test *label_test(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *body = mla_kid(n, 1), *first = NULL;
	int64_t limit = 0;
	mla_test *t;

	for (const mla_node *x = body; x; x = mla_node_next(x, body, x->kind == MLA_N_SWITCH))
		if (x->kind == MLA_N_LABEL && x->kid[0] && x->c->value_known &&
		    x->c->value == limit + 1) {
			first = first ? first : x->kid[0];
			limit++;
		}
	if (!first)
		return NULL;
	t = mla_c_test(f, fr, first);
	t->op = MLA_OP_EQ;
	t->against = first;
	t->small_when_true = true;
	t->bound = MLA_BOUND_CONSTANT;
	t->limit = limit;
	return t;
}

enum { LABELS_MAX = 64 };

/* The labels of a switch over what a test was turned into. */
typedef struct {
	int64_t value[LABELS_MAX];
	uint32_t n;
} labels;

static void find_labels(labels *out, const mla_node *body)
{
	out->n = 0;
	for (uint32_t i = 0; i < body->n; i++)
		for (const mla_node *x = body->kid[i]; x && x->kind == MLA_N_LABEL; x = x->kid[1])
			if (x->kid[0] && x->c->value_known && out->n < LABELS_MAX)
				out->value[out->n++] = x->c->value;
}

static bool has_label(const labels *l, int64_t value)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->value[i] == value)
			return true;
	return false;
}

static mla_c_truths label_truth(mla_c_flow *f, const mla_node *label, mla_c_value subject,
                                const labels *l)
{
	bool is_default = !label->kid[0];
	mla_c_truths truth = {0};

	if (!is_default && !label->c->value_known)
		return truth;
	if (subject.choice.n)
		truth = is_default ? mla_c_chosen_none(f, subject.choice, l->value, l->n)
		                   : mla_c_chosen(f, subject.choice, label->c->value, false);
	if (truth.n || !subject.truth.n)
		return truth;
	if (is_default ? has_label(l, 0) : label->c->value != 0)
		return subject.truth;
	return mla_c_negate(f, subject.truth);
}

void mla_c_switch(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value subject = mla_kid(n, 0) ? mla_c_eval(f, fr, n->kid[0]) : (mla_c_value){0};
	const mla_node *body = mla_kid(n, 1);
	mla_test *t = is_count(f, fr, mla_kid(n, 0), subject, NULL) ? label_test(f, fr, n) : NULL;
	uint32_t mark = f->guards.n;
	labels all;

	if (!body || body->kind != MLA_N_BLOCK) {
		mla_c_exec(f, fr, body);
		return;
	}
	find_labels(&all, body);
	for (uint32_t i = 0; i < body->n; i++) {
		const mla_node *x = body->kid[i];

		while (x && x->kind == MLA_N_LABEL) {
			bool small = x->kid[0] && x->c->value_known && t && x->c->value >= 1 &&
			             x->c->value <= t->limit;

			mla_c_pop(f, mark);
			if (t)
				mla_vec_push(&f->guards,
				             ((mla_c_guard){t, small, true, f->guards.n}));
			else
				mla_c_push(f, label_truth(f, x, subject, &all), true);
			x = x->kid[1];
		}
		mla_c_exec(f, fr, x);
	}
	mla_c_pop(f, mark);
}

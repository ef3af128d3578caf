/* Conditions around a place, taken apart into tests. */
#include "analyzer/pool_gate.h"

#include "analyzer/str.h"

/* A condition has a few parts; the steps end one that is written to lead to ever more. */
enum { MAX_DEPTH = 24, MAX_STEPS = 2000 };

static void push(mla_pool_guards *g, const mla_trace_frame *fr, const mla_node *expr, bool holds,
                 const mla_node *chooser, bool before)
{
	if (expr && g->n < MLA_POOL_CONDITIONS)
		g->v[g->n++] = (mla_pool_condition){fr, expr, holds, chooser, before};
}

/* Statements before the place that leave in one of their cases. */
static void earlier(mla_pool_guards *g, const mla_trace_frame *fr, const mla_node *block,
                    uint32_t until)
{
	for (uint32_t i = until; i > 0; i--) {
		const mla_node *n = block->kid[i - 1];

		if (n->kind == MLA_N_ASSERT)
			push(g, fr, mla_kid(n, 0), true, n, true);
		if (n->kind != MLA_N_IF)
			continue;
		if (mla_trace_exits(n->kid[1]))
			push(g, fr, n->kid[0], false, n, true);
		else if (mla_kid(n, 2) && mla_trace_exits(n->kid[2]))
			push(g, fr, n->kid[0], true, n, true);
	}
}

static void around(mla_pool_guards *g, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *p = n->parent;

	switch ((mla_kind)p->kind) {
	case MLA_N_IF:
	case MLA_N_CONDITION:
		if (n->index > 0)
			push(g, fr, p->kid[0], n->index == 1, p, false);
		break;
	case MLA_N_AND:
		if (n->index == 1)
			push(g, fr, p->kid[0], true, p, false);
		break;
	case MLA_N_OR:
		if (n->index == 1)
			push(g, fr, p->kid[0], false, p, false);
		break;
	case MLA_N_CASE:
		if (n->index == 2)
			push(g, fr, p->kid[0], true, p->parent, false);
		if (n->index == 2 && mla_kid(p, 1))
			push(g, fr, p->kid[1], true, p->parent, false);
		break;
	case MLA_N_BLOCK:
		earlier(g, fr, p, n->index);
		break;
	default:
		break;
	}
}

void mla_pool_conditions(mla_pool_guards *out, const mla_trace_frame *fr, const mla_node *place)
{
	for (; fr; place = fr->call, fr = fr->caller)
		for (const mla_node *n = place; n && n->parent && n != fr->function; n = n->parent)
			around(out, fr, n);
}

const mla_node *mla_pool_flag(const mla_trace_frame *fr, const mla_node *name)
{
	mla_reachings r;

	mla_trace_reach(&r, fr, name);
	return r.n == 1 && !r.open && r.v[0].part < 0 ? r.v[0].value : NULL;
}

typedef struct {
	mla_pool_guards *g;
	mla_trace *t;
	uint32_t condition, depth, steps;
} splitter;

static void split(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                  const mla_node *operand);

static void atom(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                 const mla_node *operand)
{
	if (s->g->atoms < MLA_POOL_ATOMS)
		s->g->atom[s->g->atoms++] = (mla_pool_atom){fr, n, holds, operand, s->condition};
}

static bool is_constant(const mla_node *n)
{
	return !n || n->kind == MLA_N_FALSE || n->kind == MLA_N_TRUE || n->kind == MLA_N_NONE;
}

/* The one return that can give this outcome, with the conditions that lead to it. */
static void split_result(splitter *s, const mla_trace_frame *fr, bool holds,
                         const mla_node *operand)
{
	const mla_node *body = mla_kid(fr->function, 1), *only = NULL;
	mla_pool_guards *inner;
	mla_trace_frame top = *fr;
	uint32_t returns = 0;

	if (fr->function->kind == MLA_N_LAMBDA) {
		split(s, fr, body, holds, operand);
		return;
	}
	for (const mla_node *n = body; n;
	     n = mla_node_next(n, body, n->kind == MLA_N_FUNCTION || n->kind == MLA_N_LAMBDA)) {
		const mla_node *v = n->kind == MLA_N_RETURN ? mla_kid(n, 0) : NULL;

		if (n->kind != MLA_N_RETURN ||
		    (is_constant(v) && holds != (v && v->kind == MLA_N_TRUE)))
			continue;
		only = n;
		returns++;
	}
	if (returns != 1)
		return;
	inner = mla_arena_alloc(s->t->arena, sizeof(*inner));
	top.caller = NULL;
	mla_pool_conditions(inner, &top, only);
	for (uint32_t i = 0; i < inner->n; i++)
		split(s, fr, inner->v[i].expr, inner->v[i].holds, operand);
	if (!is_constant(mla_kid(only, 0)))
		split(s, fr, only->kid[0], holds, operand);
}

static void split_call(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                       const mla_node *operand)
{
	const mla_trace_frame *inner = mla_trace_enter(s->t, fr, n);

	if (n->kid[0]->kind == MLA_N_NAME && mla_str_is(n->kid[0]->name, "bool") && n->n == 2)
		split(s, fr, n->kid[1], holds, operand);
	else if (inner)
		split_result(s, inner, holds, operand);
	else
		atom(s, fr, n, holds, operand);
}

/* The name whose presence the test is about: `memo`, `memo is not None`; NULL: another test. */
static const mla_node *present(const mla_node *n, bool holds)
{
	bool is = n->op == MLA_OP_IS || n->op == MLA_OP_EQ;

	if (n->kind == MLA_N_NAME)
		return holds ? n : NULL;
	if (n->kind == MLA_N_NOT)
		return mla_kid(n, 0) ? present(n->kid[0], !holds) : NULL;
	if (n->kind != MLA_N_COMPARE || n->kid[0]->kind != MLA_N_NAME ||
	    n->kid[1]->kind != MLA_N_NONE || holds == is)
		return NULL;
	return is || n->op == MLA_OP_IS_NOT || n->op == MLA_OP_NE ? n->kid[0] : NULL;
}

/* A condition with this outcome, while `name` is something: what is left of it when its own tests
 * of that are taken away. */
static void split_rest(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                       mla_str name, const mla_node *operand)
{
	if ((n->kind == MLA_N_AND && !holds) || (n->kind == MLA_N_OR && holds))
		for (uint32_t i = 0; i < 2; i++) {
			const mla_node *about = present(n->kid[i], !holds);

			if (about && mla_str_eq(about->name, name)) {
				split_rest(s, fr, n->kid[1 - i], holds, name, operand);
				return;
			}
		}
	split(s, fr, n, holds, operand);
}

/* `if memo[1] != T - S: memo = None` before it: what is something still has passed that test. */
static void split_resets(splitter *s, const mla_trace_frame *fr, const mla_node *name,
                         const mla_node *operand)
{
	mla_trace_frame top = *fr;
	mla_reachings r;

	mla_trace_reach(&r, fr, name);
	top.caller = NULL;
	for (uint32_t i = 0; i < r.n; i++) {
		const mla_node *v = r.v[i].value;
		mla_pool_guards *g;

		if (!v || (v->kind != MLA_N_NONE && v->kind != MLA_N_FALSE) || r.v[i].part >= 0)
			continue;
		g = mla_arena_alloc(s->t->arena, sizeof(*g));
		mla_pool_conditions(g, &top, r.v[i].target);
		/* Around the others there may be more that led here. */
		if (g->n && !g->v[0].before &&
		    (g->n == 1 || mla_node_within(name, g->v[1].chooser)))
			split_rest(s, fr, g->v[0].expr, !g->v[0].holds, name->name, operand);
	}
}

/* A flag stands for what it is bound to, a parameter for what the call gives. */
static void split_name(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                       const mla_node *operand)
{
	const mla_node *value = mla_pool_flag(fr, n);
	const mla_node *p = mla_parameter(fr->function, n->name);
	mla_reachings r;

	if (value) {
		split(s, fr, value, holds, operand);
		return;
	}
	mla_trace_reach(&r, fr, n);
	if (!r.n && p && fr->call && mla_trace_argument(fr, p)) {
		split(s, fr->caller, mla_trace_argument(fr, p), holds, operand);
		return;
	}
	atom(s, fr, n, holds, operand);
	if (holds)
		split_resets(s, fr, n, operand);
}

static void split(splitter *s, const mla_trace_frame *fr, const mla_node *n, bool holds,
                  const mla_node *operand)
{
	if (!n || s->depth == MAX_DEPTH || s->steps == MAX_STEPS)
		return;
	s->steps++;
	s->depth++;
	switch ((mla_kind)n->kind) {
	case MLA_N_NOT:
		split(s, fr, mla_kid(n, 0), !holds, operand);
		break;
	case MLA_N_AND:
	case MLA_N_OR:
		/* Of a disjunction no part is known. A flag's parts are the flag's, not the
		   condition's. */
		if (holds == (n->kind == MLA_N_AND))
			for (uint32_t i = 0; i < 2; i++)
				split(s, fr, n->kid[i], holds, operand == n ? n->kid[i] : operand);
		else
			atom(s, fr, n, holds, operand);
		break;
	case MLA_N_WALRUS:
		split(s, fr, mla_kid(n, 1), holds, operand);
		break;
	case MLA_N_NAME:
		split_name(s, fr, n, holds, operand);
		break;
	case MLA_N_CALL:
		split_call(s, fr, n, holds, operand);
		break;
	default:
		atom(s, fr, n, holds, operand);
		if (present(n, holds))
			split_resets(s, fr, present(n, holds), operand);
		break;
	}
	s->depth--;
}

const mla_node *mla_pool_written(const mla_trace_frame *fr, const mla_node *n, bool *holds)
{
	const mla_node *value;

	for (int i = 0; i < MAX_DEPTH; i++) {
		while (n->kind == MLA_N_NOT && mla_kid(n, 0)) {
			n = n->kid[0];
			*holds = !*holds;
		}
		value = n->kind == MLA_N_NAME ? mla_pool_flag(fr, n) : NULL;
		if (!value || (value->kind != MLA_N_AND && value->kind != MLA_N_OR &&
		               value->kind != MLA_N_COMPARE && value->kind != MLA_N_NOT))
			break;
		n = value;
	}
	return n;
}

void mla_pool_atoms(mla_pool_guards *g, mla_trace *t)
{
	splitter s = {.g = g, .t = t};

	g->atoms = 0;
	for (s.condition = 0; s.condition < g->n; s.condition++) {
		const mla_pool_condition *c = &g->v[s.condition];
		bool holds = c->holds;
		const mla_node *n = mla_pool_written(c->frame, c->expr, &holds);

		split(&s, c->frame, n, holds, n);
	}
}

const mla_node *mla_pool_other_arm(const mla_pool_condition *c)
{
	const mla_node *n = c->chooser;

	if (n->kind == MLA_N_IF || n->kind == MLA_N_CONDITION)
		return mla_kid(n, c->holds ? 2 : 1);
	return n->kind == MLA_N_MATCH ? n : NULL;
}

static bool number(mla_trace *t, const mla_trace_frame *fr, const mla_node *n, int64_t *out)
{
	const mla_scope scope = {t->project, NULL, NULL, fr->module, NULL};
	mla_number v;

	/* (1,) of `S in (1,)` */
	if ((n->kind == MLA_N_TUPLE || n->kind == MLA_N_LIST || n->kind == MLA_N_SET) && n->n == 1)
		n = n->kid[0];
	v = mla_evaluate(&scope, n);
	*out = v.value;
	return v.known == MLA_IS_INT && !mla_parameter(fr->function, n->name);
}

/* Does `count op bound`, being true or not, leave one and nothing above it? */
static bool leaves_one(mla_op op, bool holds, int64_t bound)
{
	switch (op) {
	case MLA_OP_EQ:
	case MLA_OP_LE:
	case MLA_OP_IN:
	case MLA_OP_IS:
		return holds && bound == 1;
	case MLA_OP_NE:
	case MLA_OP_GT:
	case MLA_OP_NOT_IN:
	case MLA_OP_IS_NOT:
		return !holds && bound == 1;
	case MLA_OP_LT:
		return holds && bound == 2;
	case MLA_OP_GE:
		return !holds && bound == 2;
	default:
		return false;
	}
}

static mla_op mirrored(mla_op op)
{
	return op == MLA_OP_LT   ? MLA_OP_GT
	       : op == MLA_OP_LE ? MLA_OP_GE
	       : op == MLA_OP_GT ? MLA_OP_LT
	       : op == MLA_OP_GE ? MLA_OP_LE
	                         : op;
}

/* `case 1:` of a match on the count */
static bool single_pattern(mla_trace *t, const mla_pool_atom *a)
{
	const mla_node *c = a->node->parent;
	int64_t bound;

	return a->holds && c && c->kind == MLA_N_CASE && c->kid[0] == a->node &&
	       number(t, a->frame, a->node, &bound) && bound == 1 &&
	       (mla_trace_tags(t, a->frame, c->parent->kid[0]) & MLA_TR_COUNT);
}

/* `S - 1 == 0` is about S: the operand without the constant, which the bound gets. */
static const mla_node *without_shift(mla_trace *t, const mla_trace_frame *fr, const mla_node *n,
                                     int64_t *bound)
{
	int64_t k;

	if (n->kind != MLA_N_BINARY || (n->op != MLA_OP_ADD && n->op != MLA_OP_SUB) ||
	    !number(t, fr, n->kid[1], &k))
		return n;
	*bound += n->op == MLA_OP_SUB ? k : -k;
	return n->kid[0];
}

bool mla_pool_is_single(mla_trace *t, const mla_pool_atom *a)
{
	const mla_node *n = a->node, *count;
	int64_t bound;

	if (n->kind == MLA_N_INT)
		return single_pattern(t, a);
	if (n->kind != MLA_N_COMPARE)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t tags;

		if (!number(t, a->frame, n->kid[1 - i], &bound))
			continue;
		count = without_shift(t, a->frame, n->kid[i], &bound);
		if (!leaves_one(i ? mirrored(n->op) : n->op, a->holds, bound))
			continue;
		tags = mla_trace_tags(t, a->frame, count);
		if ((tags & MLA_TR_COUNT) && !(tags & (MLA_TR_QUOTIENT | MLA_TR_MEMORY)))
			return true;
	}
	return false;
}

bool mla_pool_is_length(mla_trace *t, const mla_pool_atom *a, bool *one)
{
	const uint32_t lengths = MLA_TR_LENGTH | MLA_TR_COUNT | MLA_TR_STEP;
	const mla_node *n = a->node;
	uint32_t x, y;
	int64_t bound;

	if (n->kind != MLA_N_COMPARE || a->holds != (n->op == MLA_OP_EQ) ||
	    (n->op != MLA_OP_EQ && n->op != MLA_OP_NE))
		return false;
	x = mla_trace_tags(t, a->frame, n->kid[0]);
	y = mla_trace_tags(t, a->frame, n->kid[1]);
	if ((x | y) & MLA_TR_QUOTIENT || !((x | y) & MLA_TR_MEMORY) || !((x | y) & lengths))
		return false;
	*one = !((x | y) & (MLA_TR_STEP | MLA_TR_COUNT)) &&
	       ((x | y) & MLA_TR_ONE || (number(t, a->frame, n->kid[1], &bound) && bound == 1) ||
	        (number(t, a->frame, n->kid[0], &bound) && bound == 1));
	return true;
}

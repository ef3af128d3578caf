/* Calls between the functions of a scan, and places that exclude each other. */
#include "analyzer/c_calls.h"

enum { DEEPEST = 4, WIDEST = 64 };

/* A place, or the call in a caller that leads to it. */
typedef struct {
	const mla_node *at;
	uint32_t depth;
} place;

typedef struct {
	place v[WIDEST];
	uint32_t n;
} places;

static int by_callee(const void *pa, const void *pb)
{
	const mla_c_edge *a = pa, *b = pb;

	return (uintptr_t)a->callee < (uintptr_t)b->callee ? -1 : a->callee != b->callee;
}

void mla_c_calls_build(mla_c_calls *out, mla_c_flow *f)
{
	for (uint32_t i = 0; i < f->functions.n; i++) {
		const mla_node *root = f->functions.v[i].node;

		for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
			mla_c_entry *e = n->kind == MLA_N_CALL
			                         ? mla_c_find(f, n->c ? n->c->id : 0, n->name)
			                         : NULL;

			if (!e || e == &f->functions.v[i])
				continue;
			e->called = true;
			mla_vec_push(&out->edges, ((mla_c_edge){e->node, n}));
		}
	}
	if (out->edges.n)
		qsort(out->edges.v, out->edges.n, sizeof(*out->edges.v), by_callee);
}

static uint32_t first_edge(const mla_c_calls *c, const mla_node *callee)
{
	uint32_t low = 0, high = c->edges.n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if ((uintptr_t)c->edges.v[mid].callee < (uintptr_t)callee)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The place and the calls that lead to it, nearest first. */
static void find_places(places *out, const mla_c_calls *c, const mla_node *at)
{
	out->v[0] = (place){at, 0};
	out->n = 1;
	for (uint32_t i = 0; i < out->n && out->v[i].depth < DEEPEST; i++) {
		const mla_node *function = mla_node_function(out->v[i].at);

		for (uint32_t e = first_edge(c, function);
		     e < c->edges.n && c->edges.v[e].callee == function && out->n < WIDEST; e++)
			out->v[out->n++] = (place){c->edges.v[e].call, out->v[i].depth + 1};
	}
}

static bool leaves(const mla_node *n, bool in_loop, bool in_switch)
{
	switch ((mla_kind)n->kind) {
	case MLA_N_RETURN:
	case MLA_N_RAISE:
		return true;
	case MLA_N_CONTINUE:
		return !in_loop;
	case MLA_N_BREAK:
		return !in_loop && !in_switch;
	default:
		return false;
	}
}

static bool is_loop(const mla_node *n)
{
	return n->kind == MLA_N_LOOP || n->kind == MLA_N_WHILE || n->kind == MLA_N_DO ||
	       n->kind == MLA_N_FOR;
}

/* Does control, once at `from`, leave before it gets to the statement `until` of `top`? */
static bool leaves_before(const mla_node *from, const mla_node *top, const mla_node *until)
{
	bool in_loop = false, in_switch = false;

	for (const mla_node *n = from; n != top; n = n->parent) {
		const mla_node *p = n->parent;

		for (uint32_t i = n->index; p->kind == MLA_N_BLOCK && i < p->n; i++) {
			const mla_node *x = p->kid[i];

			if (p == top && x == until)
				return false;
			if (x && leaves(x, in_loop, in_switch))
				return true;
		}
		if (n != from && leaves(n, in_loop, in_switch))
			return true;
		in_loop |= is_loop(p);
		in_switch |= p->kind == MLA_N_SWITCH;
	}
	return false;
}

/* The kid of `top` that holds `n`. */
static const mla_node *branch(const mla_node *n, const mla_node *top)
{
	while (n->parent != top)
		n = n->parent;
	return n;
}

/* In one function: is only one of the two ever reached in a run? */
static bool exclude(const mla_node *a, const mla_node *b)
{
	const mla_node *top = a, *at_a, *at_b;

	while (top && !mla_node_within(b, top))
		top = top->parent;
	if (!top || top == a || top == b)
		return false;
	at_a = branch(a, top);
	at_b = branch(b, top);
	if (top->kind == MLA_N_IF || top->kind == MLA_N_CONDITION)
		return at_a->index >= 1 && at_b->index >= 1;
	if (top->kind != MLA_N_BLOCK)
		return false;
	return at_a->index < at_b->index ? leaves_before(a, top, at_b)
	                                 : leaves_before(b, top, at_a);
}

/* A tensor, layer or object that both places have to do with. */
static bool share_object(const mla_node *a, const mla_node *b)
{
	for (const mla_node *x = a; x; x = mla_node_next(x, a, false)) {
		if (x->kind != MLA_N_NAME || !x->c || !x->c->id || x->c->integer || x->c->boolean ||
		    x->c->decl == MLA_DECL_FUNCTION)
			continue;
		for (const mla_node *y = b; y; y = mla_node_next(y, b, false))
			if (y->kind == MLA_N_NAME && y->c && y->c->id == x->c->id)
				return true;
	}
	return false;
}

static uint32_t distance(const place *a, const place *b)
{
	if (a->at == b->at || mla_node_function(a->at) != mla_node_function(b->at) ||
	    exclude(a->at, b->at))
		return MLA_C_APART;
	if (!a->depth || !b->depth)
		return a->depth + b->depth;
	/* A function that calls two others may run two models one after the other. */
	if (a->depth > 1 || b->depth > 1 ||
	    !share_object(mla_node_statement(a->at), mla_node_statement(b->at)))
		return MLA_C_APART;
	return 1;
}

uint32_t mla_c_distance(const mla_c_calls *c, const mla_node *a, const mla_node *b)
{
	places from_a, from_b;
	uint32_t best = MLA_C_APART;

	find_places(&from_a, c, a);
	find_places(&from_b, c, b);
	for (uint32_t i = 0; i < from_a.n; i++)
		for (uint32_t k = 0; k < from_b.n; k++) {
			uint32_t d = distance(&from_a.v[i], &from_b.v[k]);

			if (d < best)
				best = d;
		}
	return best;
}

/* The condition that a start at a later window is under, and what it asks. */
#include "analyzer/c_pool.h"

#include "analyzer/str.h"

typedef struct {
	const mla_node *node;
	bool holds;
	bool pools_all; /* known to, where it does not */
} condition;

typedef MLA_VEC(condition) conditions;

static bool leaves(const mla_node *n)
{
	while (n && n->kind == MLA_N_BLOCK && n->n)
		n = n->kid[n->n - 1];
	return n &&
	       (n->kind == MLA_N_RETURN || n->kind == MLA_N_CONTINUE || n->kind == MLA_N_BREAK);
}

/* A flag stands for the condition that it starts with. */
static condition resolve(const mla_node *function, condition c)
{
	for (int i = 0; i < 8; i++) {
		const mla_node *n = c.node, *value = NULL;

		if (n->kind == MLA_N_CAST && mla_kid(n, 0)) {
			c.node = n->kid[0];
			continue;
		}
		if (n->kind == MLA_N_NOT && mla_kid(n, 0)) {
			c = (condition){n->kid[0], !c.holds, false};
			continue;
		}
		if (n->kind != MLA_N_NAME || !n->c || !n->c->id)
			return c;
		for (const mla_node *x = function; x; x = mla_node_next(x, function, false)) {
			const mla_node *to = mla_kid(x, 0);

			if (x->kind == MLA_N_DECLARE && x->c && x->c->id == n->c->id)
				value = to;
			else if (x->kind == MLA_N_ASSIGN && to && to->c && to->c->id == n->c->id)
				return c;
		}
		if (!value)
			return c;
		c.node = value;
	}
	return c;
}

static void push(conditions *out, const mla_node *function, const mla_node *node, bool holds)
{
	if (node)
		mla_vec_push(out, resolve(function, ((condition){node, holds, false})));
}

static bool is_zero(const mla_node *n)
{
	return n && n->c && n->c->value_known && n->c->value == 0;
}

/* `if (C) x = 0;` between two nodes: all windows then. */
static void push_reset(conditions *out, const mla_node *root, uint64_t id, const mla_node *from,
                       const mla_node *until)
{
	for (const mla_node *n = from; id && n && n != until; n = mla_node_next(n, root, false)) {
		const mla_node *p = n->parent;

		if (n->kind != MLA_N_ASSIGN || mla_c_id_of(mla_kid(n, 0)) != id ||
		    !is_zero(mla_kid(n, 1)))
			continue;
		while (p && p->kind == MLA_N_BLOCK)
			p = p->parent;
		if (p && p->kind == MLA_N_IF && !mla_kid(p, 2)) {
			push(out, root, p->kid[0], false);
			out->v[out->n - 1].pools_all = true;
		}
	}
}

/* Of what the start is put into after it, and of the remembered length before it. */
static void push_resets(conditions *out, const mla_c_resume *r)
{
	const mla_node *s = r->start, *root = r->entry->node;

	push_reset(out, root, r->recorded, root, r->start);
	while (s != root && s->kind != MLA_N_DECLARE && s->kind != MLA_N_ASSIGN)
		s = s->parent;
	if (s->kind == MLA_N_DECLARE)
		push_reset(out, root, s->c ? s->c->id : 0, s, NULL);
	else if (s->kind == MLA_N_ASSIGN)
		push_reset(out, root, mla_c_id_of(mla_kid(s, 0)), s, NULL);
}

/* Innermost first. */
static void collect(conditions *out, const mla_c_resume *r)
{
	const mla_node *root = r->entry->node;

	push_resets(out, r);
	for (const mla_node *n = r->start; n != root; n = n->parent) {
		const mla_node *p = n->parent;

		if ((p->kind == MLA_N_IF || p->kind == MLA_N_CONDITION) && n->index)
			push(out, root, p->kid[0], n->index == 1);
		for (uint32_t i = n->index; p->kind == MLA_N_BLOCK && i-- > 0;)
			if (p->kid[i] && p->kid[i]->kind == MLA_N_IF && !mla_kid(p->kid[i], 2) &&
			    leaves(mla_kid(p->kid[i], 1)))
				push(out, root, p->kid[i]->kid[0], false);
	}
}

static bool value_of(int64_t *value, const mla_node *n)
{
	n = mla_c_bare(n);
	if (!n || !n->c || !n->c->value_known)
		return false;
	*value = n->c->value;
	return true;
}

/* Does the comparison let one through and nothing else that is positive? The count it is of. */
static const mla_node *single_count(const mla_node *n, bool holds)
{
	static const uint8_t swapped[][2] = {{MLA_OP_LT, MLA_OP_GT},
	                                     {MLA_OP_GT, MLA_OP_LT},
	                                     {MLA_OP_LE, MLA_OP_GE},
	                                     {MLA_OP_GE, MLA_OP_LE}};
	static const uint8_t opposite[][2] = {{MLA_OP_EQ, MLA_OP_NE}, {MLA_OP_NE, MLA_OP_EQ},
	                                      {MLA_OP_LT, MLA_OP_GE}, {MLA_OP_GE, MLA_OP_LT},
	                                      {MLA_OP_GT, MLA_OP_LE}, {MLA_OP_LE, MLA_OP_GT}};
	const mla_node *count;
	bool left;
	int64_t value;
	int op = n->op;

	if (n->kind != MLA_N_COMPARE)
		return NULL;
	left = !value_of(&value, mla_kid(n, 0));
	if (left && !value_of(&value, mla_kid(n, 1)))
		return NULL;
	for (size_t i = 0; !left && i < 4; i++)
		if (n->op == swapped[i][0])
			op = swapped[i][1];
	for (size_t i = 0, from = (size_t)op; !holds && i < 6; i++)
		if (from == opposite[i][0])
			op = opposite[i][1];
	count = mla_c_bare(n->kid[left ? 0 : 1]);
	if (!count || (count->kind != MLA_N_NAME && count->kind != MLA_N_ATTRIBUTE) || !count->c ||
	    !count->c->integer)
		return NULL;
	if ((op == MLA_OP_EQ && value == 1) || (op == MLA_OP_LE && value == 1) ||
	    (op == MLA_OP_LT && value == 2))
		return count;
	return NULL;
}

static bool is_variable(const mla_node *n)
{
	return (n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE) && n->c && n->c->integer &&
	       !n->c->value_known;
}

/* `recorded == total - new`, in whatever order. */
static bool is_length_test(const mla_c_resume *r, const mla_node *n)
{
	bool recorded = false, other = false;

	if (n->kind != MLA_N_COMPARE || (n->op != MLA_OP_EQ && n->op != MLA_OP_NE))
		return false;
	for (const mla_node *x = n; x; x = mla_node_next(x, n, false)) {
		recorded |= mla_c_is_recorded(r, x);
		other |= is_variable(x) && !mla_c_is_recorded(r, x);
	}
	return recorded && other;
}

static bool is_same(const mla_node *a, const mla_node *b)
{
	a = mla_c_bare(a);
	b = mla_c_bare(b);
	return a && b && a->c && b->c && a->c->id && a->c->id == b->c->id;
}

/* Is it a number of new tokens: by name, or as what the total is less? */
static bool is_new_count(const mla_c_resume *r, const mla_node *count)
{
	const mla_node *root = r->entry->node;
	mla_name_words w;

	if (mla_c_is_recorded(r, count))
		return false;
	mla_name_split(&w, count->name);
	if ((mla_name_integer(count->name) & MLA_C_COUNT) && !mla_name_has(&w, "batch") &&
	    !mla_name_has(&w, "seq"))
		return true;
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_BINARY && n->op == MLA_OP_SUB &&
		    is_same(mla_kid(n, 0), mla_kid(r->store, 1)) && is_same(mla_kid(n, 1), count))
			return true;
	return false;
}

/* One operand of the gate, or with a flag for it one of those that the flag stands for. */
static void look_at(mla_pool *out, const mla_c_resume *r, const condition *gate,
                    const mla_node *operand, condition c)
{
	const mla_node *count = single_count(c.node, c.holds);

	if (!count || out->single || !is_new_count(r, count))
		return;
	out->single = c.node;
	out->single_in = operand;
	out->gate = gate->node;
	out->gate_holds = gate->holds;
	out->fresh = mla_text_slice(out->module->text, count->span);
}

static mla_kind joint_of(const condition *c)
{
	return c->holds ? MLA_N_AND : MLA_N_OR;
}

static void look_at_operand(mla_pool *out, const mla_c_resume *r, const condition *gate,
                            const mla_node *operand)
{
	enum { MOST = 32 };
	condition c = resolve(r->entry->node, (condition){operand, gate->holds, false});
	const mla_node *n = c.node;

	for (int i = 0; i < MOST && n->kind == joint_of(&c) && mla_kid(n, 1); i++, n = n->kid[0])
		look_at(out, r, gate, operand, (condition){n->kid[1], c.holds, false});
	look_at(out, r, gate, operand, (condition){n, c.holds, false});
}

static void look_at_all(mla_pool *out, const mla_c_resume *r, const condition *gate)
{
	enum { MOST = 32 };
	const mla_node *n = gate->node;

	for (int i = 0; i < MOST && n->kind == joint_of(gate) && mla_kid(n, 1); i++, n = n->kid[0])
		look_at_operand(out, r, gate, n->kid[1]);
	look_at_operand(out, r, gate, n);
}

static void find_length(mla_pool *out, const mla_c_resume *r)
{
	const mla_node *root = r->entry->node;

	for (const mla_node *n = root; n && !out->length; n = mla_node_next(n, root, false))
		if (is_length_test(r, n))
			out->length = n;
	if (!out->length)
		return;
	out->length_one = true;
	for (const mla_node *n = out->length; n; n = mla_node_next(n, out->length, false))
		if (is_variable(n) && !mla_c_is_recorded(r, n) && !is_same(n, mla_kid(r->store, 1)))
			out->length_one = false;
}

static bool is_within_gate(const mla_pool *p, const mla_node *n)
{
	return mla_node_within(n, p->gate);
}

static void refuse(mla_pool *p, mla_pool_refusal why, const mla_node *at)
{
	if (p->refusal == MLA_POOL_FIXABLE) {
		p->refusal = why;
		p->refusal_at = at;
	}
}

/* `total - 1` and the like under the gate: the path counts on one new token. */
static const mla_node *assumes_one(const mla_c_resume *r)
{
	const mla_node *arm = r->start, *root = r->entry->node;

	while (arm->parent && arm->parent->kind != MLA_N_IF && arm->parent != root)
		arm = arm->parent;
	for (const mla_node *n = arm; n; n = mla_node_next(n, arm, false)) {
		int64_t value;

		if (n->kind == MLA_N_BINARY && n->op == MLA_OP_SUB &&
		    value_of(&value, mla_kid(n, 1)) && value == 1 &&
		    is_same(mla_kid(n, 0), mla_kid(r->store, 1)))
			return n;
	}
	return NULL;
}

/* What a fix would write, and whether it can. */
static void prepare(mla_pool *p, const mla_c_resume *r)
{
	const mla_node *total = mla_c_bare(mla_kid(r->store, 1));
	const mla_text *text = p->module->text;

	p->recorded = mla_text_slice(text, r->length->span);
	if (total && (total->kind == MLA_N_NAME || total->kind == MLA_N_ATTRIBUTE) &&
	    mla_decl_of(total) != MLA_DECL_LOCAL)
		p->total = mla_text_slice(text, total->span);
	if (p->function->has_error)
		refuse(p, MLA_POOL_SYNTAX, p->gate);
	if ((p->assumes = assumes_one(r)))
		refuse(p, MLA_POOL_ONE_TOKEN, p->assumes);
	if (p->single && p->single != p->single_in)
		refuse(p, MLA_POOL_MIXED, p->single);
	if (p->single && p->single->c && p->single->c->macro)
		refuse(p, MLA_POOL_MIXED, p->single);
	if (p->length_one && !is_within_gate(p, p->length))
		refuse(p, MLA_POOL_MIXED, p->length);
	if (!p->length && !p->total.len)
		refuse(p, MLA_POOL_NO_TOTAL, p->gate);
	if (!p->length && !p->fresh.len)
		refuse(p, MLA_POOL_NO_COUNT, p->gate);
}

/* The number of new tokens where no test names it: a parameter that is one by its name. */
static mla_str fresh_parameter(const mla_c_resume *r)
{
	const mla_node *list = mla_kid(r->entry->node, 0);

	for (uint32_t i = 0; list && i < list->n; i++)
		if (list->kid[i] && list->kid[i]->c && list->kid[i]->c->integer &&
		    (mla_name_integer(list->kid[i]->name) & MLA_C_COUNT))
			return list->kid[i]->name;
	return (mla_str){"", 0};
}

bool mla_c_pool_gate(mla_pool *out, const mla_c_resume *r)
{
	conditions list = {0};
	bool found = false;

	collect(&list, r);
	for (uint32_t i = 0; i < list.n; i++) {
		found |= list.v[i].pools_all || mla_c_pools_all(r, list.v[i].node);
		look_at_all(out, r, &list.v[i]);
	}
	if (!out->gate && list.n) {
		out->gate = list.v[0].node;
		out->gate_holds = list.v[0].holds;
	}
	mla_vec_free(&list);
	if (!found || !out->gate)
		return false;
	find_length(out, r);
	if (!out->fresh.len)
		out->fresh = fresh_parameter(r);
	prepare(out, r);
	return true;
}

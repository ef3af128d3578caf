/*
 * A decision is a select, the follow-ups that one run passes together with it, and its copies and
 * mirrors. Tests that merely look alike are decisions of their own: two models of one tree may
 * well have different limits.
 */
#include "analyzer/c_sites.h"

#include "analyzer/c_source.h"
#include "analyzer/str.h"

enum { NO_GROUP = UINT32_MAX };

typedef struct {
	mla_arena *arena;
	const mla_c_calls *calls;
	mla_test **test;
	uint32_t n;
	uint32_t *group; /* of each test, the first select of its decision */
} grouping;

/* The whole condition that a comparison is part of, across `&&`. */
static const mla_node *condition_of(const mla_test *t)
{
	const mla_node *n = t->node;

	while (n->parent && (n->parent->kind == MLA_N_AND || n->parent->kind == MLA_N_NOT ||
	                     n->parent->kind == MLA_N_CAST))
		n = n->parent;
	return n;
}

/* The conditions in force at a test: its own, then those of the ifs around it. */
static const mla_node *next_condition(const mla_node **at)
{
	for (*at = (*at)->parent; *at && (*at)->kind != MLA_N_FUNCTION; *at = (*at)->parent)
		if ((*at)->kind == MLA_N_IF && (*at)->kid[0])
			return (*at)->kid[0];
	return NULL;
}

static bool is_name(const mla_node *n)
{
	return n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE;
}

static bool names_evidence(const mla_node *root)
{
	for (const mla_node *x = root; x; x = mla_node_next(x, root, false))
		if (is_name(x) && mla_name_is_evidence(x->name))
			return true;
	return false;
}

/* In the conditions, or in the numbers that the two arms come to: `rank * 2` here, `n_kv * v` in
 * the statement behind. */
static bool mentions_evidence(const mla_test *t)
{
	const mla_node *at = condition_of(t), *choice = at->parent, *block;

	for (const mla_node *c = at; c; c = next_condition(&at))
		if (names_evidence(c))
			return true;
	if (!choice || (choice->kind != MLA_N_IF && choice->kind != MLA_N_CONDITION))
		return false;
	block = choice->parent;
	return names_evidence(choice) ||
	       (block && block->kind == MLA_N_BLOCK && mla_kid(block, choice->index + 1) &&
	        block->kid[choice->index + 1]->kind == MLA_N_RETURN &&
	        names_evidence(block->kid[choice->index + 1]));
}

/* A setting that has to do with latent attention and is no size: `mla_attn`. */
static bool is_mode(const mla_node *n)
{
	return is_name(n) && n->c && (n->c->integer || n->c->boolean) &&
	       n->c->decl != MLA_DECL_CONSTANT && n->c->decl != MLA_DECL_FUNCTION &&
	       mla_name_is_evidence(n->name) && !mla_name_integer(n->name);
}

static const mla_node *without_casts_around(const mla_node *n)
{
	while (n->parent && n->parent->kind == MLA_N_CAST)
		n = n->parent;
	return n;
}

/* Is the same asked of a setting in both places? */
static bool same_question(const mla_node *a, const mla_node *b)
{
	const mla_node *pa, *pb;
	bool kept = mla_decl_of(a) == MLA_DECL_FIELD || mla_decl_of(a) == MLA_DECL_GLOBAL;

	if (!mla_str_eq(a->name, b->name) || (kept && a->c->id != b->c->id))
		return false;
	a = without_casts_around(a);
	b = without_casts_around(b);
	pa = a->parent;
	pb = b->parent;
	if (pa->kind != MLA_N_COMPARE || pb->kind != MLA_N_COMPARE)
		return (pa->kind == MLA_N_COMPARE) == (pb->kind == MLA_N_COMPARE) &&
		       (pa->kind == MLA_N_NOT) == (pb->kind == MLA_N_NOT);
	if (pa->op != pb->op || a->index != b->index)
		return false;
	a = mla_kid(pa, 1 - a->index);
	b = mla_kid(pb, 1 - b->index);
	return a && b && a->c && b->c && a->c->value_known && b->c->value_known &&
	       a->c->value == b->c->value;
}

static const mla_node *next_mode(const mla_node *c, const mla_node *after)
{
	for (const mla_node *x = after ? mla_node_next(after, c, false) : c; x;
	     x = mla_node_next(x, c, false))
		if (is_mode(x))
			return x;
	return NULL;
}

static bool asks(const mla_test *t, const mla_node *mode)
{
	const mla_node *at = condition_of(t);

	for (const mla_node *c = at; c; c = next_condition(&at))
		for (const mla_node *y = next_mode(c, NULL); y; y = next_mode(c, y))
			if (same_question(mode, y))
				return true;
	return false;
}

static bool has_mode(const mla_test *t)
{
	const mla_node *at = condition_of(t);

	for (const mla_node *c = at; c; c = next_condition(&at))
		if (next_mode(c, NULL))
			return true;
	return false;
}

static bool share_mode(const mla_test *a, const mla_test *b)
{
	const mla_node *at = condition_of(a);

	for (const mla_node *c = at; c; c = next_condition(&at))
		for (const mla_node *x = next_mode(c, NULL); x; x = next_mode(c, x))
			if (asks(b, x))
				return true;
	return false;
}

static bool same_count(const mla_test *a, const mla_test *b)
{
	return a->count && b->count && a->count->name.len &&
	       mla_str_eq(a->count->name, b->count->name);
}

static bool same_limit(const mla_test *a, const mla_test *b)
{
	return a->bound == MLA_BOUND_CONSTANT && b->bound == MLA_BOUND_CONSTANT &&
	       a->limit == b->limit;
}

static bool is_copy(const mla_test *a, const mla_test *b)
{
	return same_limit(a, b) && same_count(a, b) && share_mode(a, b);
}

/* Does what is done under the test end in a number, such as the size of a buffer? */
static bool sizes_something(const mla_test *t)
{
	const mla_node *root = condition_of(t)->parent;
	bool sized = false;

	if (!root || (root->kind != MLA_N_IF && root->kind != MLA_N_CONDITION))
		return false;
	if (root->kind == MLA_N_CONDITION)
		return root->c && root->c->integer && !root->c->boolean;
	for (const mla_node *x = mla_kid(root, 1); x && !sized;
	     x = mla_node_next(x, root->kid[1], false)) {
		const mla_node *target = mla_kid(x, 0);

		if (x->kind == MLA_N_ASSIGN || x->kind == MLA_N_AUG_ASSIGN ||
		    x->kind == MLA_N_RETURN)
			sized = target && target->c && target->c->integer && !target->c->boolean;
	}
	return sized;
}

static bool may_mirror(const mla_test *t)
{
	const uint32_t *s = t->small.count, *l = t->large.count;

	if (t->role != MLA_ROLE_NONE || t->kept != MLA_KEPT_UNRELATED ||
	    t->bound != MLA_BOUND_CONSTANT)
		return false;
	for (int e = 0; e < MLA_EV_COUNT; e++)
		if (s[e] || l[e])
			return false;
	return mentions_evidence(t) && sizes_something(t);
}

/* A select that is the first of its decision, and not the follow-ups that were put to it. */
static bool is_leader(const grouping *g, uint32_t i)
{
	return g->group[i] == i;
}

static void group_selects(grouping *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->test[i]->role != MLA_ROLE_SELECT)
			continue;
		g->group[i] = i;
		for (uint32_t k = 0; k < i && is_leader(g, i); k++)
			if (g->test[k]->role == MLA_ROLE_SELECT &&
			    (g->test[i]->half == g->test[k] || is_copy(g->test[k], g->test[i])))
				g->group[i] = g->group[k];
	}
}

/* Is the attention of its absorbed arm projected back by that arm already? */
static bool is_complete(const mla_test *select, const mla_test *followup)
{
	return select->small.count[MLA_EV_FOLLOWUP] &&
	       select->small.first[MLA_EV_FOLLOWUP] != followup->small.first[MLA_EV_FOLLOWUP];
}

/* The nearest select along calls; in one function the last one before it. */
static void group_followup(grouping *g, uint32_t i)
{
	uint32_t best = MLA_C_APART;

	for (uint32_t k = 0; k < g->n; k++) {
		const mla_test *s = g->test[k];
		uint32_t d = MLA_C_APART;

		if (s->role == MLA_ROLE_SELECT && !is_complete(s, g->test[i]))
			d = mla_c_distance(g->calls, s->node, g->test[i]->node);
		if (d < best || (d == best && d != MLA_C_APART && k < i)) {
			best = d;
			g->group[i] = g->group[k];
		}
	}
}

static bool alone_in_file(const grouping *g, uint32_t leader)
{
	for (uint32_t k = 0; k < g->n; k++)
		if (g->test[k]->role == MLA_ROLE_SELECT && g->group[k] != leader &&
		    g->test[k]->module == g->test[leader]->module)
			return false;
	return true;
}

/*
 * How well is it known that `t` repeats the select? 0: not at all; 1: one setting turns both on, or
 * both are of the only decision of one file; 2: and they agree on the limit.
 */
static int likeness(const grouping *g, const mla_test *t, uint32_t select)
{
	const mla_test *s = g->test[select];
	bool modes = has_mode(s) && has_mode(t);

	if (!same_count(s, t))
		return 0;
	if (modes ? share_mode(s, t) : s->module == t->module && alone_in_file(g, g->group[select]))
		return same_limit(s, t) ? 2 : 1;
	return 0;
}

static void group_mirror(grouping *g, uint32_t i)
{
	int best = 0;
	bool unique = true;

	for (uint32_t k = 0; k < g->n; k++) {
		int found = g->test[k]->role == MLA_ROLE_SELECT ? likeness(g, g->test[i], k) : 0;

		if (found > best) {
			best = found;
			unique = true;
			g->group[i] = g->group[k];
		} else if (found && found == best && g->group[k] != g->group[i]) {
			unique = false;
		}
	}
	if (!unique)
		g->group[i] = NO_GROUP;
}

static void refuse(mla_site *s, mla_refusal why, mla_module *module, const mla_node *at)
{
	if (s->refusal)
		return;
	s->refusal = why;
	s->refusal_at = at;
	s->refusal_module = module;
}

static void find_refusal(mla_site *s)
{
	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_test *t = s->test[i];
		const mla_node *switches = t->node->parent;

		if (t->small.count[MLA_EV_GATHER])
			refuse(s, MLA_REFUSE_GATHER_AND_ABSORB, t->small.in[MLA_EV_GATHER],
			       t->small.first[MLA_EV_GATHER]);
		if (switches && switches->kind == MLA_N_LABEL)
			refuse(s, MLA_REFUSE_PATTERN, t->module, t->node);
		if (t->node->c && t->node->c->macro)
			refuse(s, MLA_REFUSE_MACRO, t->module, t->node);
		if (mla_c_is_inactive(t->module, t->node->span))
			refuse(s, MLA_REFUSE_INACTIVE, t->module, t->node);
		if (t->function && t->function->has_error)
			refuse(s, MLA_REFUSE_SYNTAX, t->module, t->node);
		if (t->other_use)
			refuse(s, MLA_REFUSE_OTHER_USE, t->module, t->other_use);
	}
}

/* Is there anything to say of the decision? Not where every limit follows the sizes. */
static bool is_wanted(const grouping *g, uint32_t leader)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->group[i] == leader && !mla_test_is_widened(g->test[i]))
			return true;
	return false;
}

static void make_site(grouping *g, uint32_t leader)
{
	mla_test *select = g->test[leader];
	mla_site *s = mla_arena_alloc(g->arena, sizeof(*s));

	s->test = mla_arena_array(g->arena, g->n, sizeof(*s->test));
	for (uint32_t i = 0; i < g->n; i++)
		if (g->group[i] == leader) {
			s->test[s->test_count++] = g->test[i];
			g->test[i]->site = s;
		}
	s->module = select->module;
	s->function = select->function;
	s->symbol = select->function ? select->function->name : mla_str_c("");
	for (uint32_t i = 0; i < s->test_count; i++)
		s->top_k |= s->test[i]->small.count[MLA_EV_GATHER_INSIDE] != 0;
	find_refusal(s);
}

void mla_c_sites_build(mla_arena *arena, const mla_c_calls *calls, mla_test **test, uint32_t n)
{
	grouping g = {arena, calls, test, n, mla_arena_array(arena, n, sizeof(uint32_t))};

	for (uint32_t i = 0; i < n; i++)
		g.group[i] = NO_GROUP;
	group_selects(&g);
	for (uint32_t i = 0; i < n; i++) {
		if (test[i]->role == MLA_ROLE_FOLLOWUP) {
			group_followup(&g, i);
			if (g.group[i] == NO_GROUP) {
				test[i]->role = MLA_ROLE_NONE;
				test[i]->kept = MLA_KEPT_UNRELATED;
			}
		} else if (may_mirror(test[i])) {
			group_mirror(&g, i);
			if (g.group[i] != NO_GROUP)
				test[i]->role = MLA_ROLE_MIRROR;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (is_leader(&g, i) && is_wanted(&g, i))
			make_site(&g, i);
}

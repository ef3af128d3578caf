/* `if (n == 1) one arm; if (n > 1) the other`: two tests without an else are one decision. */
#include "analyzer/c_halves.h"

#include "analyzer/c_info.h"
#include "analyzer/str.h"

static bool decides_nothing(const mla_arm *arm)
{
	return !arm->count[MLA_EV_FOLD] && !arm->count[MLA_EV_EXPAND] &&
	       !arm->count[MLA_EV_FOLLOWUP] && !arm->count[MLA_EV_EXPAND_NEW];
}

static bool is_small_half(const mla_test *t)
{
	return t->small.count[MLA_EV_FOLD] && !t->small.count[MLA_EV_EXPAND] &&
	       decides_nothing(&t->large);
}

static bool is_large_half(const mla_test *t)
{
	return t->large.count[MLA_EV_EXPAND] && !t->large.count[MLA_EV_FOLD] &&
	       decides_nothing(&t->small);
}

static bool same_count(const mla_test *a, const mla_test *b)
{
	return a->count && b->count && a->count->c && b->count->c && a->count->c->id &&
	       a->count->c->id == b->count->c->id && mla_str_eq(a->count->name, b->count->name);
}

static const mla_node *choice_of(const mla_test *t)
{
	const mla_node *n = t->node;

	while (n && n->kind != MLA_N_IF && n->kind != MLA_N_CONDITION && n->kind != MLA_N_FUNCTION)
		n = n->parent;
	return n;
}

/* Neither is asked in an arm of the other. */
static bool are_apart(const mla_test *a, const mla_test *b)
{
	const mla_node *first = choice_of(a), *second = choice_of(b);

	return first != second && !mla_node_within(b->node, first) &&
	       !mla_node_within(a->node, second);
}

static bool are_halves(const mla_test *small, const mla_test *large)
{
	return is_large_half(large) && small->function && small->function == large->function &&
	       small->bound == large->bound && same_count(small, large) && are_apart(small, large);
}

void mla_c_join_halves(mla_test *const *test, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		mla_test *other = NULL;

		if (!is_small_half(test[i]))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (k != i && are_halves(test[i], test[k]) &&
			    (!other || test[k]->limit == test[i]->limit))
				other = test[k];
		if (!other)
			continue;
		test[i]->large = other->large;
		other->small = test[i]->small;
		test[i]->half = other;
		other->half = test[i];
	}
}

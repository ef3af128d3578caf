/* The other path of a pool: from the first window on. */
#include "analyzer/c_pool.h"

#include "analyzer/str.h"

static bool is_zero(const mla_node *n)
{
	n = mla_c_bare(n);
	return n && n->c && n->c->value_known && n->c->value == 0;
}

static uint64_t target_of(const mla_node *n)
{
	const mla_node *to = n->kind == MLA_N_DECLARE ? n : mla_c_bare(mla_kid(n, 0));

	return to && to->c ? to->c->id : 0;
}

static const mla_node *value_of(const mla_node *n)
{
	return n->kind == MLA_N_DECLARE ? mla_kid(n, 0) : mla_kid(n, 1);
}

/* Does something between the start and its statement have 0 in the place of it elsewhere? */
static bool has_twin(const mla_c_resume *r, const mla_node *at, const mla_node *below)
{
	const mla_node *root = r->entry->node;

	if (at->kind == MLA_N_CONDITION)
		return is_zero(mla_kid(at, 1)) || is_zero(mla_kid(at, 2));
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		if (n == at || n->kind == MLA_N_FUNCTION)
			continue;
		if (at->kind == MLA_N_CALL && n->kind == MLA_N_CALL &&
		    mla_str_eq(n->name, at->name) && is_zero(mla_kid(n, below->index)))
			return true;
		if ((at->kind == MLA_N_DECLARE || at->kind == MLA_N_ASSIGN) &&
		    (n->kind == MLA_N_DECLARE || n->kind == MLA_N_ASSIGN) &&
		    target_of(n) == target_of(at) && is_zero(value_of(n)))
			return true;
	}
	return false;
}

static bool works(const mla_node *root)
{
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_CALL || n->kind == MLA_N_LOOP)
			return true;
	return false;
}

/* Does the other arm of the `if` with this condition do something as well? */
static bool has_other_arm(const mla_c_resume *r, const mla_node *condition)
{
	const mla_node *root = r->entry->node;

	for (const mla_node *n = r->start; n != root; n = n->parent) {
		const mla_node *p = n->parent;

		if (p->kind == MLA_N_IF && n->index && mla_node_within(condition, p->kid[0]))
			return works(mla_kid(p, n->index == 1 ? 2 : 1));
		for (uint32_t i = 0; p->kind == MLA_N_BLOCK && i < p->n; i++)
			if (p->kid[i] && p->kid[i]->kind == MLA_N_IF &&
			    mla_node_within(condition, p->kid[i]->kid[0]) && p->kid[i] != n)
				return works(mla_kid(p->kid[i], 1));
	}
	return false;
}

bool mla_c_pools_all(const mla_c_resume *r, const mla_node *under)
{
	const mla_node *root = r->entry->node;

	for (const mla_node *n = r->start; n != root && n->parent != root; n = n->parent) {
		const mla_node *at = n->parent;

		if (at->kind == MLA_N_BLOCK || at->kind == MLA_N_IF)
			break;
		if (has_twin(r, at, n))
			return true;
	}
	return has_other_arm(r, under);
}

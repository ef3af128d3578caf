/* A query count without a telling name: what bounds the loop over queries. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

static const mla_node *plain(const mla_node *n)
{
	n = mla_c_without_casts(n);
	return n && (n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE) && n->c ? n : NULL;
}

/* Is a query indexed by the variable somewhere in `body`? */
static bool indexes_query(const mla_node *body, uint64_t variable)
{
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		bool query = false, index = false;

		if (n->kind != MLA_N_SUBSCRIPT && !(n->kind == MLA_N_BINARY && n->op == MLA_OP_ADD))
			continue;
		for (const mla_node *x = n; x; x = mla_node_next(x, n, false)) {
			if ((x->kind != MLA_N_NAME && x->kind != MLA_N_ATTRIBUTE) || !x->c)
				continue;
			index |= x->c->id == variable;
			query |= !x->c->integer && (mla_name_tensor(x->name) & MLA_C_QUERY);
		}
		if (query && index)
			return true;
	}
	return false;
}

static bool bounds_loop(const mla_node *loop, uint64_t id)
{
	const mla_node *test = mla_kid(loop, 1), *variable, *bound;

	if (!test || test->kind != MLA_N_COMPARE || !mla_kid(loop, 3))
		return false;
	variable = plain(mla_kid(test, 0));
	bound = plain(mla_kid(test, 1));
	return variable && bound && bound->c->id == id && variable->c->id &&
	       indexes_query(loop->kid[3], variable->c->id);
}

/* The parameter of a function in the scan that gets the value of `id` in this call. */
static const mla_node *handed_to(mla_c_flow *f, const mla_node *call, uint64_t id,
                                 const mla_node **function)
{
	mla_c_entry *entry = NULL;

	for (uint32_t i = 1; i < call->n; i++) {
		const mla_node *argument = plain(call->kid[i]);

		if (!argument || argument->c->id != id)
			continue;
		if (!entry)
			entry = mla_c_find(f, call->c ? call->c->id : 0, call->name);
		if (!entry)
			return NULL;
		*function = entry->node;
		return mla_kid(mla_kid(entry->node, 0), i - 1);
	}
	return NULL;
}

bool mla_c_bounds_queries(mla_c_flow *f, const mla_node *function, uint64_t id, uint32_t levels)
{
	const mla_node *body = mla_kid(function, 1);

	for (const mla_node *n = body; id && n; n = mla_node_next(n, body, false)) {
		const mla_node *callee = NULL, *parameter;

		if (n->kind == MLA_N_LOOP && bounds_loop(n, id))
			return true;
		if (n->kind != MLA_N_CALL || !levels)
			continue;
		parameter = handed_to(f, n, id, &callee);
		if (parameter && parameter->c &&
		    mla_c_bounds_queries(f, callee, parameter->c->id, levels - 1))
			return true;
	}
	return false;
}

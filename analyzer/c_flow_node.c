/* Functions of a library that builds a graph: their bodies link nodes and have no arithmetic. */
#include "analyzer/c_flow.h"

/* How far a function may hand over to another: op() -> op_impl() -> op_new(). */
enum { HANDS_OVER = 3 };

bool mla_c_is_link(const mla_node *n)
{
	const mla_node *object = mla_kid(n, 0);

	return n->kind == MLA_N_ATTRIBUTE && object && object->c && object->c->record && n->c &&
	       n->c->record && n->c->record->id == object->c->record->id;
}

static const mla_node *linked(const mla_node *target)
{
	while (target && (target->kind == MLA_N_SUBSCRIPT || target->kind == MLA_N_CAST))
		target = mla_kid(target, 0);
	return target && mla_c_is_link(target) ? target : NULL;
}

/* The call that is all of the body: `return op_impl(...);` */
static const mla_node *handed_over(const mla_node *function)
{
	const mla_node *body = mla_kid(function, 1), *statement;

	if (!body || body->kind != MLA_N_BLOCK || body->n != 1)
		return NULL;
	statement = body->kid[0];
	if (!statement || statement->kind != MLA_N_RETURN)
		return NULL;
	return mla_kid(statement, 0) && statement->kid[0]->kind == MLA_N_CALL ? statement->kid[0]
	                                                                      : NULL;
}

/* `result->src[0] = a`, where a came as an argument */
static bool links_parameter(const mla_node *n, uint64_t record)
{
	const mla_node *link = linked(mla_kid(n, 0)), *value = mla_kid(n, 1);

	value = mla_c_without_casts(value);
	return link && link->c->record->id == record && value && value->kind == MLA_N_NAME &&
	       mla_decl_of(value) == MLA_DECL_PARAMETER;
}

/* A call that computes such a node by itself: then the body is a graph of more than one. */
static bool computes(const mla_node *call, uint64_t record)
{
	mla_c_function what = mla_name_function(call->name);

	return mla_c_pointee(call) == record && what != MLA_C_PASS && what != MLA_C_ALLOCATE &&
	       what != MLA_C_LAYOUT;
}

static bool links(const mla_c_flow *f, const mla_node *function, uint64_t record, int levels)
{
	const mla_node *call = handed_over(function);
	bool found = false;

	if (call && levels) {
		const mla_c_entry *e = mla_c_find(f, call->c ? call->c->id : 0, call->name);

		return e && links(f, e->node, record, levels - 1);
	}
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		if (n->kind == MLA_N_CALL && computes(n, record))
			return false;
		found |= n->kind == MLA_N_ASSIGN && links_parameter(n, record);
	}
	return found;
}

bool mla_c_makes_node(const mla_c_flow *f, const mla_node *call, mla_c_entry *entry)
{
	if (!mla_c_pointee(call))
		return false;
	if (entry->makes_node == MLA_C_UNKNOWN)
		entry->makes_node = links(f, entry->node, mla_c_pointee(call), HANDS_OVER)
		                            ? MLA_C_YES
		                            : MLA_C_NO;
	return entry->makes_node == MLA_C_YES;
}

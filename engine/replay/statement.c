/* Statements. try, except and match are in handler.c and pattern.c. */
#include "engine/replay/machine.h"

static int assign_each(mla_machine *m, mla_environment *e, const mla_node *target, mla_value v)
{
	uint32_t n = target->n, star = n;
	mla_value list;
	int error;

	for (uint32_t i = 0; v.kind == MLA_V_CACHE && i < n; i++) {
		mla_value item;

		if (target->kid[i]->kind == MLA_N_STAR)
			return mla_unsupported(m, "a cache unpacked with *");
		if ((error = mla_cache_item(&item, m, v.cache, i)) < 0 ||
		    (error = mla_assign(m, e, target->kid[i], item)) < 0 || i + 1 == n)
			return error;
	}
	if (mla_value_is_number(v) || v.kind == MLA_V_NONE)
		return mla_raise(m, "TypeError", "cannot unpack a %s", mla_value_type(v));
	if ((error = mla_iterate(&list, m, v)) < 0)
		return error;
	for (uint32_t i = 0; i < n; i++)
		if (target->kid[i]->kind == MLA_N_STAR)
			star = i;
	if (star == n ? list.seq->n != n : list.seq->n + 1 < n)
		return mla_raise(m, "ValueError", "%u values to unpack into %u names", list.seq->n,
		                 n);
	for (uint32_t i = 0; i < n && error == 0; i++) {
		uint32_t extra = list.seq->n - n, at = i <= star ? i : i + extra;

		if (i == star) {
			mla_value rest = mla_sequence_new(m, MLA_V_LIST, 0);

			for (uint32_t k = 0; k < extra + 1 && error == 0; k++)
				error = mla_sequence_push(m, rest.seq, list.seq->v[i + k]);
			if (error == 0)
				error = mla_assign(m, e, target->kid[i]->kid[0], rest);
		} else {
			error = mla_assign(m, e, target->kid[i], list.seq->v[at]);
		}
	}
	return error;
}

/* A store into an array makes another one, which the name it came from gets. */
static int assign_subscript(mla_machine *m, mla_environment *e, const mla_node *target, mla_value v)
{
	const mla_node *holder = target->kid[0];
	mla_value object, index, changed;
	int error;

	if ((error = mla_eval(&object, m, e, holder)) < 0 ||
	    (error = mla_eval_index(&index, m, e, target)) < 0)
		return error;
	m->at = target;
	if ((error = mla_subscript_set(&changed, m, object, index, v)) < 0)
		return error;
	if (object.kind != MLA_V_TENSOR)
		return 0;
	if (holder->kind != MLA_N_NAME)
		return mla_unsupported(m, "a store into an array that is not a plain name");
	mla_outdate(m, object);
	return mla_name_set(m, e, holder->name, changed);
}

int mla_assign(mla_machine *m, mla_environment *e, const mla_node *target, mla_value v)
{
	mla_value object;
	int error;

	switch (target->kind) {
	case MLA_N_NAME:
		return mla_name_set(m, e, target->name, v);
	case MLA_N_ATTRIBUTE:
		if ((error = mla_eval(&object, m, e, target->kid[0])) < 0)
			return error;
		m->at = target;
		return mla_attribute_set(m, object, target->name, v);
	case MLA_N_SUBSCRIPT:
		return assign_subscript(m, e, target, v);
	case MLA_N_TUPLE:
	case MLA_N_LIST:
		if ((error = mla_enter(m, target)) < 0)
			return error;
		error = assign_each(m, e, target, v);
		mla_leave(m);
		return error;
	default:
		return mla_unsupported(m, "assignment to %s",
		                       mla_kind_name((mla_kind)target->kind));
	}
}

static int execute_assign(mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error = mla_eval(&v, m, e, n->kid[n->n - 1]);

	for (uint32_t i = 0; i + 1 < n->n && error == 0; i++)
		error = mla_assign(m, e, n->kid[i], v);
	return error;
}

static int execute_annotated(mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error;

	if (!mla_kid(n, 2))
		return 0;
	error = mla_eval(&v, m, e, n->kid[2]);
	return error < 0 ? error : mla_assign(m, e, n->kid[0], v);
}

/* x += y. Lists and arrays change in place, everything else gets another value. */
static int execute_augmented(mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value old, v, made;
	int error;

	if ((error = mla_eval(&old, m, e, n->kid[0])) < 0 ||
	    (error = mla_eval(&v, m, e, n->kid[1])) < 0)
		return error;
	m->at = n;
	if (old.kind == MLA_V_LIST && n->op == MLA_OP_ADD) {
		mla_value list;

		if ((error = mla_check_own(m, old.seq->born)) == 0)
			error = mla_iterate(&list, m, v);
		for (uint32_t i = 0; error == 0 && i < list.seq->n; i++)
			error = mla_sequence_push(m, old.seq, list.seq->v[i]);
		return error;
	}
	if (old.kind == MLA_V_TENSOR && m->torch)
		return mla_unsupported(m, "an array changed in place");
	if ((error = mla_operate(&made, m, n->op, old, v)) < 0)
		return error;
	if (old.kind == MLA_V_TENSOR)
		mla_outdate(m, old);
	return mla_assign(m, e, n->kid[0], made);
}

static int execute_if(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool truth;
	int error = mla_eval_test(&truth, m, e, n->kid[0]);
	const mla_node *arm;

	if (error < 0)
		return error;
	arm = mla_kid(n, truth ? 1 : 2);
	return arm ? mla_execute(flow, m, e, arm) : 0;
}

static int execute_while(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	for (;;) {
		bool truth;

		if ((error = mla_eval_test(&truth, m, e, n->kid[0])) < 0)
			return error;
		if (!truth)
			return mla_kid(n, 2) ? mla_execute_block(flow, m, e, n->kid[2]) : 0;
		if ((error = mla_execute_block(flow, m, e, n->kid[1])) < 0)
			return error;
		if (*flow == MLA_FLOW_RETURN)
			return 0;
		if (*flow == MLA_FLOW_BREAK)
			break;
		*flow = MLA_FLOW_ON;
	}
	*flow = MLA_FLOW_ON;
	return 0;
}

static int execute_for(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value source, list;
	int error;

	if ((error = mla_eval(&source, m, e, n->kid[1])) < 0 ||
	    (error = mla_iterate(&list, m, source)) < 0)
		return error;
	for (uint32_t i = 0; i < list.seq->n; i++) {
		if ((error = mla_enter(m, n)) < 0)
			return error;
		if ((error = mla_assign(m, e, n->kid[0], list.seq->v[i])) == 0)
			error = mla_execute_block(flow, m, e, n->kid[2]);
		mla_leave(m);
		if (error < 0 || *flow == MLA_FLOW_RETURN)
			return error;
		if (*flow == MLA_FLOW_BREAK) {
			*flow = MLA_FLOW_ON;
			return 0;
		}
		*flow = MLA_FLOW_ON;
	}
	return mla_kid(n, 3) ? mla_execute_block(flow, m, e, n->kid[3]) : 0;
}

/* Context managers of the framework (streams, no_grad) change nothing that is replayed. */
static int execute_with(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	for (uint32_t i = 0; i + 1 < n->n; i++) {
		const mla_node *item = n->kid[i];
		mla_value v;
		int error = mla_eval(&v, m, e, item->kid[0]);

		if (error < 0)
			return error;
		if (v.kind != MLA_V_NONE || mla_kid(item, 1))
			return mla_unsupported(m, "with a %s", mla_value_type(v));
	}
	return mla_execute_block(flow, m, e, n->kid[n->n - 1]);
}

static int execute_raise(mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error;

	if (!mla_kid(n, 0))
		return mla_unsupported(m, "raise without an exception");
	/* An exception class or its call raises while it is evaluated: see mla_python_functions. */
	if ((error = mla_eval(&v, m, e, n->kid[0])) < 0)
		return error;
	m->at = n;
	if (v.kind == MLA_V_TUPLE && v.seq->n == 2 && v.seq->v[0].kind == MLA_V_STR) {
		mla_raise(m, "", "%.*s", MLA_ARG(v.seq->v[1].s));
		m->fault.type = v.seq->v[0].s;
		return MLA_ERAISE;
	}
	if (v.kind == MLA_V_BUILTIN) {
		if ((error = mla_call_plain(&v, m, v, NULL, 0)) < 0)
			return error;
		mla_raise(m, "", "%s", "");
		m->fault.type = v.seq->v[0].s;
		return MLA_ERAISE;
	}
	return mla_unsupported(m, "raise of a %s", mla_value_type(v));
}

static int execute_assert(mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool truth;
	mla_value text = mla_value_none;
	int error = mla_eval_test(&truth, m, e, n->kid[0]);

	if (error < 0 || truth)
		return error;
	if (mla_kid(n, 1) && (error = mla_eval(&text, m, e, n->kid[1])) < 0)
		return error;
	m->at = n;
	return text.kind == MLA_V_STR ? mla_raise(m, "AssertionError", "%.*s", MLA_ARG(text.s))
	                              : mla_raise(m, "AssertionError", "assertion failed");
}

static int execute_delete(mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	for (uint32_t i = 0; i < n->n && error == 0; i++) {
		if (n->kid[i]->kind != MLA_N_NAME)
			return mla_unsupported(m, "del of %s",
			                       mla_kind_name((mla_kind)n->kid[i]->kind));
		error = mla_name_set(m, e, n->kid[i]->name, (mla_value){0});
	}
	return error;
}

static int execute_return(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v = mla_value_none;
	int error = mla_kid(n, 0) ? mla_eval(&v, m, e, n->kid[0]) : 0;

	m->returned = v;
	*flow = MLA_FLOW_RETURN;
	return error;
}

static int execute_definition(mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error = n->kind == MLA_N_CLASS ? mla_class_of(&v, m, e->module, n, e)
	                                   : mla_function_make(&v, m, e, e->module, n, NULL);

	return error < 0 ? error : mla_name_set(m, e, n->name, v);
}

static int execute(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value ignored;

	switch (n->kind) {
	case MLA_N_BLOCK:
		return mla_execute_block(flow, m, e, n);
	case MLA_N_EXPRESSION:
		return mla_eval(&ignored, m, e, n->kid[0]);
	case MLA_N_ASSIGN:
		return execute_assign(m, e, n);
	case MLA_N_ANN_ASSIGN:
		return execute_annotated(m, e, n);
	case MLA_N_AUG_ASSIGN:
		return execute_augmented(m, e, n);
	case MLA_N_IF:
		return execute_if(flow, m, e, n);
	case MLA_N_WHILE:
		return execute_while(flow, m, e, n);
	case MLA_N_FOR:
		return execute_for(flow, m, e, n);
	case MLA_N_WITH:
		return execute_with(flow, m, e, n);
	case MLA_N_TRY:
		return mla_execute_try(flow, m, e, n);
	case MLA_N_MATCH:
		return mla_execute_match(flow, m, e, n);
	case MLA_N_RETURN:
		return execute_return(flow, m, e, n);
	case MLA_N_RAISE:
		return execute_raise(m, e, n);
	case MLA_N_ASSERT:
		return execute_assert(m, e, n);
	case MLA_N_DELETE:
		return execute_delete(m, e, n);
	case MLA_N_PASS:
	case MLA_N_GLOBAL:
		return 0;
	case MLA_N_BREAK:
		*flow = MLA_FLOW_BREAK;
		return 0;
	case MLA_N_CONTINUE:
		*flow = MLA_FLOW_CONTINUE;
		return 0;
	case MLA_N_IMPORT:
	case MLA_N_IMPORT_FROM:
		return mla_import(m, e, n);
	case MLA_N_FUNCTION:
	case MLA_N_CLASS:
		return execute_definition(m, e, n);
	default:
		return mla_unsupported(m, "%s", mla_kind_name((mla_kind)n->kind));
	}
}

int mla_execute(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = mla_enter(m, n);

	*flow = MLA_FLOW_ON;
	if (error < 0)
		return error;
	error = execute(flow, m, e, n);
	mla_leave(m);
	return error;
}

int mla_execute_block(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	*flow = MLA_FLOW_ON;
	for (uint32_t i = 0; i < n->n && error == 0 && *flow == MLA_FLOW_ON; i++)
		error = mla_execute(flow, m, e, n->kid[i]);
	return error;
}

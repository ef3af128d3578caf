/* The function that a call runs, and what its parameters are given. */
#include "analyzer/pool_trace.h"

#include "analyzer/str.h"

enum { MAX_CALLS = 6 };

bool mla_trace_is_self(const mla_trace_frame *fr, const mla_node *n)
{
	return n && n->kind == MLA_N_NAME && fr->owner.node && n->name.len &&
	       !mla_method_is(fr->function, "staticmethod") &&
	       mla_str_eq(n->name, mla_method_self(fr->function));
}

bool mla_trace_is_library(const mla_trace_frame *fr, const mla_node *n)
{
	while (n->kind == MLA_N_ATTRIBUTE)
		n = n->kid[0];
	return n->kind == MLA_N_NAME && !mla_parameter(fr->function, n->name) &&
	       mla_module_alias(fr->module, n->name);
}

const mla_node *mla_trace_argument(const mla_trace_frame *fr, const mla_node *p)
{
	uint32_t position = p->index - (fr->bound ? 1 : 0), at = 0;

	if (p->index == 0 && fr->bound)
		return NULL;
	for (uint32_t i = 1; i < fr->call->n; i++) {
		const mla_node *a = fr->call->kid[i];

		if (!a || a->kind == MLA_N_STAR || a->kind == MLA_N_STAR_STAR)
			return NULL;
		if (a->kind == MLA_N_KEYWORD ? mla_str_eq(a->name, p->name) : at == position)
			return a->kind == MLA_N_KEYWORD ? mla_kid(a, 0) : a;
		at += a->kind != MLA_N_KEYWORD;
	}
	return NULL;
}

static bool in_chain(const mla_trace_frame *fr, const mla_node *function, uint32_t *calls)
{
	for (*calls = 0; fr; fr = fr->caller) {
		(*calls)++;
		if (fr->function == function)
			return true;
	}
	return false;
}

/* A function or lambda that a function gives a name. */
static const mla_node *local_function(const mla_trace_frame *fr, mla_str name)
{
	for (const mla_node *n = mla_kid(fr->function, 1); n;
	     n = mla_node_next(n, mla_kid(fr->function, 1), false)) {
		if (n->kind == MLA_N_FUNCTION && mla_str_eq(n->name, name))
			return n;
		if (n->kind == MLA_N_ASSIGN && n->n == 2 && n->kid[0]->kind == MLA_N_NAME &&
		    mla_str_eq(n->kid[0]->name, name) && n->kid[1]->kind == MLA_N_LAMBDA)
			return n->kid[1];
	}
	return NULL;
}

static bool enter(mla_trace_frame *out, mla_trace *t, const mla_trace_frame *fr,
                  const mla_node *call)
{
	const mla_node *callee = call->kid[0];
	mla_symbol s = {0};
	uint32_t calls;

	*out = (mla_trace_frame){.caller = fr, .call = call};
	if (callee->kind == MLA_N_ATTRIBUTE && mla_trace_is_self(fr, callee->kid[0])) {
		mla_lineage l;
		mla_method m;

		mla_class_lineage(&l, t->project, fr->owner);
		m = mla_lineage_method(&l, callee->name);
		if (!m.node)
			return false;
		s = (mla_symbol){m.owner.module, m.node};
		out->owner = fr->owner;
		out->bound = !mla_method_is(m.node, "staticmethod");
	} else if (callee->kind == MLA_N_NAME || mla_trace_is_library(fr, callee)) {
		if (callee->kind == MLA_N_NAME && mla_parameter(fr->function, callee->name))
			return false;
		if (callee->kind == MLA_N_NAME)
			s = (mla_symbol){fr->module, local_function(fr, callee->name)};
		if (!s.node)
			s = mla_project_resolve_node(t->project, fr->module, callee);
	}
	if (!s.node || (s.node->kind != MLA_N_FUNCTION && s.node->kind != MLA_N_LAMBDA) ||
	    in_chain(fr, s.node, &calls) || calls > MAX_CALLS)
		return false;
	out->function = s.node;
	out->module = s.module;
	return true;
}

const mla_trace_frame *mla_trace_enter(mla_trace *t, const mla_trace_frame *fr,
                                       const mla_node *call)
{
	bool known;
	mla_pool_fact *f = mla_pool_memo_at(&t->frames, fr, call, &known);
	mla_trace_frame inner;

	if (known)
		return f->entered;
	if (!enter(&inner, t, fr, call))
		return NULL;
	f->entered = mla_arena_alloc(t->arena, sizeof(*f->entered));
	*f->entered = inner;
	return f->entered;
}

/*
 * A flag that the full path leaves beside the windows, "nothing is padded", and that the gate asks
 * for. With one new token it stays true; with several the new ones have to be looked at too.
 */
#include "analyzer/pool_spell.h"

#include "analyzer/str.h"

/* The attribute that memory was read from: cache.NAME, getattr(cache, "NAME"), or a name for it. */
static mla_str home_of(const mla_trace_frame *fr, const mla_node *n, uint32_t depth)
{
	mla_reachings r;

	if (!n || !depth)
		return (mla_str){"", 0};
	if (n->kind == MLA_N_ATTRIBUTE)
		return n->name;
	if (n->kind == MLA_N_CALL && n->n >= 3 && mla_str_is(n->kid[0]->name, "getattr") &&
	    n->kid[2]->kind == MLA_N_STRING) {
		mla_str text = mla_node_text(fr->module->text, n->kid[2]);

		return (mla_str){text.ptr + 1, text.len > 2 ? text.len - 2 : 0};
	}
	if (n->kind != MLA_N_NAME)
		return (mla_str){"", 0};
	mla_trace_reach(&r, fr, n);
	return r.n == 1 ? home_of(fr, r.v[0].value, depth - 1) : (mla_str){"", 0};
}

/* What is stored at an attribute, or as a part of the tuple that is stored there. */
static const mla_node *stored_at(const mla_pool *p, mla_str home, int64_t part)
{
	for (const mla_node *n = p->function; n; n = mla_node_next(n, p->function, false)) {
		const mla_node *value = n->kind == MLA_N_ASSIGN ? n->kid[n->n - 1] : NULL;

		if (!value || n->kid[0]->kind != MLA_N_ATTRIBUTE ||
		    !mla_str_eq(n->kid[0]->name, home))
			continue;
		if (part < 0)
			return value;
		if (value->kind == MLA_N_TUPLE && part < value->n)
			return value->kid[part];
	}
	return NULL;
}

static bool is_truth(const mla_node *n)
{
	static const char *const names[] = {"bool", "all", "any", "item", "is_none", NULL};

	return n->kind == MLA_N_COMPARE || n->kind == MLA_N_NOT || n->kind == MLA_N_OR ||
	       n->kind == MLA_N_AND ||
	       (n->kind == MLA_N_CALL && n->kid[0] && mla_str_in(n->kid[0]->name, names));
}

/* How the full path works the flag out. */
static const mla_node *worked_out(const mla_pool *p, const mla_trace_frame *fr, const mla_node *n)
{
	mla_reachings r;

	if (!n || is_truth(n))
		return n;
	if (n->kind != MLA_N_NAME)
		return NULL;
	mla_trace_reach(&r, fr, n);
	for (uint32_t i = 0; i < r.n; i++)
		if (r.v[i].value && r.v[i].part < 0 && is_truth(r.v[i].value))
			return r.v[i].value;
	(void)p;
	return NULL;
}

/* A tensor that the flag is made of, as opposed to a library, a function or an `is None`. */
static bool is_operand(const mla_pool *p, const mla_node *n)
{
	if (n->kind != MLA_N_NAME || mla_module_alias(p->module, n->name))
		return false;
	if (n->parent->kind == MLA_N_CALL && n->index == 0)
		return false;
	return n->parent->kind != MLA_N_COMPARE ||
	       (n->parent->op != MLA_OP_IS && n->parent->op != MLA_OP_IS_NOT);
}

/* The flag's expression over the new tokens alone: every operand is cut to them. */
static mla_str over_new(const mla_pool *p, const mla_pool_site *s, const mla_node *expr)
{
	const mla_text *text = p->module->text;
	mla_str out = {"", 0};
	uint32_t at = expr->span.start, operands = 0;

	for (const mla_node *n = expr; n; n = mla_node_next(n, expr, false)) {
		mla_reachings r;
		bool there;

		if (n->kind != MLA_N_NAME)
			continue;
		mla_trace_reach(&r, s->gate->frame, n);
		there = !r.n || r.v[0].target->span.start < p->gate->span.start;
		if (!there)
			return (mla_str){"", 0};
		if (!is_operand(p, n))
			continue;
		out = mla_arena_format(s->trace->arena, "%.*s%.*s[:, -%.*s:]", MLA_ARG(out),
		                       MLA_ARG(mla_text_slice(text, (mla_span){at, n->span.end})),
		                       MLA_ARG(p->fresh));
		at = n->span.end;
		operands++;
	}
	if (!operands)
		return (mla_str){"", 0};
	return mla_arena_format(s->trace->arena, "%.*s%.*s", MLA_ARG(out),
	                        MLA_ARG(mla_text_slice(text, (mla_span){at, expr->span.end})));
}

void mla_pool_padding(mla_pool *p, const mla_pool_site *s)
{
	for (uint32_t i = 0; i < s->guards->atoms; i++) {
		const mla_pool_atom *a = &s->guards->atom[i];
		const mla_node *n = a->node, *expr;
		const mla_trace_frame *fr = a->frame;
		int64_t part = -1;
		mla_reachings r;
		mla_str home;

		if (!a->holds || fr->function != p->function)
			continue;
		if (n->kind == MLA_N_SUBSCRIPT && n->n == 2 && n->kid[1]->kind == MLA_N_INT &&
		    mla_str_int(&part, n->kid[1]->name, 0, 8)) {
			home = home_of(fr, n->kid[0], 4);
		} else if (n->kind == MLA_N_NAME) {
			mla_trace_reach(&r, fr, n);
			if (r.n != 1 || r.v[0].part < 0)
				continue;
			part = r.v[0].part;
			home = home_of(fr, r.v[0].value, 4);
		} else {
			home = n->kind == MLA_N_ATTRIBUTE || n->kind == MLA_N_CALL
			               ? home_of(fr, n, 4)
			               : (mla_str){"", 0};
		}
		expr = home.len ? worked_out(p, fr, stored_at(p, home, part)) : NULL;
		if (!expr)
			continue;
		p->padding = n;
		p->padding_test = over_new(p, s, expr);
		if (!p->padding_test.len) {
			p->refusal = MLA_POOL_PADDING;
			p->refusal_at = n;
		}
		return;
	}
}

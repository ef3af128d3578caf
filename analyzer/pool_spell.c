/*
 * Writing the recorded length, the cached length and the number of new tokens at the gate of a
 * pool, from what is bound before it.
 */
#include "analyzer/pool_spell.h"

#include "analyzer/str.h"

enum { MAX_DEPTH = 8, MAX_TEXT = 64 };

static const mla_str nothing = {"", 0};

static mla_str text_of(const mla_trace_frame *fr, const mla_node *n)
{
	return mla_node_text(fr->module->text, n);
}

/* Is what this name means here, in the gate's function, known before the gate already? */
static bool bound_before(const mla_pool *p, const mla_trace_frame *fr, const mla_node *name)
{
	mla_reachings r;

	mla_trace_reach(&r, fr, name);
	for (uint32_t i = 0; i < r.n; i++)
		if (r.v[i].target->span.start >= p->gate->span.start)
			return false;
	return r.n || mla_parameter(fr->function, name->name) ||
	       mla_module_alias(fr->module, name->name) ||
	       mla_module_binding(fr->module, name->name) || mla_str_is(name->name, "getattr");
}

/* Can the expression stand at the gate as it is? */
static bool is_at_hand(const mla_pool *p, const mla_trace_frame *fr, const mla_node *n)
{
	if (fr->function != p->function || fr->module != p->module)
		return false;
	for (const mla_node *k = n; k; k = mla_node_next(k, n, false)) {
		if (k->kind == MLA_N_CALL && !mla_str_is(k->kid[0]->name, "getattr") && k != n)
			return false;
		if (k->kind == MLA_N_NAME && !bound_before(p, fr, k))
			return false;
	}
	return n->span.end - n->span.start <= MAX_TEXT;
}

static mla_str spell(const mla_pool *p, const mla_pool_site *s, const mla_trace_frame *fr,
                     const mla_node *n, uint32_t depth)
{
	mla_reachings r;
	mla_str of;

	if (!n || !depth)
		return nothing;
	if (is_at_hand(p, fr, n))
		return text_of(fr, n);
	if (n->kind == MLA_N_SUBSCRIPT && n->n == 2 && n->kid[1]->kind == MLA_N_INT) {
		of = spell(p, s, fr, n->kid[0], depth - 1);
		return of.len ? mla_arena_format(s->trace->arena, "%.*s[%.*s]", MLA_ARG(of),
		                                 MLA_ARG(text_of(fr, n->kid[1])))
		              : nothing;
	}
	if (n->kind == MLA_N_ATTRIBUTE) {
		of = spell(p, s, fr, n->kid[0], depth - 1);
		return of.len ? mla_arena_format(s->trace->arena, "%.*s.%.*s", MLA_ARG(of),
		                                 MLA_ARG(n->name))
		              : nothing;
	}
	if (n->kind != MLA_N_NAME)
		return nothing;
	mla_trace_reach(&r, fr, n);
	if (!r.n && fr->call && mla_parameter(fr->function, n->name))
		return spell(p, s, fr->caller,
		             mla_trace_argument(fr, mla_parameter(fr->function, n->name)),
		             depth - 1);
	if (r.n != 1 || r.open || !r.v[0].value)
		return nothing;
	of = spell(p, s, fr, r.v[0].value, depth - 1);
	if (!of.len || r.v[0].part < 0)
		return of;
	return mla_arena_format(s->trace->arena, "%.*s[%d]", MLA_ARG(of), (int)r.v[0].part);
}

/* The part of an expression that was read back and is a number of tokens. */
static const mla_node *remembered(const mla_pool_site *s, const mla_trace_frame **fr,
                                  const mla_node *expr, uint32_t depth)
{
	for (const mla_node *n = expr; n && depth; n = mla_node_next(n, expr, false)) {
		uint32_t tags;
		mla_reachings r;

		if (n->kind != MLA_N_NAME && n->kind != MLA_N_ATTRIBUTE &&
		    n->kind != MLA_N_SUBSCRIPT)
			continue;
		tags = mla_trace_tags(s->trace, *fr, n);
		if (!(tags & MLA_TR_MEMORY))
			continue;
		if (!(tags & (MLA_TR_QUOTIENT | MLA_TR_LENGTH | MLA_TR_STEP | MLA_TR_ONE)))
			return n;
		if (n->kind != MLA_N_NAME)
			continue;
		/* a number made of it */
		mla_trace_reach(&r, *fr, n);
		for (uint32_t i = 0; i < r.n; i++) {
			const mla_node *found = r.v[i].value && r.v[i].part < 0
			                                ? remembered(s, fr, r.v[i].value, depth - 1)
			                                : NULL;

			if (found)
				return found;
		}
		if (!r.n && (*fr)->call && mla_parameter((*fr)->function, n->name)) {
			const mla_node *given =
				mla_trace_argument(*fr, mla_parameter((*fr)->function, n->name));

			if (given) {
				*fr = (*fr)->caller;
				return remembered(s, fr, given, depth - 1);
			}
		}
	}
	return NULL;
}

/* A shape's axis is a length, but none that was recorded. */
static bool is_recorded(const mla_node *n)
{
	for (const mla_node *k = n; k; k = mla_node_next(k, n, false))
		if (k->kind == MLA_N_ATTRIBUTE && mla_str_is(k->name, "shape"))
			return false;
	return true;
}

static void spell_recorded(mla_pool *p, const mla_pool_site *s)
{
	const mla_trace_frame *fr = s->suffix_frame;
	const mla_node *n = remembered(s, &fr, s->start, MAX_DEPTH);

	if (n && is_recorded(n))
		p->recorded = spell(p, s, fr, n, MAX_DEPTH);
	if (p->recorded.len && mla_str_contains(p->recorded, ".shape"))
		p->recorded = nothing;
}

/*
 * A name of the gate's function, bound before it to a number of tokens with these tags and none of
 * the others; the last one.
 */
static mla_str bound_number(const mla_pool *p, const mla_pool_site *s, uint32_t with, uint32_t none)
{
	const mla_trace_frame *fr = s->gate->frame;
	const mla_node *body = mla_kid(fr->function, 1), *list = mla_kid(fr->function, 0);
	mla_str found = nothing;

	for (uint32_t i = 0; list && i < list->n; i++) {
		const mla_node *given = fr->call ? mla_trace_argument(fr, list->kid[i]) : NULL;
		uint32_t tags = given ? mla_trace_tags(s->trace, fr->caller, given) : 0;

		if ((tags & with) == with && !(tags & none))
			found = list->kid[i]->name;
	}
	for (const mla_node *n = body; n && n->span.start < p->gate->span.start;
	     n = mla_node_next(n, body, n->kind == MLA_N_FUNCTION || n->kind == MLA_N_LAMBDA)) {
		const mla_node *target = n->kind == MLA_N_ASSIGN && n->n == 2 ? n->kid[0] : NULL;
		uint32_t parts = target && target->kind == MLA_N_TUPLE ? target->n : 0;

		if (n->kind == MLA_N_ASSIGN && mla_node_within(p->gate, n))
			break;
		for (uint32_t i = 0; target && i < (parts ? parts : 1); i++) {
			const mla_node *name = parts ? target->kid[i] : target;
			uint32_t tags;

			if (name->kind != MLA_N_NAME)
				continue;
			s->trace->steps = 0;
			tags = mla_trace_part(s->trace, fr, n->kid[1], parts ? (int32_t)i : -1,
			                      parts);
			if ((tags & with) == with && !(tags & none))
				found = name->name;
		}
	}
	return found;
}

enum {
	NO_NUMBER = MLA_TR_QUOTIENT | MLA_TR_ONE | MLA_TR_STEP | MLA_TR_NEW | MLA_TR_ROWS |
	            MLA_TR_CACHE | MLA_TR_MEMORY | MLA_TR_ARRAY
};

/* keys.shape[1] of the keys that the suffix is cut from */
static void spell_total(mla_pool *p, const mla_pool_site *s)
{
	mla_str keys;
	uint32_t at = 1;

	p->total = bound_number(p, s, MLA_TR_LENGTH, NO_NUMBER | MLA_TR_COUNT);
	if (p->total.len)
		return;
	keys = spell(p, s, s->suffix_frame, p->suffix->kid[0], MAX_DEPTH);
	while (at < p->suffix->n && p->suffix->kid[at]->kind == MLA_N_SLICE &&
	       !mla_kid(p->suffix->kid[at], 0))
		at++;
	if (keys.len && at < p->suffix->n && p->suffix->kid[at]->kind == MLA_N_SLICE)
		p->total =
			mla_arena_format(s->trace->arena, "%.*s.shape[%u]", MLA_ARG(keys), at - 1);
}

static void spell_count(mla_pool *p, const mla_pool_site *s)
{
	const mla_node *n = s->single ? s->single->node : NULL;
	const mla_node *list = mla_kid(p->function, 0);

	for (uint32_t i = 0; n && n != p->length && n->kind == MLA_N_COMPARE && i < 2; i++)
		if (mla_trace_tags(s->trace, s->single->frame, n->kid[i]) & MLA_TR_COUNT &&
		    n->kid[i]->kind != MLA_N_WALRUS && n->kid[i]->kind != MLA_N_BINARY)
			p->fresh = spell(p, s, s->single->frame, n->kid[i], MAX_DEPTH);
	if (!p->fresh.len)
		p->fresh = bound_number(p, s, MLA_TR_COUNT, NO_NUMBER | MLA_TR_LENGTH);
	for (uint32_t i = 0; list && i < list->n && !p->fresh.len; i++) {
		const mla_node *x = list->kid[i];

		if (mla_str_is(x->name, "x") || mla_str_mentions(x->name, "hidden"))
			p->fresh = mla_arena_format(s->trace->arena, "%.*s.shape[1]",
			                            MLA_ARG(x->name));
	}
}

static bool is_one(const mla_node *n)
{
	return n->kind == MLA_N_INT && mla_str_is(n->name, "1");
}

/* x[:, -1], x[:, -1:], x[:, :1]: the axis of tokens has one of them */
static bool takes_one(const mla_node *n)
{
	const mla_node *i = n->n >= 3 ? n->kid[2] : NULL, *lower, *upper;

	if (!i || n->kid[0]->kind == MLA_N_ATTRIBUTE)
		return false;
	if (i->kind == MLA_N_UNARY)
		return is_one(i->kid[0]);
	if (i->kind != MLA_N_SLICE)
		return false;
	lower = mla_kid(i, 0);
	upper = mla_kid(i, 1);
	return (lower && lower->kind == MLA_N_UNARY && is_one(lower->kid[0])) ||
	       (!lower && upper && is_one(upper));
}

/* T - 1, seen + 1: of a length itself; in (T + w - 1) // w the 1 only rounds */
static bool steps_by_one(const mla_pool_site *s, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *of;

	if (n->kind != MLA_N_BINARY || (n->op != MLA_OP_ADD && n->op != MLA_OP_SUB) ||
	    !is_one(n->kid[1]))
		return false;
	of = n->kid[0];
	if (of->kind == MLA_N_BINARY || of->kind == MLA_N_UNARY)
		return false;
	return (mla_trace_tags(s->trace, fr, of) &
	        (MLA_TR_MEMORY | MLA_TR_LENGTH | MLA_TR_QUOTIENT)) &&
	       !(mla_trace_tags(s->trace, fr, of) & MLA_TR_QUOTIENT);
}

static const mla_node *assumption_in(const mla_pool *p, const mla_pool_site *s,
                                     const mla_trace_frame *fr, const mla_node *top)
{
	for (const mla_node *n = top; n; n = mla_node_next(n, top, n == p->length))
		if (n != p->length &&
		    ((n->kind == MLA_N_SUBSCRIPT && takes_one(n)) || steps_by_one(s, fr, n)))
			return n;
	return NULL;
}

static const mla_node *find_assumption(const mla_pool *p, const mla_pool_site *s)
{
	const mla_pool_condition *c = s->gate;
	const mla_node *arm = NULL, *found = NULL;
	mla_reachings r;

	if (s->start &&
	    s->start->kind == MLA_N_UNARY) /* the last window, not the last complete one */
		return p->suffix;
	if (s->start && s->start->kind == MLA_N_NAME) {
		mla_trace_reach(&r, s->suffix_frame, s->start);
		for (uint32_t i = 0; i < r.n && !found; i++)
			if (r.v[i].value)
				found = assumption_in(p, s, s->suffix_frame, r.v[i].value);
	}
	if (!found && s->start)
		found = assumption_in(p, s, s->suffix_frame, s->start);
	if (!c->before && (c->chooser->kind == MLA_N_IF || c->chooser->kind == MLA_N_CONDITION))
		arm = mla_kid(c->chooser, c->holds ? 1 : 2);
	if (!found && arm)
		found = assumption_in(p, s, c->frame, arm);
	if (!found && s->extend_frame->function != p->function)
		found = assumption_in(p, s, s->extend_frame, mla_kid(s->extend_frame->function, 1));
	return found;
}

static void refuse(mla_pool *p, mla_pool_refusal why, const mla_node *at)
{
	if (p->refusal != MLA_POOL_FIXABLE)
		return;
	p->refusal = why;
	p->refusal_at = at;
}

/* Can an operand leave the gate, and another come, without a change to anything else? */
static bool is_plain(const mla_pool *p)
{
	mla_kind joint = p->gate_holds ? MLA_N_AND : MLA_N_OR;
	const mla_node *n = p->gate;

	if (p->single && !mla_node_within(p->single_in, p->gate))
		return false;
	if (p->length && !mla_node_within(p->length, p->function))
		return false;
	for (n = p->single ? p->single_in : NULL; n && n != p->gate; n = n->parent)
		if (n->parent->kind != joint)
			return false;
	return true;
}

static bool is_pattern(const mla_node *n)
{
	return n->parent && n->parent->kind == MLA_N_CASE && n->index == 0;
}

/* Does a condition before the gate say that something is remembered? */
static bool is_remembered(const mla_pool *p, const mla_pool_site *s)
{
	for (uint32_t i = 0; i < s->guards->atoms; i++) {
		const mla_pool_atom *a = &s->guards->atom[i];
		const mla_pool_condition *c = &s->guards->v[a->condition];
		bool absent = a->node->op == MLA_OP_IS;
		const mla_node *of = a->node;

		if (of->kind == MLA_N_COMPARE && of->kid[1]->kind == MLA_N_NONE &&
		    (absent || of->op == MLA_OP_IS_NOT))
			of = a->holds != absent ? of->kid[0] : NULL;
		else if (of->kind != MLA_N_NAME || !a->holds)
			of = NULL;
		if (of && c != s->gate && c->frame->function == p->function &&
		    c->chooser->span.start < p->gate->span.start &&
		    (mla_trace_tags(s->trace, a->frame, of) & MLA_TR_MEMORY))
			return true;
	}
	return false;
}

void mla_pool_spell(mla_pool *p, const mla_pool_site *s)
{
	spell_recorded(p, s);
	spell_total(p, s);
	spell_count(p, s);
	if (p->function->has_error)
		refuse(p, MLA_POOL_SYNTAX, p->function);
	if (p->single && (p->assumes = find_assumption(p, s)))
		refuse(p, MLA_POOL_ONE_TOKEN, p->assumes);
	if (!p->fresh.len)
		refuse(p, MLA_POOL_NO_COUNT, p->gate);
	if (!p->length && !p->recorded.len)
		refuse(p, MLA_POOL_NO_LENGTH, p->gate);
	if (!p->length && !p->total.len)
		refuse(p, MLA_POOL_NO_TOTAL, p->gate);
	if (!is_plain(p) || is_pattern(p->gate) || (p->single && is_pattern(p->single)))
		refuse(p, MLA_POOL_MIXED, p->gate);
	if (p->single && p->single != p->length && p->single_in == p->gate &&
	    (p->length || !is_remembered(p, s)))
		refuse(p, MLA_POOL_ALONE, p->gate);
	if (p->refusal == MLA_POOL_FIXABLE && p->single)
		mla_pool_padding(p, s);
	if (p->refusal != MLA_POOL_FIXABLE)
		p->refusal_module = mla_project_owner(s->trace->project, p->refusal_at);
}

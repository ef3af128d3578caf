#include "analyzer/pool_trim.h"

#include "analyzer/str.h"

enum { MAX_DEPTH = 8, MAX_NAMES = 8 };

typedef struct {
	mla_str v[MAX_NAMES];
	uint32_t n;
	bool cut; /* one of them was found to be set to something */
} names;

static void add(names *to, mla_str name)
{
	if (name.len && to->n < MAX_NAMES)
		to->v[to->n++] = name;
}

static void attributes(names *out, const mla_trace_frame *fr, const mla_node *n, uint32_t depth);

static void of_call(names *out, const mla_trace_frame *fr, const mla_node *call, uint32_t depth)
{
	const mla_node *callee = call->kid[0];

	if (callee && mla_str_is(callee->name, "getattr") && mla_kid(call, 2)) {
		add(out, mla_str_unquoted(mla_node_text(fr->module->text, call->kid[2])));
	} else if (callee && callee->kind == MLA_N_ATTRIBUTE) { /* x.astype(d), lib.copy(x) */
		attributes(out, fr, callee->kid[0], depth);
		attributes(out, fr, mla_kid(call, 1), depth);
	}
}

/* The attributes that a value may have been read from: x.NAME and getattr(x, "NAME", ...). */
static void attributes(names *out, const mla_trace_frame *fr, const mla_node *n, uint32_t depth)
{
	mla_reachings r;

	if (!n || depth-- == 0)
		return;
	switch ((mla_kind)n->kind) {
	case MLA_N_ATTRIBUTE:
		add(out, n->name);
		break;
	case MLA_N_SUBSCRIPT:
		attributes(out, fr, n->kid[0], depth);
		break;
	case MLA_N_CONDITION:
		attributes(out, fr, n->kid[1], depth);
		attributes(out, fr, n->kid[2], depth);
		break;
	case MLA_N_CALL:
		of_call(out, fr, n, depth);
		break;
	case MLA_N_NAME:
		mla_trace_reach(&r, fr, n);
		for (uint32_t i = 0; i < r.n; i++)
			attributes(out, fr, r.v[i].value, depth);
		break;
	default:
		break;
	}
}

static bool is_own(const mla_node *method, const mla_node *n)
{
	return n->kind == MLA_N_ATTRIBUTE && n->kid[0] && n->kid[0]->kind == MLA_N_NAME &&
	       mla_str_eq(n->kid[0]->name, mla_method_self(method));
}

/* self.NAME = ..., also among other targets */
static bool sets(const mla_node *method, names *wanted)
{
	for (const mla_node *n = method; n; n = mla_node_next(n, method, false)) {
		const mla_node *top = n;

		if (!is_own(method, n))
			continue;
		while (top->parent->kind == MLA_N_TUPLE || top->parent->kind == MLA_N_LIST)
			top = top->parent;
		if (top->parent->kind != MLA_N_ASSIGN || top->index + 1 >= top->parent->n)
			continue;
		for (uint32_t i = 0; i < wanted->n; i++)
			if (mla_str_eq(n->name, wanted->v[i])) {
				wanted->cut |=
					top->parent->kid[top->parent->n - 1]->kind != MLA_N_NONE;
				return true;
			}
	}
	return false;
}

/* Named for it, or taking something away from an attribute. */
static bool makes_shorter(const mla_node *method)
{
	static const char *const words[] = {"trim", "crop", "truncate", "rollback", "rewind", NULL};

	for (int i = 0; words[i]; i++)
		if (mla_str_mentions(method->name, words[i]))
			return true;
	for (const mla_node *n = method; n; n = mla_node_next(n, method, false))
		if (n->kind == MLA_N_AUG_ASSIGN && n->op == MLA_OP_SUB && is_own(method, n->kid[0]))
			return true;
	return false;
}

static bool sets_when_shorter(const mla_lineage *l, const mla_node *method, names *wanted)
{
	if (method->kind != MLA_N_FUNCTION || !makes_shorter(method))
		return false;
	if (sets(method, wanted))
		return true;
	for (const mla_node *n = method; n; n = mla_node_next(n, method, false)) {
		mla_method other;

		if (n->kind != MLA_N_CALL || !is_own(method, n->kid[0]))
			continue;
		other = mla_lineage_method(l, n->kid[0]->name);
		if (other.node && sets(other.node, wanted))
			return true;
	}
	return false;
}

static bool class_trims(mla_project *project, mla_class c, names *wanted)
{
	const mla_node *body = mla_kid(c.node, 1);
	mla_lineage l;

	mla_class_lineage(&l, project, c);
	for (uint32_t i = 0; body && i < body->n; i++)
		if (body->kid[i] && sets_when_shorter(&l, body->kid[i], wanted))
			return true;
	return false;
}

bool mla_pool_is_trimmed(mla_trace *t, const mla_trace_frame *fr, const mla_node *kept, bool *cut)
{
	names wanted = {0};

	attributes(&wanted, fr, kept, MAX_DEPTH);
	for (uint32_t i = 0; wanted.n && i < fr->module->binding_count; i++) {
		mla_symbol s =
			mla_project_resolve(t->project, fr->module, fr->module->bindings[i].name);

		if (s.node && s.node->kind == MLA_N_CLASS &&
		    class_trims(t->project, (mla_class){s.module, s.node}, &wanted)) {
			*cut = wanted.cut;
			return true;
		}
	}
	return false;
}

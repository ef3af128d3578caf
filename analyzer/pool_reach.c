/* Which assignments reach a use of a name, by the structure of the statements around it. */
#include "analyzer/pool_trace.h"

#include "analyzer/str.h"

/* Statements nested deeper than this are taken to change nothing that matters. */
enum { MAX_DEPTH = 64 };

typedef struct {
	mla_reachings *out;
	const mla_text *text;
	const mla_node *name;
	uint32_t depth;
} search;

static bool same_name(const search *s, const mla_node *n)
{
	if (n->kind != s->name->kind)
		return false;
	return n->kind == MLA_N_NAME ? mla_str_eq(n->name, s->name->name)
	                             : mla_node_same(s->text, n, s->text, s->name);
}

static bool add(search *s, const mla_node *target, const mla_node *value, int32_t part,
                uint32_t parts)
{
	if (s->out->n == MLA_REACHING_MAX)
		s->out->open = true;
	else
		s->out->v[s->out->n++] = (mla_reaching){target, value, part, parts};
	return true;
}

/* `target = value`, with one level of unpacking. */
static bool binds(search *s, const mla_node *target, const mla_node *value)
{
	if (!target)
		return false;
	if (same_name(s, target))
		return add(s, target, value, -1, 0);
	if (target->kind != MLA_N_TUPLE && target->kind != MLA_N_LIST)
		return false;
	for (uint32_t i = 0; i < target->n; i++)
		if (same_name(s, target->kid[i])) {
			bool parallel =
				value && value->kind == MLA_N_TUPLE && value->n == target->n;

			return parallel ? add(s, target->kid[i], value->kid[i], -1, 0)
			                : add(s, target->kid[i], value, (int32_t)i, target->n);
		}
	return false;
}

/* Assignments inside an expression. */
static bool walruses(search *s, const mla_node *expr)
{
	bool found = false;

	for (const mla_node *n = expr; n; n = mla_node_next(n, expr, n->kind == MLA_N_LAMBDA))
		if (n->kind == MLA_N_WALRUS && n->n == 2)
			found |= binds(s, n->kid[0], n->kid[1]);
	return found;
}

static bool in_statement(search *s, const mla_node *n);

static bool in_block(search *s, const mla_node *block)
{
	for (uint32_t i = block ? block->n : 0; i > 0; i--)
		if (in_statement(s, block->kid[i - 1]))
			return true;
	return false;
}

/* Does the name get a value whichever way the statement is gone through? */
static bool in_if(search *s, const mla_node *n)
{
	const mla_node *other = mla_kid(n, 2);
	bool then = mla_trace_exits(n->kid[1]) || in_block(s, n->kid[1]);
	bool otherwise =
		other && (mla_trace_exits(other) ||
	                  (other->kind == MLA_N_IF ? in_statement(s, other) : in_block(s, other)));

	return walruses(s, n->kid[0]) || (then && otherwise);
}

static bool in_one(search *s, const mla_node *n)
{
	bool found = false;

	switch ((mla_kind)n->kind) {
	case MLA_N_ASSIGN:
		for (uint32_t i = 0; i + 1 < n->n && !found; i++)
			found = binds(s, n->kid[i], n->kid[n->n - 1]);
		return found || walruses(s, n->kid[n->n - 1]);
	case MLA_N_ANN_ASSIGN:
		return n->n > 2 && n->kid[2] && binds(s, n->kid[0], n->kid[2]);
	case MLA_N_AUG_ASSIGN: /* its value is the statement: both sides count */
		if (same_name(s, n->kid[0]))
			add(s, n->kid[0], n->kid[1], -1, 0);
		return false;
	case MLA_N_IF:
		return in_if(s, n);
	case MLA_N_WITH:
		return in_block(s, n->kid[n->n - 1]);
	case MLA_N_FOR:
		in_block(s, n->kid[2]);
		binds(s, n->kid[0], NULL);
		return false;
	case MLA_N_WHILE:
		in_block(s, n->kid[1]);
		return walruses(s, n->kid[0]);
	case MLA_N_TRY:
		for (uint32_t i = 0; i < n->n; i++)
			in_block(s, n->kid[i]->kind == MLA_N_BLOCK     ? n->kid[i]
			            : n->kid[i]->kind == MLA_N_HANDLER ? mla_kid(n->kid[i], 1)
			                                               : mla_kid(n->kid[i], 0));
		return false;
	case MLA_N_MATCH:
		for (uint32_t i = 1; i < n->n; i++)
			in_block(s, mla_kid(n->kid[i], 2));
		return false;
	case MLA_N_EXPRESSION:
	case MLA_N_RETURN:
		return walruses(s, n);
	default:
		return false;
	}
}

static bool in_statement(search *s, const mla_node *n)
{
	bool found;

	if (s->depth == MAX_DEPTH) {
		s->out->open = true;
		return false;
	}
	s->depth++;
	found = in_one(s, n);
	s->depth--;
	return found;
}

/* What is evaluated before `n` inside its parent. */
static bool before_in_parent(search *s, const mla_node *n, const mla_node *parent)
{
	switch ((mla_kind)parent->kind) {
	case MLA_N_BLOCK:
		for (uint32_t i = n->index; i > 0; i--)
			if (in_statement(s, parent->kid[i - 1]))
				return true;
		return false;
	case MLA_N_IF:
	case MLA_N_WHILE:
	case MLA_N_AND:
	case MLA_N_OR:
	case MLA_N_CONDITION:
		return n->index > 0 && parent->kid[0] && walruses(s, parent->kid[0]);
	case MLA_N_FOR:
		return n->index == 2 && binds(s, parent->kid[0], NULL);
	case MLA_N_WITH:
		for (uint32_t i = 0; i + 1 < parent->n && n->index + 1 == parent->n; i++)
			if (binds(s, mla_kid(parent->kid[i], 1), mla_kid(parent->kid[i], 0)))
				return true;
		return false;
	default:
		return false;
	}
}

void mla_trace_reach(mla_reachings *out, const mla_trace_frame *fr, const mla_node *name)
{
	search s = {.out = out, .text = fr->module->text, .name = name};

	*out = (mla_reachings){0};
	for (const mla_node *n = name; n->parent && n != fr->function; n = n->parent)
		if (before_in_parent(&s, n, n->parent))
			return;
	out->open = true;
}

static bool exits(const mla_node *n, uint32_t depth)
{
	if (!n || depth == MAX_DEPTH)
		return false;
	switch ((mla_kind)n->kind) {
	case MLA_N_RETURN:
	case MLA_N_RAISE:
	case MLA_N_BREAK:
	case MLA_N_CONTINUE:
		return true;
	case MLA_N_BLOCK:
	case MLA_N_WITH:
		return n->n && exits(n->kid[n->n - 1], depth + 1);
	case MLA_N_IF:
		return exits(n->kid[1], depth + 1) && exits(mla_kid(n, 2), depth + 1);
	default:
		return false;
	}
}

bool mla_trace_exits(const mla_node *n)
{
	return exits(n, 0);
}

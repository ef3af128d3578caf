/*
 * The fix of MLA101 and MLA102: the condition of the incremental path of a pool. Operands leave and
 * come; the others, their comments and their layout stay as they are.
 */
#include "analyzer/str.h"
#include "fixers/fix.h"

int mla_fix_pool_gate(mla_fix *out, mla_arena *arena, mla_project *project,
                      const mla_finding *finding, mla_form form);

enum { COLUMNS = 88 };

typedef struct {
	mla_fix *fix;
	mla_arena *arena;
	const mla_pool *pool;
	const char *joint; /* "and", "or"; "&&", "||" */
	mla_kind kind;
	const mla_node *one; /* the constant to be replaced in the test of the length, or NULL */
} plan;

static const mla_text *text_of(const plan *p)
{
	return p->pool->module->text;
}

static void edit(plan *p, uint32_t start, uint32_t end, mla_str with)
{
	mla_edits_add(&p->fix->edits, p->pool->module, (mla_span){start, end}, with);
}

/* The operand after or before another one in a chain of the same joint; NULL: none. */
static const mla_node *neighbour(const plan *p, const mla_node *n, bool after)
{
	for (; n != p->pool->gate && n->parent->kind == p->kind; n = n->parent) {
		if (n->index != (after ? 0 : 1))
			continue;
		n = n->parent->kid[after ? 1 : 0];
		while (n->kind == p->kind && n->outer.start == n->span.start)
			n = n->kid[after ? 0 : 1];
		return n;
	}
	return NULL;
}

/* Where the joint between two operands is written. */
static uint32_t joint_between(const plan *p, const mla_node *a, const mla_node *b)
{
	mla_str whole = mla_text_bytes(text_of(p));
	size_t n = strlen(p->joint);
	uint32_t at = a->outer.end, end;

	while (at + n <= b->outer.start) {
		if (mla_comment_at(&end, p->pool->module, at)) {
			at = end;
			continue;
		}
		if (memcmp(whole.ptr + at, p->joint, n) == 0)
			return at;
		at++;
	}
	return UINT32_MAX;
}

static bool has_comment(const plan *p, uint32_t from, uint32_t to)
{
	uint32_t end;

	for (uint32_t i = from; i < to; i++)
		if (mla_comment_at(&end, p->pool->module, i))
			return true;
	return false;
}

/* With the joint that it needs no more; a comment beside it stays. */
static bool drop(plan *p, const mla_node *operand)
{
	const mla_node *next = neighbour(p, operand, true), *prev = neighbour(p, operand, false);
	mla_str none = {"", 0};
	uint32_t joint;

	if (!next && !prev)
		return mla_fix_refuse(p->fix, "the test is all there is of the condition");
	if (next && !has_comment(p, operand->outer.start, next->outer.start)) {
		edit(p, operand->outer.start, next->outer.start, none);
		return true;
	}
	joint = prev ? joint_between(p, prev, operand) : joint_between(p, operand, next);
	if (joint == UINT32_MAX)
		return mla_fix_refuse(p->fix, "the condition is written in an unusual way");
	if (prev) {
		edit(p, has_comment(p, prev->outer.end, joint) ? joint : prev->outer.end,
		     operand->outer.end, none);
		return true;
	}
	edit(p, operand->outer.start, operand->outer.end, none);
	edit(p, joint, next->outer.start, none);
	return true;
}

static bool is_one(const mla_node *n)
{
	return n->c ? n->c->value_known && n->c->value == 1 : mla_str_is(n->name, "1");
}

/* The constant 1 in the test of the length, to become the number of new tokens. */
static const mla_node *one_in(const mla_node *test)
{
	for (const mla_node *n = test; n; n = mla_node_next(n, test, false))
		if (n->kind == MLA_N_INT && is_one(n) &&
		    (n->parent == test ||
		     (n->parent->kind == MLA_N_BINARY &&
		      (n->parent->op == MLA_OP_ADD || n->parent->op == MLA_OP_SUB))))
			return n;
	return NULL;
}

static bool on_one_line(const plan *p, const mla_node *n)
{
	return mla_text_line(text_of(p), n->outer.start) == mla_text_line(text_of(p), n->outer.end);
}

/* Is the operand the first thing on its line, behind the joint at most? */
static bool begins_line(const plan *p, const mla_node *n)
{
	mla_span line = mla_text_line_span(text_of(p), mla_text_line(text_of(p), n->outer.start));
	mla_str before = mla_text_slice(text_of(p), (mla_span){line.start, n->outer.start});
	uint32_t i = 0;

	while (i < before.len && (before.ptr[i] == ' ' || before.ptr[i] == '\t'))
		i++;
	before = (mla_str){before.ptr + i, before.len - i};
	while (before.len && before.ptr[before.len - 1] == ' ')
		before.len--;
	return !before.len || mla_str_is(before, p->joint);
}

/* Of the line that holds `n`, without a comment at its end. */
static uint32_t line_length(const plan *p, const mla_node *n)
{
	mla_span line = mla_text_line_span(text_of(p), mla_text_line(text_of(p), n->outer.start));
	mla_str code;
	uint32_t end;

	for (uint32_t i = n->outer.end; i < line.end; i++)
		if (mla_comment_at(&end, p->pool->module, i))
			line.end = i;
	code = mla_text_slice(text_of(p), line);
	while (code.len && (code.ptr[code.len - 1] == ' ' || code.ptr[code.len - 1] == '\t'))
		code.len--;
	return mla_text_width(code);
}

/* An operand as it will be: with the number of new tokens for the 1 in the test of the length. */
static mla_str operand_text(const plan *p, const mla_node *n)
{
	mla_str whole = mla_text_slice(text_of(p), n->outer), before, after;

	if (!p->one || !mla_node_within(p->one, n))
		return whole;
	before = mla_text_slice(text_of(p), (mla_span){n->outer.start, p->one->span.start});
	after = mla_text_slice(text_of(p), (mla_span){p->one->span.end, n->outer.end});
	return mla_arena_format(p->arena, "%.*s%.*s%.*s", MLA_ARG(before), MLA_ARG(p->pool->fresh),
	                        MLA_ARG(after));
}

static mla_writer writer_for_gate(const plan *p)
{
	const mla_node *gate = p->pool->gate;

	if (p->pool->module->c)
		return mla_writer_at(p->arena, p->pool->module, gate->span.start);
	return mla_writer_for(p->arena, p->pool->module, mla_node_statement(gate));
}

/* Where a long condition on one line is broken before each joint, as black would do it. */
static bool wrap(plan *p, const mla_node *dropped, mla_str operands, uint32_t added)
{
	const mla_node *gate = p->pool->gate;
	mla_writer w;
	uint32_t length = line_length(p, gate) + added;

	if (p->pool->module->c) /* whose layout is not black's */
		return false;
	if (dropped)
		length -=
			dropped->outer.end - dropped->outer.start + (uint32_t)strlen(p->joint) + 2;
	if (length <= COLUMNS || gate->outer.start != gate->span.start || !on_one_line(p, gate) ||
	    gate->kind != p->kind || has_comment(p, gate->span.start, gate->span.end))
		return false;
	w = writer_for_gate(p);
	mla_write(&w, "(%.*s", MLA_ARG(w.eol));
	for (const mla_node *n = gate, *first = NULL; n; n = neighbour(p, n, true)) {
		while (!first && n->kind == p->kind)
			n = n->kid[0];
		if (n == dropped)
			continue;
		mla_write_line(&w, 1, "%s%s%.*s", first ? p->joint : "", first ? " " : "",
		               MLA_ARG(operand_text(p, n)));
		first = n;
	}
	mla_write(&w, "%.*s%.*s%.*s%.*s)", MLA_ARG(w.indent), MLA_ARG(w.unit), MLA_ARG(operands),
	          MLA_ARG(w.indent));
	edit(p, gate->span.start, gate->span.end, mla_writer_text(&w));
	return true;
}

static bool replace_one(plan *p)
{
	if (p->one)
		edit(p, p->one->span.start, p->one->span.end, p->pool->fresh);
	return true;
}

/* Where a line can follow an operand: behind the comment on its line. */
static uint32_t behind(const plan *p, const mla_node *n)
{
	mla_str all = mla_text_bytes(text_of(p));
	uint32_t at = n->outer.end, end;

	while (at < all.len && (all.ptr[at] == ' ' || all.ptr[at] == '\t'))
		at++;
	return mla_comment_at(&end, p->pool->module, at) ? end : n->outer.end;
}

/* New operands behind the last one, in its layout; where that one leaves, the first takes its
 * place. */
static bool append(plan *p, const mla_node *dropped, const mla_str *operand, uint32_t n)
{
	const mla_node *gate = p->pool->gate, *last = gate;
	uint32_t first = 0, at;
	mla_writer w;
	bool own_line;

	while (last->kind == p->kind && (last == gate || last->outer.start == last->span.start))
		last = last->kid[1];
	w = writer_for_gate(p);
	own_line = !on_one_line(p, gate) && begins_line(p, last);
	if (own_line) {
		w = mla_writer_at(p->arena, p->pool->module, last->outer.start);
	} else {
		uint32_t added = 0;
		mla_writer lines = w;

		for (uint32_t i = 0; i < n; i++) {
			if (i)
				mla_write(&lines, "%.*s%.*s", MLA_ARG(w.indent), MLA_ARG(w.unit));
			mla_write(&lines, "%s %.*s%.*s", p->joint, MLA_ARG(operand[i]),
			          MLA_ARG(w.eol));
			added += operand[i].len + (uint32_t)strlen(p->joint) + 2;
		}
		if (wrap(p, dropped, mla_writer_text(&lines), added))
			return true;
	}
	if (!replace_one(p))
		return false;
	if (last == dropped)
		edit(p, last->outer.start, last->outer.end, operand[first++]);
	else if (dropped && !drop(p, dropped))
		return false;
	for (uint32_t i = first; i < n; i++)
		if (own_line)
			mla_write(&w, "%.*s%.*s%s %.*s", MLA_ARG(w.eol), MLA_ARG(w.indent),
			          p->joint, MLA_ARG(operand[i]));
		else
			mla_write(&w, " %s %.*s", p->joint, MLA_ARG(operand[i]));
	at = own_line ? behind(p, last) : last->outer.end;
	if (first < n)
		edit(p, at, at, mla_writer_text(&w));
	return true;
}

/* MLA101 drops the test for one token; both want the lengths to fit. */
static bool make(plan *p, bool drops)
{
	const mla_pool *q = p->pool;
	bool joined = q->gate->kind == p->kind;
	const mla_node *dropped = drops && q->single != q->length ? q->single_in : NULL;
	mla_str operand[2];
	uint32_t n = 0;

	p->one = drops && q->length_one ? one_in(q->length) : NULL;
	if (drops && q->length_one && !p->one)
		return mla_fix_refuse(p->fix,
		                      "the test of the length is written in an unusual way");
	if (!q->length)
		operand[n++] = mla_arena_format(
			p->arena, "%.*s %s %.*s - %.*s", MLA_ARG(q->recorded),
			q->gate_holds ? "==" : "!=", MLA_ARG(q->total), MLA_ARG(q->fresh));
	/* A step of one token never looked at its token, and to look is to wait for the device. */
	if (drops && q->padding_test.len)
		operand[n++] = mla_arena_format(p->arena, "%s(%.*s == 1 or %.*s)",
		                                q->gate_holds ? "" : "not ", MLA_ARG(q->fresh),
		                                MLA_ARG(q->padding_test));
	if (n && !joined &&
	    (q->gate->kind == MLA_N_OR || q->gate->kind == MLA_N_AND ||
	     q->gate->kind == MLA_N_CONDITION || q->gate->kind == MLA_N_LAMBDA ||
	     q->gate->kind == MLA_N_NOT))
		return mla_fix_refuse(p->fix, "the condition is joined in an unusual way");
	if (n && dropped == q->gate) {
		for (uint32_t i = 1; i < n; i++)
			operand[0] = mla_arena_format(p->arena, "%.*s %s %.*s", MLA_ARG(operand[0]),
			                              p->joint, MLA_ARG(operand[i]));
		edit(p, dropped->span.start, dropped->span.end, operand[0]);
		return true;
	}
	if (n)
		return append(p, dropped, operand, n);
	return replace_one(p) && (!dropped || drop(p, dropped));
}

int mla_fix_pool_gate(mla_fix *out, mla_arena *arena, mla_project *project,
                      const mla_finding *finding, mla_form form)
{
	const mla_pool *q = finding->pool;
	plan p = {.fix = out,
	          .arena = arena,
	          .pool = q,
	          .joint = q->module->c ? (q->gate_holds ? "&&" : "||")
	                                : (q->gate_holds ? "and" : "or"),
	          .kind = q->gate_holds ? MLA_N_AND : MLA_N_OR};
	bool drops = strcmp(finding->rule->code, "MLA101") == 0;

	(void)project;
	(void)form;
	out->title =
		drops && q->follows_trim
			? "Extend pooled keys for any number of new tokens that continue them"
		: drops ? "Extend pooled keys for any number of new tokens that continue them "
			  "(the step after a trim, as of rejected drafts, pools all keys again)"
			: "Extend pooled keys only where the cache continues them";
	if (!make(&p, drops)) {
		out->edits.n = 0;
		return 0;
	}
	return mla_edits_finish(&out->edits);
}

/* Frames, variables and statements of the abstract execution. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

/*
 * Nodes: a chain of `else if` nests as deep as it is long. Steps: the largest function of a public
 * runtime takes half a million with what it calls; 8 million take about a second. The number for
 * all functions of a scan together bounds what a source can be made to cost.
 */
enum { DEEPEST_CALL = 24, DEEPEST_NODE = 2000, STEPS_MAX = 8000000, STEPS_OF_ALL = 100000000 };

bool mla_c_step(mla_c_flow *f, const mla_c_frame *fr, const mla_node *n)
{
	f->all_steps++;
	if (++f->steps <= STEPS_MAX && f->all_steps <= STEPS_OF_ALL && f->nesting < DEEPEST_NODE)
		return true;
	if (!f->limited) {
		f->limited = n;
		f->limited_module = fr->module;
	}
	return false;
}

bool mla_c_has_room(const mla_c_flow *f)
{
	return f->depth < DEEPEST_CALL && f->steps < STEPS_MAX && f->all_steps < STEPS_OF_ALL;
}

uint32_t mla_c_enter_scope(mla_c_flow *f)
{
	uint32_t outer = f->scope;

	mla_vec_push(&f->scopes, outer);
	f->scope = f->scopes.n; /* 0 is the outermost */
	return outer;
}

/* Is what was written in `inner` overwritten for certain by what `outer` does later? */
static bool dominates(const mla_c_flow *f, uint32_t outer, uint32_t inner)
{
	while (inner > outer)
		inner = f->scopes.v[inner - 1];
	return inner == outer;
}

mla_cell *mla_c_new_cell(mla_c_flow *f, uint64_t id, mla_str name)
{
	mla_cell *c = mla_arena_alloc(f->arena, sizeof(*c));

	c->id = id;
	c->name = name;
	c->value.cell = c;
	c->scope = f->scope;
	return c;
}

static mla_cell *find_cell(mla_cell *const *v, uint32_t n, uint64_t id, mla_str name)
{
	for (uint32_t i = n; i-- > 0;)
		if (id ? v[i]->id == id : mla_str_eq(v[i]->name, name))
			return v[i];
	return NULL;
}

uint32_t mla_c_tags_by_name(const mla_node *n)
{
	if (mla_c_is_integer(n))
		return mla_name_integer(n->name);
	/* The c of a cache: rows of latents in the notation of the papers. */
	if (n->kind == MLA_N_ATTRIBUTE && mla_str_is(n->name, "c") && n->c && n->c->pointer &&
	    !n->c->record)
		return MLA_C_LATENT;
	return mla_name_tensor(n->name);
}

mla_cell *mla_c_cell(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	uint64_t id = n->c ? n->c->id : 0;
	mla_decl decl = mla_decl_of(n);
	mla_cell *c = NULL;

	if (decl == MLA_DECL_FUNCTION)
		return NULL;
	if (n->kind == MLA_N_NAME && decl != MLA_DECL_GLOBAL)
		for (mla_c_frame *at = fr; at && !c; at = at->caller)
			c = find_cell(at->cells.v, at->cells.n, id, n->name);
	if (!c)
		c = find_cell(f->globals.v, f->globals.n, id, n->name);
	if (!c) {
		c = mla_c_new_cell(f, id, n->name);
		c->value.tags = mla_c_tags_by_name(n);
		c->weight = !mla_c_is_integer(n) && mla_name_is_weight(n->name);
		c->scope = 0;
		mla_vec_push(&f->globals, c);
	}
	return c;
}

/* `float x[8][64]`: two constant dimensions in brackets after the name. */
static bool is_stack_tile(const mla_c_frame *fr, const mla_node *n)
{
	const mla_tokens *t = &fr->module->c->tokens;
	const char *bytes = mla_text_bytes(fr->module->text).ptr;
	uint32_t i = mla_tokens_at(t, n->span.start), dimensions = 0;

	if (!n->c || !n->c->array)
		return false;
	while (i < t->n && t->v[i].span.start < n->span.end &&
	       !mla_str_eq(mla_text_slice(fr->module->text, t->v[i].span), n->name))
		i++;
	for (i++; i < t->n && bytes[t->v[i].span.start] == '[' && t->v[i].match > i;
	     i = t->v[i].match + 1)
		dimensions++;
	return dimensions >= 2;
}

/* Does an expression name storage itself, so that a pointer made of it is an alias? */
static bool is_plain(const mla_node *n)
{
	n = mla_c_named(n);
	return n && (n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE);
}

void mla_c_declare(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *init = mla_kid(n, 0), *value = mla_c_without_casts(init);
	mla_cell *c = mla_c_new_cell(f, n->c ? n->c->id : 0, n->name);
	mla_c_value v = {0};

	if (init)
		v = mla_c_eval(f, fr, init);
	c->stack = is_stack_tile(fr, n);
	c->value.lambda = v.lambda;
	c->value.truth = v.truth;
	c->value.choice = mla_c_choices_of(f, v, init);
	c->value.length_test = v.length_test;
	c->value.tags = v.tags;
	if (mla_c_is_integer(n)) {
		if (!v.tags && (!init || !init->c || !init->c->value_known))
			c->value.tags = mla_name_integer(n->name);
	} else {
		if (v.cell && is_plain(init))
			c->value.cell = v.cell;
		if (!(v.tags & MLA_C_TENSOR) && value && value->kind == MLA_N_CALL &&
		    mla_name_function(value->name) != MLA_C_ALLOCATE)
			c->value.tags |= mla_name_tensor(n->name);
	}
	mla_vec_push(&fr->cells, c);
}

static bool literal_truth(bool *value, const mla_node *n)
{
	int64_t number = 0;

	if (!mla_c_literal(&number, n))
		return false;
	*value = number != 0;
	return true;
}

static const mla_node *target_root(const mla_node *n, bool *element)
{
	*element = false;
	while (n && n->kind != MLA_N_NAME && n->kind != MLA_N_ATTRIBUTE) {
		*element |= n->kind == MLA_N_SUBSCRIPT ||
		            (n->kind == MLA_N_UNARY && n->op == MLA_OP_DEREF);
		n = n->kind == MLA_N_CALL ? NULL : mla_kid(n, 0);
	}
	return n;
}

void mla_c_add_tags(mla_cell *c, uint32_t tags)
{
	if (!c->weight)
		c->value.tags |= tags;
}

void mla_c_store(mla_c_flow *f, mla_c_frame *fr, const mla_node *target, mla_c_value v, bool join)
{
	bool element;
	const mla_node *root = target_root(target, &element);
	mla_cell *c = root ? mla_c_cell(f, fr, root) : NULL;

	if (!c) {
		mla_c_value place = mla_c_eval(f, fr, target);

		if (place.cell)
			mla_c_add_tags(place.cell, v.tags);
		return;
	}
	if (c->weight)
		return;
	if (element) {
		if (c->value.cell && c->value.cell != c)
			mla_c_add_tags(c->value.cell, v.tags);
		c->value.tags |= v.tags;
		if (c->value.cell && c->value.cell->stack && (v.tags & MLA_C_FOLDED))
			mla_c_record(f, MLA_EV_KERNEL, target);
		return;
	}
	if (!join && dominates(f, f->scope, c->scope)) {
		c->value.tags = 0;
		c->value.truth.n = 0;
		c->value.choice.n = 0;
		c->scope = f->scope;
	}
	c->value.tags |= v.tags;
	c->value.truth = mla_c_join(f, c->value.truth, v.truth);
	c->value.choice = mla_c_either(f, c->value.choice, v.choice);
	if (v.lambda)
		c->value.lambda = v.lambda;
	if (v.cell && !mla_c_is_integer(target))
		c->value.cell = v.cell;
}

static void assign(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value v = mla_c_eval(f, fr, n->kid[1]);
	bool value;

	v.choice = mla_c_under(f, mla_c_choices_of(f, v, n->kid[1]), fr->guards);
	if (!is_plain(n->kid[1]))
		v.cell = NULL;
	if (literal_truth(&value, n->kid[1]) && mla_c_is_integer(n->kid[0])) {
		v.truth = mla_c_guard_truth(f, fr, value, false);
		mla_c_store(f, fr, n->kid[0], v, v.truth.n != 0);
		return;
	}
	mla_c_store(f, fr, n->kid[0], v, false);
}

static void exec_return(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *expr = mla_kid(n, 0);
	mla_c_value v = {0};
	bool value = true, literal;

	if (!expr)
		return;
	v = mla_c_eval(f, fr, expr);
	literal = literal_truth(&value, expr);
	if ((literal || mla_c_is_integer(expr)) && !(v.tags & MLA_C_TENSOR))
		v.truth = mla_c_join(f, v.truth, mla_c_guard_truth(f, fr, value, true));
	v.choice = mla_c_under(f, mla_c_choices_of(f, v, expr), fr->guards);
	fr->result.choice = mla_c_either(f, fr->result.choice, v.choice);
	fr->result.tags |= v.tags;
	fr->result.truth = mla_c_join_returned(f, fr, v.truth, !literal || value);
	if (!fr->result.cell)
		fr->result.cell = v.cell;
}

static bool exec_if(mla_c_flow *f, mla_c_frame *fr, const mla_node *n, mla_c_truths *rest,
                    bool *rest_holds)
{
	mla_c_value test = mla_c_eval(f, fr, mla_kid(n, 0));
	mla_c_truths truth = test.truth;
	uint32_t mark, outer;
	bool then, other = false;

	rest->n = 0;
	if (test.known) {
		const mla_node *arm = mla_kid(n, test.constant ? 1 : 2);

		fr->pruned = true;
		return arm && mla_c_exec(f, fr, arm);
	}
	mark = mla_c_push(f, truth, true);
	outer = mla_c_enter_scope(f);
	then = mla_c_exec(f, fr, mla_kid(n, 1));
	mla_c_pop(f, mark);
	f->scope = outer;
	if (mla_kid(n, 2)) {
		mark = mla_c_push(f, truth, false);
		mla_c_enter_scope(f);
		other = mla_c_exec(f, fr, n->kid[2]);
		mla_c_pop(f, mark);
		f->scope = outer;
	}
	if (then != other) {
		*rest = truth;
		*rest_holds = other;
	}
	return then && other;
}

static void exec_goto(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	uint32_t count = f->guards.n - fr->guards;
	mla_c_guard *guard;

	if (fr->jump.count && mla_str_eq(fr->jump.target, n->name)) {
		fr->jump.count++;
		return;
	}
	guard = mla_arena_array(f->arena, count, sizeof(*guard));
	if (count)
		memcpy(guard, f->guards.v + fr->guards, count * sizeof(*guard));
	fr->jump = (mla_c_jump){n->name, guard, count, 1};
}

/* Is `n` where a goto leads that was met? Without one, a block that was left stays so. */
static bool is_landing(const mla_c_frame *fr, const mla_node *n)
{
	return n && n->kind == MLA_N_TARGET && fr->jump.count &&
	       mla_str_eq(n->name, fr->jump.target);
}

/* A target that only one goto leads to is reached under the guards of that. One that is reached
 * from above as well, or from several places, is reached in any case. */
static void land(mla_c_flow *f, mla_c_frame *fr, uint32_t mark, bool left)
{
	uint32_t outer = mark - fr->guards;

	mla_c_pop(f, mark);
	for (uint32_t i = outer; left && fr->jump.count == 1 && i < fr->jump.n; i++)
		mla_vec_push(&f->guards, fr->jump.guard[i]);
	fr->jump.count = 0;
}

/* After an arm that leaves the block, what follows is the other arm. */
static bool exec_block(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	uint32_t mark = f->guards.n;
	bool leaves = false;

	for (uint32_t i = 0; i < n->n; i++) {
		const mla_node *kid = n->kid[i];
		mla_c_truths rest = {0};
		bool holds = false;

		if (is_landing(fr, kid)) {
			land(f, fr, mark, leaves);
			leaves = false;
		}
		if (leaves)
			continue;
		if (kid && kid->kind == MLA_N_IF) {
			leaves = exec_if(f, fr, kid, &rest, &holds);
			mla_c_push(f, rest, holds);
		} else {
			leaves = mla_c_exec(f, fr, kid);
		}
	}
	mla_c_pop(f, mark);
	return leaves;
}

/* A loop that starts at the past length, or ends at the number of queries, runs over new rows. */
static void mark_index(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *start = mla_kid(n, 0), *test = mla_kid(n, 1), *variable = NULL;
	mla_c_value from = {0}, to = {0};
	mla_cell *c;

	if (start && start->kind == MLA_N_SEQUENCE)
		start = mla_kid(start, 0);
	if (start && start->kind == MLA_N_DECLARE)
		variable = start;
	else if (start && start->kind == MLA_N_ASSIGN && start->kid[0])
		variable = start->kid[0];
	if (!variable || !(c = mla_c_cell(f, fr, variable)))
		return;
	if (variable == start && mla_kid(start, 0))
		from = mla_c_eval(f, fr, start->kid[0]);
	else if (variable != start)
		from = mla_c_eval(f, fr, start->kid[1]);
	while (test && (test->kind == MLA_N_AND || test->kind == MLA_N_OR))
		test = test->kid[0];
	if (test && test->kind == MLA_N_COMPARE && test->kid[1])
		to = mla_c_eval(f, fr, test->kid[1]);
	c->value.tags &= ~(uint32_t)(MLA_C_NEW_INDEX | MLA_C_COUNT);
	if ((from.tags & MLA_C_LENGTH) || (to.tags & MLA_C_COUNT))
		c->value.tags |= MLA_C_NEW_INDEX;
}

static void exec_loop(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *test = n->kind == MLA_N_LOOP ? mla_kid(n, 1) : mla_kid(n, 0);
	const mla_node *body = n->kind == MLA_N_LOOP ? mla_kid(n, 3) : mla_kid(n, 1);
	mla_c_truths truth = {0};
	uint32_t mark, outer;

	if (n->kind == MLA_N_LOOP) {
		mla_c_exec(f, fr, mla_kid(n, 0));
		mark_index(f, fr, n);
	}
	if (test)
		truth = mla_c_eval(f, fr, test).truth;
	mark = mla_c_push(f, truth, true);
	outer = mla_c_enter_scope(f);
	mla_c_exec(f, fr, body);
	if (n->kind == MLA_N_LOOP)
		mla_c_exec(f, fr, mla_kid(n, 2));
	f->scope = outer;
	mla_c_pop(f, mark);
}

static void exec_range(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *variable = mla_kid(n, 0);
	mla_c_value v = mla_kid(n, 1) ? mla_c_eval(f, fr, n->kid[1]) : (mla_c_value){0};

	if (variable && variable->kind == MLA_N_DECLARE) {
		mla_c_declare(f, fr, variable);
		fr->cells.v[fr->cells.n - 1]->value.tags |= v.tags;
	}
	mla_c_exec(f, fr, mla_kid(n, 2));
}

bool mla_c_is_statement(const mla_node *n)
{
	switch ((mla_kind)n->kind) {
	case MLA_N_BLOCK:
	case MLA_N_IF:
	case MLA_N_LOOP:
	case MLA_N_WHILE:
	case MLA_N_FOR:
	case MLA_N_DO:
	case MLA_N_SWITCH:
	case MLA_N_LABEL:
	case MLA_N_TARGET:
	case MLA_N_GOTO:
	case MLA_N_RETURN:
	case MLA_N_RAISE:
	case MLA_N_BREAK:
	case MLA_N_CONTINUE:
	case MLA_N_SEQUENCE:
	case MLA_N_DECLARE:
		return true;
	default:
		return false;
	}
}

static bool exec_one(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_truths rest;
	bool holds;

	switch ((mla_kind)n->kind) {
	case MLA_N_BLOCK:
		return exec_block(f, fr, n);
	case MLA_N_IF:
		return exec_if(f, fr, n, &rest, &holds);
	case MLA_N_LOOP:
	case MLA_N_WHILE:
		exec_loop(f, fr, n);
		return false;
	case MLA_N_FOR:
		exec_range(f, fr, n);
		return false;
	case MLA_N_DO:
		mla_c_exec(f, fr, mla_kid(n, 0));
		mla_c_exec(f, fr, mla_kid(n, 1));
		return false;
	case MLA_N_SWITCH:
		mla_c_switch(f, fr, n);
		return false;
	case MLA_N_LABEL:
		return mla_c_exec(f, fr, mla_kid(n, 1));
	case MLA_N_TARGET:
		return mla_kid(n, 0) && mla_c_exec(f, fr, n->kid[0]);
	case MLA_N_GOTO:
		exec_goto(f, fr, n);
		return true;
	case MLA_N_RETURN:
		exec_return(f, fr, n);
		return true;
	case MLA_N_RAISE:
	case MLA_N_BREAK:
	case MLA_N_CONTINUE:
		return true;
	case MLA_N_SEQUENCE:
		for (uint32_t i = 0; i < n->n; i++)
			mla_c_exec(f, fr, n->kid[i]);
		return false;
	case MLA_N_DECLARE:
		mla_c_declare(f, fr, n);
		return false;
	case MLA_N_ASSIGN:
		assign(f, fr, n);
		return false;
	case MLA_N_FUNCTION:
	case MLA_N_CLASS:
		return false;
	default:
		mla_c_eval(f, fr, n);
		return false;
	}
}

bool mla_c_exec(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	bool leaves;

	if (!n || !mla_c_step(f, fr, n))
		return false;
	f->nesting++;
	leaves = exec_one(f, fr, n);
	f->nesting--;
	return leaves;
}

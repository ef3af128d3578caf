/* Abstract execution of statements: environments, guards, branches and their joins. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

/* A method of a model is a few hundred steps; these end a source written to be expensive. */
enum { MAX_DEPTH = 200, MAX_STEPS = 200000, MAX_TOTAL = 1000000, MAX_CALLS = 12 };

bool mla_flow_limit(mla_flow *f, const mla_node *at)
{
	if (f->depth < MAX_DEPTH && f->steps < MAX_STEPS && f->total_steps < MAX_TOTAL)
		return false;
	if (!f->limited)
		f->limited = at;
	return true;
}

void mla_flow_record(mla_flow *f, mla_event event, const mla_node *at)
{
	for (uint32_t i = 0; i < f->guards.n; i++) {
		mla_guard g = f->guards.v[i];
		mla_arm *arm = g.small ? &g.test->small : &g.test->large;

		if (!arm->count[event]++)
			arm->first[event] = at;
	}
}

void mla_flow_gather(mla_flow *f, const mla_node *at)
{
	bool one_query = false;

	mla_flow_record(f, MLA_EV_GATHER, at);
	for (uint32_t i = 0; i < f->guards.n; i++) {
		const mla_guard *g = &f->guards.v[i];

		one_query |= g->small && !g->open && g->test->bound == MLA_BOUND_CONSTANT &&
		             g->test->limit == 1;
	}
	f->sparse = true;
	f->gathers |= !one_query;
}

uint32_t mla_flow_push(mla_flow *f, const mla_value *test, bool holds)
{
	uint32_t mark = f->guards.n;

	for (uint32_t i = 0; test->kind == MLA_V_TRUTH && i < test->n; i++) {
		const mla_truth *part = &test->truth[i];

		mla_vec_push(&f->guards,
		             ((mla_guard){part->test, part->small_when_true == holds,
		                          holds ? part->open_if_true : part->open_if_false}));
	}
	return mark;
}

uint32_t mla_flow_progress(const mla_value *test)
{
	static const mla_event events[] = {MLA_EV_FOLD, MLA_EV_EXPAND, MLA_EV_EXPAND_NEW,
	                                   MLA_EV_FOLLOWUP, MLA_EV_ATTEND};
	uint32_t n = 0;

	for (uint32_t i = 0; test->kind == MLA_V_TRUTH && i < test->n; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++)
			n += test->truth[i].test->small.count[events[k]] +
			     test->truth[i].test->large.count[events[k]];
	return n;
}

void mla_flow_pop(mla_flow *f, uint32_t mark)
{
	f->guards.n = mark;
}

mla_env *mla_env_new(mla_flow *f, mla_env *outer)
{
	mla_env *e = mla_arena_alloc(f->arena, sizeof(*e));

	e->outer = outer;
	return e;
}

mla_env *mla_env_copy(mla_flow *f, const mla_env *e)
{
	mla_env *c = mla_env_new(f, e->outer);

	c->v = mla_arena_array(f->arena, (size_t)e->n + 8, sizeof(*c->v));
	if (e->n)
		memcpy(c->v, e->v, e->n * sizeof(*c->v));
	c->n = e->n;
	c->cap = e->n + 8;
	return c;
}

const mla_value *mla_env_get(const mla_env *e, mla_str name)
{
	for (; e; e = e->outer)
		for (uint32_t i = 0; i < e->n; i++)
			if (mla_str_eq(e->v[i].name, name))
				return e->v[i].value;
	return NULL;
}

void mla_env_set(mla_flow *f, mla_env *e, mla_str name, const mla_value *v)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (mla_str_eq(e->v[i].name, name)) {
			e->v[i].value = v;
			return;
		}
	if (e->n == e->cap) {
		mla_variable *more =
			mla_arena_array(f->arena, 2 * (size_t)e->cap + 8, sizeof(*more));

		if (e->n)
			memcpy(more, e->v, e->n * sizeof(*more));
		e->v = more;
		e->cap = 2 * e->cap + 8;
	}
	e->v[e->n++] = (mla_variable){name, v};
}

/*
 * What either branch left; a name that only one of them set keeps that value. `test` chose between
 * them, or is NULL; *chooses where it chose a constant or a function.
 */
static mla_env *env_join(mla_flow *f, const mla_env *a, const mla_env *b, const mla_value *test,
                         bool *chooses)
{
	mla_env *e = mla_env_copy(f, a);

	for (uint32_t i = 0; i < b->n; i++) {
		const mla_value *old = NULL, *chosen = NULL;

		for (uint32_t k = 0; k < a->n && !old; k++)
			if (mla_str_eq(a->v[k].name, b->v[i].name))
				old = a->v[k].value;
		if (test && old && old != b->v[i].value)
			chosen = mla_flow_choose(f, test, old, b->v[i].value);
		if (chosen)
			*chooses = true;
		mla_env_set(f, e, b->v[i].name,
		            chosen ? chosen : mla_value_join(f, old, b->v[i].value));
	}
	return e;
}

/* The i-th of n parts of a value that is unpacked. */
static const mla_value *part_of(mla_flow *f, const mla_value *v, uint32_t i, uint32_t n)
{
	mla_value *part;

	if (v->kind == MLA_V_UP)
		return v;
	if (v->kind == MLA_V_TUPLE)
		return v->n == n ? v->element[i] : mla_value_any(f, mla_value_tags(v));
	if (v->kind == MLA_V_SHAPE)
		return mla_value_axis(f, v, (int)i, n);
	part = mla_value_new(f, MLA_V_ANY, v->tags);
	part->rank = v->rank;
	part->heads_last = v->heads_last;
	return part;
}

void mla_flow_assign(mla_flow *f, mla_frame *fr, const mla_node *target, const mla_value *v)
{
	const mla_value *object;

	if (!target || mla_flow_limit(f, target))
		return;
	f->depth++;
	switch ((mla_kind)target->kind) {
	case MLA_N_NAME:
		mla_flow_mask_assigned(f, fr, target, v);
		mla_env_set(f, fr->env, target->name, v);
		break;
	case MLA_N_TUPLE:
	case MLA_N_LIST:
		for (uint32_t i = 0; i < target->n; i++)
			mla_flow_assign(f, fr, target->kid[i], part_of(f, v, i, target->n));
		break;
	case MLA_N_STAR:
		mla_flow_assign(f, fr, mla_kid(target, 0), mla_value_any(f, mla_value_tags(v)));
		break;
	case MLA_N_ATTRIBUTE:
		object = mla_flow_eval(f, fr, target->kid[0]);
		mla_flow_other_use(v, target);
		if (object->kind == MLA_V_SELF)
			mla_env_set(f, f->attributes, target->name, v);
		break;
	default:
		break;
	}
	f->depth--;
}

/* How a statement ended: the block ends with it, or its rest runs under a test. */
typedef struct {
	bool ends;
	const mla_value *test; /* NULL: no condition on the rest */
	bool holds;
} outcome;

static outcome run(mla_flow *f, mla_frame *fr, const mla_node *n);

static bool run_block(mla_flow *f, mla_frame *fr, const mla_node *block)
{
	uint32_t mark = f->guards.n;
	bool ends = false;

	for (uint32_t i = 0; block && i < block->n && !ends; i++) {
		outcome o = run(f, fr, block->kid[i]);

		ends = o.ends;
		if (o.test)
			mla_flow_push(f, o.test, o.holds);
	}
	mla_flow_pop(f, mark);
	return ends;
}

static bool run_branch(mla_flow *f, mla_frame *fr, const mla_node *branch)
{
	if (branch && branch->kind == MLA_N_IF)
		return run(f, fr, branch).ends;
	return run_block(f, fr, branch);
}

/* Do the two arms leave the query, keys, values or output of attention different? */
static bool arms_differ_in_latents(const mla_env *a, const mla_env *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const mla_value *x = a->v[i].value, *y = NULL;

		for (uint32_t k = 0; k < b->n && !y; k++)
			if (mla_str_eq(a->v[i].name, b->v[k].name))
				y = b->v[k].value;
		if (x != y && (mla_value_latent(x) || (y && mla_value_latent(y))))
			return true;
	}
	return false;
}

/* `if test: return a`: what is returned after it is the other case. */
static void set_aside(mla_frame *fr, const mla_value *test, bool holds)
{
	if (test->kind != MLA_V_TRUTH || !fr->result || fr->earlier == MLA_EARLY_MAX)
		return;
	fr->early[fr->earlier].test = test;
	fr->early[fr->earlier].holds = holds;
	fr->early[fr->earlier++].result = fr->result;
	fr->result = NULL;
}

/* The returns of a function together. */
static const mla_value *results(mla_flow *f, const mla_frame *fr)
{
	const mla_value *v = fr->result, *chosen;

	for (uint32_t i = fr->earlier; i > 0; i--) {
		const mla_value *a = fr->early[i - 1].result, *b = v;
		bool holds = fr->early[i - 1].holds;

		chosen = b ? mla_flow_choose(f, fr->early[i - 1].test, holds ? a : b, holds ? b : a)
		           : NULL;
		v = chosen ? chosen : mla_value_join(f, a, b);
	}
	return v ? v : mla_value_new(f, MLA_V_NONE, 0);
}

static outcome run_if(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *test = mla_flow_condition(f, mla_flow_eval(f, fr, n->kid[0]));
	mla_env *then_env = mla_env_copy(f, fr->env), *else_env = mla_env_copy(f, fr->env);
	uint32_t mark, before = mla_flow_progress(test);
	const mla_value *returned = fr->result;
	const mla_node *text = mla_flow_string_test(fr, n->kid[0]);
	bool typed = !text && mla_flow_asks_kind(fr, n->kid[0]);
	bool then_ends, else_ends, chooses = false;

	if (text)
		mla_env_set(f, else_env, text->name,
		            mla_value_not_string(f, mla_env_get(fr->env, text->name)));
	f->mask_typed += typed;
	fr->env = then_env;
	mark = mla_flow_push(f, test, true);
	then_ends = run_block(f, fr, n->kid[1]);
	mla_flow_pop(f, mark);
	then_env = fr->env;

	fr->env = else_env;
	mark = mla_flow_push(f, test, false);
	else_ends = run_branch(f, fr, mla_kid(n, 2));
	mla_flow_pop(f, mark);
	else_env = fr->env;
	f->mask_typed -= typed;
	if (!then_ends && !else_ends)
		fr->env = env_join(f, then_env, else_env, test, &chooses);
	if (!then_ends && !else_ends && !chooses && before == mla_flow_progress(test) &&
	    !arms_differ_in_latents(then_env, else_env) &&
	    !arms_differ_in_latents(else_env, then_env))
		mla_flow_other_use(test, n);

	if (then_ends != else_ends && !returned)
		set_aside(fr, test, then_ends);
	if (then_ends && else_ends)
		return (outcome){true, NULL, false};
	if (then_ends)
		return (outcome){false, test, false};
	if (else_ends) {
		fr->env = then_env;
		return (outcome){false, test, true};
	}
	return (outcome){0};
}

static outcome run_match(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *subject = mla_flow_eval(f, fr, n->kid[0]);
	mla_env *before = fr->env, *after = NULL;
	uint32_t mark = f->guards.n;
	bool all_end = true, complete = false;

	for (uint32_t i = 1; i < n->n; i++) {
		const mla_node *c = n->kid[i], *pattern = mla_kid(c, 0);
		const mla_value *test;
		uint32_t inner;
		bool ends;

		if (c->kind != MLA_N_CASE || !pattern)
			continue;
		test = mla_flow_pattern(f, fr, pattern, subject);
		fr->env = mla_env_copy(f, before);
		if (pattern->kind == MLA_N_NAME || pattern->kind == MLA_N_TUPLE ||
		    pattern->kind == MLA_N_LIST)
			mla_flow_assign(f, fr, pattern, subject);
		if (mla_kid(c, 1))
			test = mla_flow_both(f, test, mla_flow_eval(f, fr, c->kid[1]));
		inner = mla_flow_push(f, test, true);
		ends = run_block(f, fr, mla_kid(c, 2));
		mla_flow_pop(f, inner);
		if (!ends)
			after = after ? env_join(f, after, fr->env, NULL, NULL) : fr->env;
		all_end &= ends;
		complete |= mla_pattern_takes_all(c);
		mla_flow_push(f, test, false);
	}
	mla_flow_pop(f, mark);
	fr->env = after ? after : before;
	return (outcome){all_end && complete, NULL, false};
}

/* Once is enough: tags only grow, and what a body does under a test does not depend on the turn. */
static void run_loop(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_env *before = mla_env_copy(f, fr->env);

	if (n->kind == MLA_N_FOR) {
		const mla_value *v = mla_flow_eval(f, fr, n->kid[1]);

		mla_flow_assign(f, fr, n->kid[0], mla_value_any(f, mla_value_tags(v)));
		run_block(f, fr, n->kid[2]);
		run_block(f, fr, mla_kid(n, 3));
	} else {
		mla_flow_eval(f, fr, n->kid[0]);
		run_block(f, fr, n->kid[1]);
		run_block(f, fr, mla_kid(n, 2));
	}
	fr->env = env_join(f, before, fr->env, NULL, NULL);
}

static void run_with(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	for (uint32_t i = 0; i + 1 < n->n; i++) {
		const mla_value *v = mla_flow_eval(f, fr, mla_kid(n->kid[i], 0));

		mla_flow_assign(f, fr, mla_kid(n->kid[i], 1), v);
	}
}

static void run_try(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	for (uint32_t i = 0; i < n->n; i++) {
		const mla_node *part = n->kid[i];
		mla_env *before = mla_env_copy(f, fr->env);

		run_block(f, fr,
		          part->kind == MLA_N_BLOCK     ? part
		          : part->kind == MLA_N_HANDLER ? mla_kid(part, 1)
		                                        : mla_kid(part, 0));
		if (part->kind == MLA_N_HANDLER)
			fr->env = env_join(f, before, fr->env, NULL, NULL);
	}
}

static void run_assign(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v = mla_flow_eval(f, fr, n->kid[n->n - 1]);

	for (uint32_t i = 0; i + 1 < n->n; i++)
		mla_flow_assign(f, fr, n->kid[i], v);
}

static void run_augmented(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *a = mla_flow_eval(f, fr, n->kid[0]);
	const mla_value *b = mla_flow_eval(f, fr, n->kid[1]);
	uint32_t tags = mla_value_tags(a) | mla_value_tags(b);

	if (n->op == MLA_OP_MATMUL)
		a = mla_flow_product(f, fr, n, a, b, n->kid[0], n->kid[1]);
	else if (a->kind == MLA_V_INT)
		a = mla_value_new(f, MLA_V_INT, 0); /* no longer the query count */
	else
		a = mla_value_any(f, tags & ~(uint32_t)MLA_TAG_COUNT);
	mla_flow_assign(f, fr, n->kid[0], a);
}

static outcome run(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	outcome o = {0};

	if (mla_flow_limit(f, n))
		return o;
	f->depth++;
	f->steps++;
	f->total_steps++;
	switch ((mla_kind)n->kind) {
	case MLA_N_IF:
		o = run_if(f, fr, n);
		break;
	case MLA_N_MATCH:
		o = run_match(f, fr, n);
		break;
	case MLA_N_FOR:
	case MLA_N_WHILE:
		run_loop(f, fr, n);
		break;
	case MLA_N_WITH:
		run_with(f, fr, n);
		o.ends = run_block(f, fr, n->kid[n->n - 1]);
		break;
	case MLA_N_TRY:
		run_try(f, fr, n);
		break;
	case MLA_N_RETURN:
		fr->result = mla_value_join(f, fr->result,
		                            mla_kid(n, 0) ? mla_flow_eval(f, fr, n->kid[0])
		                                          : mla_value_new(f, MLA_V_NONE, 0));
		o.ends = true;
		break;
	case MLA_N_RAISE:
		o.ends = true;
		break;
	case MLA_N_BREAK:
	case MLA_N_CONTINUE:
		o.ends = true;
		break;
	case MLA_N_ASSIGN:
		run_assign(f, fr, n);
		break;
	case MLA_N_ANN_ASSIGN:
		if (mla_kid(n, 2))
			mla_flow_assign(f, fr, n->kid[0], mla_flow_eval(f, fr, n->kid[2]));
		break;
	case MLA_N_AUG_ASSIGN:
		run_augmented(f, fr, n);
		break;
	case MLA_N_EXPRESSION:
		mla_flow_eval(f, fr, mla_kid(n, 0));
		break;
	case MLA_N_ASSERT: /* an arm that insists on one query */
		if (mla_flow_condition(f, mla_flow_eval(f, fr, mla_kid(n, 0)))->kind == MLA_V_TRUTH)
			mla_flow_record(f, MLA_EV_ONE_ROW, n);
		break;
	case MLA_N_FUNCTION:
		mla_env_set(f, fr->env, n->name, mla_value_function(f, fr, n));
		break;
	case MLA_N_BLOCK:
		o.ends = run_block(f, fr, n);
		break;
	case MLA_N_ERROR:
	case MLA_N_OTHER: /* statements inside what did not parse are still looked at */
		run_block(f, fr, n);
		break;
	default:
		break;
	}
	f->depth--;
	return o;
}

const mla_value *mla_flow_run(mla_flow *f, const mla_frame *caller, const mla_value *function,
                              mla_env *arguments)
{
	const mla_node *n = function->function;
	mla_frame fr = {
		.caller = caller, .function = n, .module = function->module, .env = arguments};
	uint32_t calls = 0, mark = f->guards.n;

	for (const mla_frame *c = caller; c; c = c->caller) {
		calls++;
		if (c->function == n) /* recursion adds no new facts */
			return mla_value_any(f, 0);
	}
	if (calls > MAX_CALLS || mla_flow_limit(f, n))
		return mla_value_any(f, 0);
	if (n->kind == MLA_N_LAMBDA)
		return mla_flow_eval(f, &fr, n->kid[1]);
	mla_vec_push(&f->entered, n);
	run_block(f, &fr, mla_kid(n, 1));
	mla_flow_pop(f, mark);
	return results(f, &fr);
}

/* What a parameter is when nobody has told: by its name, else data of this step. */
static const mla_value *parameter_value(mla_flow *f, mla_str name, bool first)
{
	static const char *const counts[] = {"L",
	                                     "q_len",
	                                     "qlen",
	                                     "seq_len",
	                                     "seqlen",
	                                     "seq_length",
	                                     "sequence_length",
	                                     "query_len",
	                                     "query_length",
	                                     "num_queries",
	                                     "n_queries",
	                                     NULL};
	static const char *const plain[] = {"offset", "position", "scale", "dim",  "index",
	                                    "layer",  "axis",     "size",  "num_", NULL};
	mla_value *v;

	if (mla_str_in(name, counts)) {
		v = mla_value_new(f, MLA_V_INT, MLA_TAG_COUNT);
		return v;
	}
	if (mla_str_mentions(name, "mask")) {
		v = mla_value_new(f, MLA_V_ANY, MLA_TAG_MASK);
		v->given = true;
		return v;
	}
	if (mla_str_mentions(name, "cache") || mla_str_mentions(name, "past") ||
	    mla_str_is(name, "state") || mla_str_is(name, "expanded"))
		return mla_value_any(f, MLA_TAG_CACHE);
	if (mla_str_mentions(name, "topk") || mla_str_mentions(name, "indices") ||
	    mla_str_is(name, "idx"))
		return mla_value_any(f, MLA_TAG_CHOSEN);
	for (int i = 0; plain[i] && !first; i++)
		if (mla_str_mentions(name, plain[i]))
			return mla_value_any(f, 0);
	if (mla_str_mentions(name, "latent") || mla_str_mentions(name, "compressed") ||
	    mla_str_mentions(name, "c_kv") || mla_str_mentions(name, "ckv"))
		return mla_value_any(f, MLA_TAG_INPUT | MLA_TAG_CACHED);
	v = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT);
	/* Queries and keys handed to a helper are [B, H, L, D]; hidden states are [B, L, D]. */
	if (name.len && (name.ptr[0] == 'q' || name.ptr[0] == 'k' || name.ptr[0] == 'v'))
		v->rank = 4;
	return v;
}

void mla_flow_root(mla_flow *f, mla_module *module, const mla_node *function, bool self)
{
	mla_value *v = mla_value_new(f, MLA_V_FUNCTION, 0);
	mla_env *arguments = mla_env_new(f, NULL);
	const mla_node *list = mla_kid(function, 0);

	f->guards.n = f->touched.n = 0;
	f->attributes = mla_env_new(f, NULL);
	f->settings = mla_env_new(f, NULL);
	f->cached = f->cached_in = NULL;
	f->cache_updated = f->sparse = f->gathers = f->array_mask = false;
	f->mask_typed = 0;
	f->depth = f->steps = 0;
	for (uint32_t i = 0; list && i < list->n; i++) {
		mla_str name = list->kid[i]->name;

		if (i == 0 && self)
			mla_env_set(f, arguments, name, mla_value_new(f, MLA_V_SELF, 0));
		else
			mla_env_set(f, arguments, name,
			            parameter_value(f, name, i == (self ? 1u : 0u)));
	}
	v->function = function;
	v->module = module;
	mla_flow_other_use(mla_flow_run(f, NULL, v, arguments), function);
}

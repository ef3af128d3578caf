/*
 * Finding incremental pools by what they do: kept windows are joined with windows that are pooled
 * from a later position on, under a condition whose other case pools everything. No name of a
 * class, a file or a variable decides.
 */
#include "analyzer/pool.h"

#include "analyzer/pool_gate.h"
#include "analyzer/pool_spell.h"
#include "analyzer/pool_trim.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

enum { MAX_CALLERS = 3 };

typedef struct {
	mla_trace trace;
	mla_module *module;
	MLA_VEC(const mla_trace_frame *) frames; /* of functions with a candidate */
	MLA_VEC(mla_pool *) pools;
} finder;

static bool is_entry(const mla_node *function)
{
	static const char *const names[] = {"__call__", "forward", NULL};

	return mla_str_in(function->name, names);
}

static mla_class class_of(const finder *f, const mla_node *function)
{
	const mla_node *c = function->parent ? function->parent->parent : NULL;

	return c && c->kind == MLA_N_CLASS ? (mla_class){f->module, c} : (mla_class){0};
}

/* A call of the function somewhere else in the module: self.f(...), f(...), x.f(...). */
static const mla_node *caller_of(const finder *f, const mla_node *function)
{
	const mla_node *root = f->module->syntax.root;

	if (is_entry(function))
		return NULL;
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_CALL && n->kid[0] &&
		    mla_str_eq(n->kid[0]->name, function->name) && mla_node_function(n) &&
		    mla_node_function(n) != function)
			return n;
	return NULL;
}

/* The function as it is reached: from the method that is called from outside, if that is here. */
static const mla_trace_frame *frame_of(finder *f, const mla_node *function, uint32_t depth)
{
	mla_trace_frame *fr;
	const mla_node *call, *callee;

	for (uint32_t i = 0; i < f->frames.n; i++)
		if (f->frames.v[i]->function == function)
			return f->frames.v[i];
	fr = mla_arena_alloc(f->trace.arena, sizeof(*fr));
	call = depth ? caller_of(f, function) : NULL;

	*fr = (mla_trace_frame){
		.function = function, .module = f->module, .owner = class_of(f, function)};
	if (call) {
		fr->caller = frame_of(f, mla_node_function(call), depth - 1);
		fr->call = call;
		callee = call->kid[0];
		fr->bound = callee->kind == MLA_N_ATTRIBUTE && fr->owner.node &&
		            !mla_method_is(function, "staticmethod");
		if (!fr->owner.node) /* a closure has the self of the function around it */
			fr->owner = mla_node_within(function, fr->caller->function)
			                    ? fr->caller->owner
			                    : fr->owner;
	}
	mla_vec_push(&f->frames, fr);
	return fr;
}

/* Along the features: those of windows are never joined. */
static bool is_last_axis(finder *f, const mla_trace_frame *fr, const mla_node *call,
                         const mla_node *list)
{
	const mla_scope scope = {f->trace.project, NULL, NULL, fr->module, NULL};

	for (uint32_t i = 1; i < call->n; i++) {
		const mla_node *k = call->kid[i];
		bool positional = list != call && i == 2 && k && k->kind != MLA_N_KEYWORD;
		mla_number axis;

		if (!k ||
		    !(positional || mla_str_is(k->name, "axis") || mla_str_is(k->name, "dim")))
			continue;
		axis = mla_evaluate(&scope, positional ? k : mla_kid(k, 0));
		return axis.known == MLA_IS_INT && axis.value == -1;
	}
	return false;
}

/* concat([kept windows, new windows]): the kept ones, or NULL. */
static const mla_node *joins_windows(finder *f, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *list, *kept = NULL;
	uint32_t first;

	if (!mla_trace_joins(n, &list, &first) || is_last_axis(f, fr, n, list))
		return NULL;
	for (uint32_t i = first; i < list->n; i++) {
		uint32_t tags = list->kid[i] && list->kid[i]->kind != MLA_N_KEYWORD
		                        ? mla_trace_tags(&f->trace, fr, list->kid[i])
		                        : 0;

		if (kept && (tags & MLA_TR_POOLED) && (tags & MLA_TR_SUFFIX))
			return kept;
		if (!kept && (tags & MLA_TR_MEMORY) && !(tags & MLA_TR_SUFFIX))
			kept = list->kid[i];
	}
	return NULL;
}

/* kept[:, n:] = new windows, and slice_update(kept, new windows, ...): the kept ones, or NULL. */
static const mla_node *overwrites_windows(finder *f, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *kept = NULL, *fresh = NULL;
	uint32_t tags;

	if (n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_SUBSCRIPT) {
		for (uint32_t i = 1; i < n->kid[0]->n; i++)
			if (n->kid[0]->kid[i] && n->kid[0]->kid[i]->kind == MLA_N_SLICE &&
			    mla_kid(n->kid[0]->kid[i], 0))
				kept = n->kid[0]->kid[0];
		fresh = n->kid[n->n - 1];
	} else if (n->kind == MLA_N_CALL && n->n >= 3 &&
	           mla_str_is(n->kid[0]->name, "slice_update")) {
		kept = n->kid[1];
		fresh = n->kid[2];
	}
	if (!kept || !fresh || !(mla_trace_tags(&f->trace, fr, kept) & MLA_TR_MEMORY))
		return NULL;
	tags = mla_trace_tags(&f->trace, fr, fresh);
	return (tags & MLA_TR_POOLED) && (tags & MLA_TR_SUFFIX) ? kept : NULL;
}

static bool is_call_candidate(const mla_node *n)
{
	const mla_node *list;
	uint32_t first;

	return mla_trace_joins(n, &list, &first) ||
	       (n->kind == MLA_N_CALL && n->kid[0] &&
	        mla_str_is(n->kid[0]->name, "slice_update")) ||
	       (n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_SUBSCRIPT);
}

/* Is everything pooled somewhere in this subtree? */
static bool pools_all(finder *f, const mla_trace_frame *fr, const mla_node *top,
                      const mla_node *except)
{
	for (const mla_node *n = top; n; n = mla_node_next(n, top, n == except)) {
		uint32_t tags;

		if (n == except || (n->kind != MLA_N_CALL && n->kind != MLA_N_BINARY))
			continue;
		tags = mla_trace_tags(&f->trace, fr, n);
		if ((tags & MLA_TR_POOLED) && !(tags & MLA_TR_SUFFIX) &&
		    (tags & (MLA_TR_NEW | MLA_TR_ROWS)))
			return true;
	}
	return false;
}

/* Does the condition's other case lead to pooling everything? */
static bool is_gate(finder *f, const mla_pool_condition *c)
{
	const mla_node *other, *n = c->chooser, *in_branch;

	if (c->before) {
		if (n->kind != MLA_N_IF)
			return false;
		return pools_all(f, c->frame, c->holds ? mla_kid(n, 2) : n->kid[1], NULL);
	}
	other = mla_pool_other_arm(c);
	if (n->kind == MLA_N_MATCH) {
		for (uint32_t i = 1; i < n->n; i++)
			if (n->kid[i] != c->expr->parent &&
			    pools_all(f, c->frame, mla_kid(n->kid[i], 2), NULL))
				return true;
		return false;
	}
	if (other)
		return pools_all(f, c->frame, other, NULL);
	in_branch = n->kind == MLA_N_IF ? mla_kid(n, c->holds ? 1 : 2) : NULL;
	if (!mla_trace_exits(in_branch) || n->parent->kind != MLA_N_BLOCK)
		return false;
	for (uint32_t i = n->index + 1; i < n->parent->n; i++)
		if (pools_all(f, c->frame, n->parent->kid[i], NULL))
			return true;
	return false;
}

static bool is_zero(const mla_node *n)
{
	return n && (n->kind == MLA_N_NONE || (n->kind == MLA_N_INT && mla_str_is(n->name, "0")));
}

/*
 * One path for both cases: it begins at 0, or under a condition at what is remembered. The place
 * of the latter, with the condition's frame in `fr`; NULL: it is not so.
 */
static const mla_node *chosen_start(finder *f, const mla_trace_frame *fr, const mla_node *expr,
                                    uint32_t depth)
{
	for (const mla_node *n = expr; n && depth; n = mla_node_next(n, expr, false)) {
		mla_reachings r;
		bool zero = false;
		const mla_node *other = NULL, *found;

		if (n->kind == MLA_N_CONDITION && (is_zero(n->kid[1]) || is_zero(n->kid[2])))
			return is_zero(n->kid[1]) ? n->kid[2] : n->kid[1];
		if (n->kind != MLA_N_NAME)
			continue;
		mla_trace_reach(&r, fr, n);
		for (uint32_t i = 0; i < r.n; i++) {
			if (is_zero(r.v[i].value))
				zero = true;
			else if (r.v[i].value && (mla_trace_tags(&f->trace, fr, r.v[i].value) &
			                          (MLA_TR_MEMORY | MLA_TR_LENGTH | MLA_TR_STEP)))
				other = r.v[i].value;
		}
		if (zero && other)
			return other;
		for (uint32_t i = 0; i < r.n; i++)
			if (r.v[i].value && r.v[i].part < 0 && r.n == 1 &&
			    (found = chosen_start(f, fr, r.v[i].value, depth - 1)))
				return found;
	}
	return NULL;
}

static const mla_node *slice_start(const mla_node *subscript)
{
	for (uint32_t i = 1; i < subscript->n; i++)
		if (subscript->kid[i] && subscript->kid[i]->kind == MLA_N_SLICE &&
		    mla_kid(subscript->kid[i], 0))
			return subscript->kid[i]->kid[0];
	return NULL;
}

/* A part of the gate that is about the pool, where no arm could be told from the other. */
static bool speaks_of_pool(finder *f, const mla_pool_guards *g, uint32_t condition)
{
	bool one;

	for (uint32_t i = 0; i < g->atoms; i++)
		if (g->atom[i].condition == condition &&
		    (mla_pool_is_single(&f->trace, &g->atom[i]) ||
		     mla_pool_is_length(&f->trace, &g->atom[i], &one)))
			return true;
	return false;
}

static const mla_pool_condition *find_gate(finder *f, mla_pool_guards *g, bool chosen)
{
	for (uint32_t i = 0; i < g->n; i++)
		if ((chosen && i == 0) || is_gate(f, &g->v[i]))
			return &g->v[i];
	for (uint32_t i = 0; i < g->n; i++)
		if (speaks_of_pool(f, g, i) &&
		    pools_all(f, g->v[i].frame, mla_kid(g->v[i].frame->function, 1),
		              g->v[i].chooser))
			return &g->v[i];
	return NULL;
}

static mla_str symbol_of(finder *f, const mla_node *function)
{
	const mla_node *class = mla_node_class(function);

	if (!class)
		return function->name;
	return mla_arena_format(f->trace.arena, "%.*s.%.*s", MLA_ARG(class->name),
	                        MLA_ARG(function->name));
}

static bool is_known(const finder *f, const mla_pool *p)
{
	for (uint32_t i = 0; i < f->pools.n; i++)
		if (f->pools.v[i]->gate == p->gate)
			return true;
	return false;
}

static void note_tests(finder *f, mla_pool *p, const mla_pool_guards *g, mla_pool_site *site)
{
	bool one;

	for (uint32_t i = 0; i < g->atoms; i++) {
		const mla_pool_atom *a = &g->atom[i];

		if (a->frame->module != f->module)
			continue;
		if (!p->single && mla_pool_is_single(&f->trace, a)) {
			p->single = a->node;
			p->single_in = a->operand;
			site->single = a;
		} else if (mla_pool_is_length(&f->trace, a, &one) &&
		           (!p->length || p->length_one)) {
			p->length = a->node;
			p->length_one = one;
			site->length = a;
		}
	}
	/* A length that is one short is a test for one new token, whatever stands beside it. */
	if (!p->single && p->length && p->length_one) {
		p->single = p->length;
		p->single_in = site->length->operand;
		site->single = site->length;
	}
}

static void add(finder *f, const mla_trace_frame *fr, const mla_node *extend, const mla_node *kept)
{
	mla_pool_guards *g = mla_arena_alloc(f->trace.arena, sizeof(*g));
	mla_pool *p = mla_arena_alloc(f->trace.arena, sizeof(*p));
	const mla_node *suffix = f->trace.suffix, *start, *chosen;
	const mla_trace_frame *suffix_frame = f->trace.suffix_frame, *top = fr;
	const mla_pool_condition *gate;
	mla_pool_site site;

	start = suffix ? slice_start(suffix) : NULL;
	chosen = start ? chosen_start(f, suffix_frame, start, 4) : NULL;
	if (chosen)
		mla_pool_conditions(g, suffix_frame, chosen);
	else
		mla_pool_conditions(g, fr, extend);
	mla_pool_atoms(g, &f->trace);
	gate = find_gate(f, g, chosen && g->n);
	if (!gate || gate->frame->module != f->module || !suffix)
		return;
	while (top->caller)
		top = top->caller;
	*p = (mla_pool){
		.module = f->module,
		.function = gate->frame->function,
		.owner = gate->frame->owner,
		.symbol = symbol_of(f, gate->frame->function),
		.entry = top->function,
		.extend = extend,
		.suffix = suffix,
		.gate_holds = gate->holds,
	};
	p->gate = mla_pool_written(gate->frame, gate->expr, &p->gate_holds);
	site = (mla_pool_site){.trace = &f->trace,
	                       .gate = gate,
	                       .guards = g,
	                       .extend_frame = fr,
	                       .suffix_frame = suffix_frame,
	                       .start = start};
	note_tests(f, p, g, &site);
	if (is_known(f, p) || (!p->single && p->length && !p->length_one))
		return; /* as it should be */
	if (mla_pool_is_trimmed(&f->trace, fr, kept, &p->follows_trim) && !p->single && !p->length)
		return;
	mla_pool_spell(p, &site);
	mla_vec_push(&f->pools, p);
}

static int by_gate(const void *pa, const void *pb)
{
	const mla_pool *a = *(mla_pool *const *)pa, *b = *(mla_pool *const *)pb;

	return a->gate->span.start < b->gate->span.start   ? -1
	       : a->gate->span.start > b->gate->span.start ? 1
	                                                   : 0;
}

void mla_pools_find(mla_pools *out, mla_arena *arena, mla_project *project, mla_module *module)
{
	finder f = {.trace = {.arena = arena, .project = project}, .module = module};
	const mla_node *root = module->syntax.root;
	mla_pool **v;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		const mla_node *function = is_call_candidate(n) ? mla_node_function(n) : NULL;
		const mla_trace_frame *fr;
		const mla_node *kept;

		if (!function)
			continue;
		fr = frame_of(&f, function, MAX_CALLERS);
		kept = joins_windows(&f, fr, n);
		if (!kept)
			kept = overwrites_windows(&f, fr, n);
		if (kept)
			add(&f, fr, n, kept);
	}
	v = mla_arena_array(arena, f.pools.n, sizeof(*v));
	for (uint32_t i = 0; i < f.pools.n; i++)
		v[i] = f.pools.v[i];
	if (f.pools.n)
		qsort(v, f.pools.n, sizeof(*v), by_gate);
	*out = (mla_pools){v, f.pools.n};
	mla_vec_free(&f.pools);
	mla_vec_free(&f.frames);
	mla_pool_memo_free(&f.trace.values);
	mla_pool_memo_free(&f.trace.frames);
}

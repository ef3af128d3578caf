/* Entry points: building a layer, calling its method, the inputs of a call. */
#include "engine/attention.h"
#include "engine/make.h"
#include "engine/move.h"
#include "engine/quant.h"
#include "engine/replay/functions.h"

struct mla_layer_object {
	mla_value self;
	mla_replay_target target;
};

/* The width of the input: what config.c gives for every name of it. */
enum { INPUT_WIDTH = 64, INPUT_STREAM = 7, GATHERED = 8 };

mla_value mla_layer_object_self(const mla_layer_object *o)
{
	return o->self;
}

static int open_config(mla_value *out, mla_machine *m, const mla_replay_target *t)
{
	mla_replay_class *c = mla_machine_alloc(m, 1, sizeof(*c));

	c->module = t->owner.module;
	c->node = t->owner.node;
	*out = (mla_value){.kind = MLA_V_INSTANCE,
	                   .instance = mla_machine_alloc(m, 1, sizeof(mla_instance))};
	out->instance->class = c;
	out->instance->config = true;
	return 0;
}

/* The class that an annotation names, through Optional[...] and strings' absence. */
static mla_symbol annotated(mla_machine *m, mla_module *module, const mla_node *a)
{
	mla_symbol s = {0};

	if (a && (a->kind == MLA_N_SUBSCRIPT || a->kind == MLA_N_OTHER) && a->n == 2 &&
	    mla_str_is(a->kid[0]->name, "Optional")) {
		a = a->kid[1];
		if (a && a->kind == MLA_N_OTHER && a->n == 1)
			a = a->kid[0];
	}
	if (a && (a->kind == MLA_N_NAME || a->kind == MLA_N_ATTRIBUTE))
		s = mla_project_resolve_node(m->options.project, module, a);
	if (a && a->kind == MLA_N_STRING && !a->n) {
		mla_str text = mla_node_text(module->text, a);

		if (text.len > 2)
			s = mla_project_resolve(m->options.project, module,
			                        (mla_str){text.ptr + 1, text.len - 2});
	}
	return s.node && s.node->kind == MLA_N_CLASS ? s : (mla_symbol){0};
}

static bool names_config(mla_str name)
{
	return mla_str_mentions(name, "config") || mla_str_mentions(name, "args") ||
	       mla_str_mentions(name, "cfg") || mla_str_is(name, "params");
}

static int constructor_argument(mla_value *out, mla_machine *m, const mla_replay_target *t,
                                const mla_function *f, uint32_t i)
{
	const mla_node *p = f->node->kid[0]->kid[i];
	mla_symbol s = annotated(m, f->module, mla_kid(p, 0));
	mla_value class;
	int error;

	if (s.node) {
		if ((error = mla_class_of(&class, m, s.module, s.node, NULL)) < 0)
			return error;
		error = mla_config_make(out, m, class);
		m->config = *out;
		return error;
	}
	if (names_config(p->name) && f->defaults[i].kind == MLA_V_UNBOUND)
		return open_config(out, m, t);
	return mla_config_field(out, m, p->name, mla_kid(p, 0), f->defaults[i]);
}

static int construct(mla_value *out, mla_machine *m, const mla_replay_target *t)
{
	mla_value value[MLA_REPLAY_ARGUMENTS], class, init;
	mla_str keyword[MLA_REPLAY_ARGUMENTS];
	mla_call c = {.keyword = keyword, .value = value, .name = "the constructor"};
	mla_replay_class *owner;
	bool found;
	int error;

	m->module = t->owner.module;
	m->at = t->owner.node;
	if ((error = mla_class_of(&class, m, t->owner.module, t->owner.node, NULL)) < 0)
		return error;
	if (class.kind != MLA_V_CLASS)
		return mla_unsupported(m, "a class that a decorator replaces");
	if (class.class->foreign.len)
		return mla_unsupported(m, "base class `%.*s`, which is not in the project",
		                       MLA_ARG(class.class->foreign));
	if ((error = mla_class_attribute_find(&found, &init, m, class.class, 0,
	                                      mla_str_c("__init__"), &owner)) < 0)
		return error;
	if (found && init.kind != MLA_V_FUNCTION)
		return mla_unsupported(m, "a decorated constructor");
	for (uint32_t i = 1; found && i < init.function->parameters; i++) {
		const mla_node *p = init.function->node->kid[0]->kid[i];

		if (p->op != MLA_OP_NONE)
			continue;
		if (c.keywords == MLA_REPLAY_ARGUMENTS)
			return mla_limit(m, "a constructor of more than %d arguments",
			                 MLA_REPLAY_ARGUMENTS);
		keyword[c.keywords] = p->name;
		if ((error = constructor_argument(&value[c.keywords++], m, t, init.function, i)) <
		    0)
			return error;
	}
	return mla_call_value(out, m, class, &c);
}

/* A weight that the constructor left constant would hide differences: it is drawn instead. */
static bool is_constant(const mla_tensor *t)
{
	double first;

	if (!mla_tensor_has_data(t) || t->ndim < 2 || t->count < 2)
		return false;
	first = mla_tensor_at(t, 0);
	for (int64_t i = 1; i < t->count; i++)
		if (mla_tensor_at(t, i) != first)
			return false;
	return true;
}

static int settle_tensor(mla_value *v, mla_machine *m, mla_str name, bool up)
{
	mla_engine *e = m->engine;
	mla_quantised q;
	mla_tensor *t;
	int error;

	if (!mla_dtype_is_float(v->t->dtype))
		return 0;
	if (name.len && name.ptr[0] == '_' && !up) /* no parameter: frequencies and the like */
		return 0;
	if (!(v->from & MLA_PARAMETER) && is_constant(v->t) &&
	    (error = mla_draw(v, m, v->t->ndim, v->t->shape, 0, 0)) < 0)
		return error;
	if ((error = mla_engine_fault(m, mla_move_cast(&t, e, v->t, mla_replay_dtype(m)))) < 0)
		return error;
	*v = mla_value_tensor(t, v->from | MLA_PARAMETER);
	if (!up)
		return 0;
	v->from |= MLA_FROM_UP;
	if (m->options.mode != MLA_REPLAY_BF16)
		return 0;
	if ((error = mla_engine_fault(m, mla_quantise(&q, e, t, m->options.bits))) < 0)
		return error;
	if (q.bits == 16)
		return 0;
	if ((error = mla_engine_fault(m, mla_dequantise(&t, e, &q))) < 0)
		return error;
	*v = mla_value_tensor(t, v->from | MLA_QUANTISED);
	return 0;
}

static int settle(mla_value *v, mla_machine *m, mla_str name, bool up, uint32_t depth);

static int settle_all(mla_dictionary *d, mla_machine *m, const mla_replay_target *t, bool up,
                      uint32_t depth)
{
	int error = 0;

	for (uint32_t i = 0; i < d->n && error == 0; i++) {
		mla_str name = d->v[i].key.s;
		bool here = up;

		for (uint32_t k = 0; t && k < t->ups; k++)
			here |= mla_str_eq(t->up[k], name);
		error = settle(&d->v[i].value, m, name, here, depth);
	}
	return error;
}

/* Parameters get the format of the run; up-projections are marked, and quantised. */
static int settle(mla_value *v, mla_machine *m, mla_str name, bool up, uint32_t depth)
{
	int error = 0;

	if (depth > 12)
		return mla_limit(m, "modules nested deeper than 12");
	switch (v->kind) {
	case MLA_V_TENSOR:
		return settle_tensor(v, m, name, up);
	case MLA_V_LAYER:
		return settle_all(mla_layer_attributes(v->layer), m, NULL, up, depth + 1);
	case MLA_V_INSTANCE:
		/* Caches and configs hold no weights; a projection does, whatever it derives from.
		 */
		if (!v->instance->class->module_base && !up)
			return 0;
		return settle_all(&v->instance->attributes, m, NULL, up, depth + 1);
	case MLA_V_LIST:
	case MLA_V_TUPLE:
		for (uint32_t i = 0; i < v->seq->n && error == 0; i++)
			error = settle(&v->seq->v[i], m, name, up, depth + 1);
		return error;
	default:
		return 0;
	}
}

static void start(mla_machine *m, mla_run *run)
{
	m->fault = (mla_fault){0};
	m->steps = 0;
	m->used = 0;
	m->depth = m->calls = 0;
	m->run = run;
	m->journal.n = 0;
	m->stale.n = 0;
	m->runs += run != NULL;
}

static void finish(mla_machine *m)
{
	for (uint32_t i = m->journal.n; i > 0; i--) {
		mla_change_note *n = &m->journal.v[i - 1];

		for (uint32_t k = 0; k < n->of->n; k++)
			if (mla_str_eq(n->of->v[k].key.s, n->name)) {
				if (n->old.kind == MLA_V_UNBOUND)
					n->of->v[k] = n->of->v[--n->of->n];
				else
					n->of->v[k].value = n->old;
				break;
			}
	}
	m->journal.n = 0;
	m->returned = mla_value_none;
	m->run = NULL;
}

int mla_replay_construct(mla_layer_object **out, mla_machine *m, const mla_replay_target *target)
{
	mla_layer_object *o = mla_machine_alloc(m, 1, sizeof(*o));
	int error;

	start(m, NULL);
	m->constructing = true;
	o->target = *target;
	if ((error = construct(&o->self, m, target)) < 0)
		return error;
	m->constructing = false;
	if (o->self.kind != MLA_V_INSTANCE)
		return mla_unsupported(m, "a constructor that gives a %s", mla_value_type(o->self));
	if ((error = settle_all(&o->self.instance->attributes, m, target, false, 0)) < 0)
		return error;
	*out = o;
	return 0;
}

/* Numbers of this step's tokens, other ones for each `which`. */
static int make_tokens(mla_value *out, mla_machine *m, const mla_run *run, int64_t size,
                       uint32_t which)
{
	int64_t shape[] = {run->batch, run->width, size};
	mla_random r = mla_random_stream(m->options.seed + 2 + run->tokens + 1000003ULL * which,
	                                 INPUT_STREAM + run->width);
	mla_tensor *t = NULL;
	int error =
		mla_random_normals(&t, m->engine, mla_replay_dtype(m), MLA_BF16, 3, shape, &r, 1);

	*out = mla_value_tensor(t, MLA_FROM_INPUT);
	return mla_engine_fault(m, error);
}

static int make_input(mla_value *out, mla_machine *m, const mla_run *run)
{
	int error = make_tokens(out, m, run, INPUT_WIDTH, 0);

	m->input = *out;
	return error;
}

/*
 * None at one query; causal otherwise; for a padded batch of 4 dimensions at any width. A padding
 * token sees itself, so that no row is all hidden.
 */
static int make_mask(mla_value *out, mla_machine *m, const mla_run *run)
{
	int64_t rows = run->width, columns = run->cached + run->width;
	int64_t shape[] = {run->batch, 1, rows, columns};
	mla_tensor *t = NULL;
	double *see;
	int error;

	*out = m->mask = mla_value_none;
	if (run->no_mask || (run->width == 1 && !run->padded))
		return 0;
	if (!run->padded) {
		error = mla_causal_mask(&t, m->engine, rows, columns);
	} else if (m->options.mode == MLA_REPLAY_SHAPES) {
		error = mla_make_full(&t, m->engine, MLA_BOOL, 4, shape, 1);
	} else {
		see = mla_alloc((size_t)(run->batch * rows * columns) * sizeof(*see));
		for (int64_t b = 0; b < run->batch; b++)
			for (int64_t i = 0; i < rows; i++)
				for (int64_t k = 0; k < columns; k++)
					see[(b * rows + i) * columns + k] =
						(k >= b && k <= run->cached + i) ||
						k == run->cached + i;
		error = mla_tensor_from(&t, m->engine, MLA_BOOL, 4, shape, see);
		free(see);
	}
	*out = m->mask = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

/* Distinct rows that each query may see: [batch, 1, width, k]. */
static int make_indices(mla_value *out, mla_machine *m, const mla_run *run)
{
	int64_t k = run->cached + 1 < GATHERED ? run->cached + 1 : GATHERED;
	int64_t shape[] = {run->batch, 1, run->width, k};
	mla_tensor *t = NULL;
	double *at = mla_alloc((size_t)(run->batch * run->width * k) * sizeof(*at));
	int error;

	for (int64_t b = 0; b < run->batch; b++)
		for (int64_t i = 0; i < run->width; i++)
			for (int64_t j = 0; j < k; j++)
				at[(b * run->width + i) * k + j] =
					(double)(run->cached + i - j * ((run->cached + i + 1) / k));
	error = mla_tensor_from(&t, m->engine, MLA_I32, 4, shape, at);
	free(at);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

/* Does the method use `name`, or what is made from it, as positions of a gather? */
bool mla_replay_gathers(const mla_node *function, mla_str name)
{
	static const char *const calls[] = {
		"take_along_axis", "put_along_axis", "gather", "take", "scatter", NULL};
	mla_str tainted[32] = {name};
	uint32_t n = 1;

	for (const mla_node *at = function; at; at = mla_node_next(at, function, false)) {
		bool call = at->kind == MLA_N_CALL && at->kid[0]->kind == MLA_N_ATTRIBUTE &&
		            mla_str_in(at->kid[0]->name, calls);
		bool assign = at->kind == MLA_N_ASSIGN && at->kid[0]->kind == MLA_N_NAME;
		bool holds = false;

		if (!call && !assign)
			continue;
		for (const mla_node *in = at->kid[at->n - 1]; assign && in;
		     in = mla_node_next(in, at->kid[at->n - 1], false))
			for (uint32_t i = 0; i < n; i++)
				holds |= in->kind == MLA_N_NAME && mla_str_eq(in->name, tainted[i]);
		for (const mla_node *in = at; call && in; in = mla_node_next(in, at, false))
			for (uint32_t i = 0; i < n; i++)
				holds |= in->kind == MLA_N_NAME && mla_str_eq(in->name, tainted[i]);
		if (call && holds)
			return true;
		if (assign && holds && n < 32)
			tainted[n++] = at->kid[0]->name;
	}
	return false;
}

/* Of all positions, [batch, T]: false for the last ones that are padding. None: all count. */
static int make_validity(mla_value *out, mla_machine *m, const mla_run *run)
{
	int64_t T = run->cached + run->width, shape[] = {run->batch, T};
	mla_tensor *t = NULL;
	double *see;
	int error;

	*out = mla_value_none;
	if (!run->invalid)
		return 0;
	see = mla_alloc((size_t)(run->batch * T) * sizeof(*see));
	for (int64_t b = 0; b < run->batch; b++)
		for (int64_t i = 0; i < T; i++)
			see[b * T + i] = i < T - run->invalid;
	error = mla_tensor_from(&t, m->engine, MLA_BOOL, 2, shape, see);
	free(see);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

static int method_argument(bool *given, mla_value *out, mla_machine *m, const mla_run *run,
                           const mla_layer_object *o, const mla_node *p)
{
	const mla_node *function = o->target.function;
	int64_t width;

	*given = true;
	/* Who pools keys asks which tokens count, and in a session all of them do unless it says
	 * so. */
	if (run->session && mla_str_mentions(p->name, "mask") && mla_kid(p, 1)) {
		*given = false;
		return 0;
	}
	if (mla_str_mentions(p->name, "mask"))
		return make_mask(out, m, run);
	if (mla_str_mentions(p->name, "cache") || mla_str_mentions(p->name, "past")) {
		*out = run->session ? mla_session_cache(run->session) : mla_cache_new(m);
		return 0;
	}
	if (run->session && mla_str_mentions(p->name, "valid"))
		return make_validity(out, m, run);
	if (mla_kid(p, 1)) {
		*given = run->gather && mla_replay_gathers(function, p->name);
		return *given ? make_indices(out, m, run) : 0;
	}
	if (mla_parameter_width(&width, m, o->self, function, p->name))
		return make_tokens(out, m, run, width, p->index);
	return mla_unsupported(m, "parameter `%.*s` of the method", MLA_ARG(p->name));
}

static int make_arguments(mla_call *c, mla_machine *m, const mla_layer_object *o,
                          const mla_run *run)
{
	const mla_node *list = o->target.function->kid[0];
	int error;

	if (!list || list->n < 2)
		return mla_unsupported(m, "a method without an input");
	if ((error = make_input(&c->args[c->n++], m, run)) < 0)
		return error;
	for (uint32_t i = 2; i < list->n; i++) {
		const mla_node *p = list->kid[i];
		bool given;

		if (p->op != MLA_OP_NONE)
			continue;
		if (c->keywords == MLA_REPLAY_ARGUMENTS)
			return mla_limit(m, "a method of more than %d parameters",
			                 MLA_REPLAY_ARGUMENTS);
		c->keyword[c->keywords] = p->name;
		if ((error = method_argument(&given, &c->value[c->keywords], m, run, o, p)) < 0)
			return error;
		c->keywords += given;
	}
	return 0;
}

/* Does a function that another one makes use names of that one? */
static bool is_closure(const mla_node *f, const mla_node *outer)
{
	const mla_node *body = mla_kid(outer, 1);
	const mla_span before = {outer->span.start, f->span.start};
	const mla_span after = {f->span.end, outer->span.end};

	for (const mla_node *n = f; n; n = mla_node_next(n, f, false))
		if (n->kind == MLA_N_NAME && !mla_parameter(f, n->name) &&
		    (mla_parameter(outer, n->name) || mla_node_assigned(body, n->name, before) ||
		     mla_node_assigned(body, n->name, after)))
			return true;
	return false;
}

static int find_method(mla_value *out, bool *bound, mla_machine *m, const mla_layer_object *o)
{
	const mla_node *f = o->target.function, *up = f->parent ? f->parent->parent : NULL;
	const mla_node *outer;
	mla_environment *e;
	bool found;
	int error;

	*bound = up && up->kind == MLA_N_CLASS;
	if (*bound)
		return mla_attribute_get(out, m, o->self, f->name);
	if ((error = mla_global_get(&found, out, m, o->target.module, f->name)) < 0 || found)
		return error;
	outer = f->parent ? mla_node_function(f->parent) : NULL;
	if (!outer || is_closure(f, outer))
		return mla_unsupported(m, "a function defined inside another");
	e = mla_environment_new(m, NULL, o->target.module, NULL);
	return mla_function_make(out, m, e, o->target.module, f, NULL);
}

static int call_method(mla_value *out, mla_machine *m, const mla_layer_object *o, mla_run *run)
{
	mla_value args[2], value[MLA_REPLAY_ARGUMENTS], method;
	mla_str keyword[MLA_REPLAY_ARGUMENTS];
	mla_call c = {.args = args, .keyword = keyword, .value = value, .name = "the method"};
	bool bound;
	int error;

	m->module = o->target.module;
	m->at = o->target.function;
	if ((error = find_method(&method, &bound, m, o)) < 0)
		return error;
	if (!bound)
		args[c.n++] = o->self;
	if ((error = make_arguments(&c, m, o, run)) < 0)
		return error;
	return mla_call_value(out, m, method, &c);
}

int mla_replay_run(mla_tensor **out, mla_machine *m, mla_layer_object *layer, mla_run *run)
{
	uint64_t before = mla_engine_work(m->engine, MLA_WORK_MATMUL).operations;
	mla_value v = mla_value_none;
	int error;

	start(m, run);
	if (run->session)
		run->cached = mla_session_length(run->session);
	run->windows = run->window = 0;
	run->expansions = run->folds = 0;
	for (uint32_t i = 0; i < run->watches; i++)
		run->watch[i].was_true = run->watch[i].was_false = false;
	error = call_method(&v, m, layer, run);
	if (error == 0 && v.kind == MLA_V_TUPLE && v.seq->n)
		v = v.seq->v[0];
	if (error == 0 && run->session)
		mla_session_close(run->session, run);
	if (error == 0 && v.kind != MLA_V_TENSOR && !(run->session && v.kind == MLA_V_NONE))
		error = mla_unsupported(m, "a method that returns a %s", mla_value_type(v));
	run->multiply_adds = mla_engine_work(m->engine, MLA_WORK_MATMUL).operations - before;
	finish(m);
	*out = error == 0 && v.kind == MLA_V_TENSOR ? v.t : NULL;
	return error;
}

/* Calls: evaluating arguments, binding them to parameters, running functions. */
#include "engine/replay/machine.h"

static int parameter_defaults(mla_machine *m, mla_environment *e, mla_function *f)
{
	const mla_node *list = f->node->kid[0];
	int error = 0;

	f->parameters = list ? list->n : 0;
	f->defaults = mla_machine_alloc(m, f->parameters, sizeof(*f->defaults));
	for (uint32_t i = 0; i < f->parameters && error == 0; i++)
		if (mla_kid(list->kid[i], 1))
			error = mla_eval(&f->defaults[i], m, e, list->kid[i]->kid[1]);
	return error;
}

int mla_function_make(mla_value *out, mla_machine *m, mla_environment *e, mla_module *module,
                      const mla_node *n, mla_replay_class *owner)
{
	mla_function *f = mla_machine_alloc(m, 1, sizeof(*f));
	int error;

	f->module = module;
	f->node = n;
	f->closure = e;
	f->owner = owner;
	if ((error = parameter_defaults(m, e, f)) < 0)
		return error;
	*out = (mla_value){.kind = MLA_V_FUNCTION, .function = f};
	if (n->kind == MLA_N_FUNCTION && mla_kid(n, 3))
		return mla_decorate(out, m, e, n->kid[3], *out);
	return 0;
}

static int32_t keyword_at(const mla_call *c, mla_str name, uint64_t taken)
{
	for (uint32_t i = 0; i < c->keywords; i++)
		if (!(taken >> i & 1) && mla_str_eq(c->keyword[i], name))
			return (int32_t)i;
	return -1;
}

static int rest_of(mla_value *out, mla_machine *m, const mla_call *c, uint32_t from)
{
	int error = 0;

	*out = mla_sequence_new(m, MLA_V_TUPLE, 0);
	for (uint32_t i = from; i < c->n && error == 0; i++)
		error = mla_sequence_push(m, out->seq, c->args[i]);
	return error;
}

static int keywords_of(mla_value *out, mla_machine *m, const mla_call *c, uint64_t taken)
{
	int error = 0;

	*out = mla_dictionary_new(m);
	for (uint32_t i = 0; i < c->keywords && error == 0; i++)
		if (!(taken >> i & 1))
			error = mla_dictionary_set(m, out->dict, mla_value_str(c->keyword[i]),
			                           c->value[i]);
	return error;
}

/* Parameters to arguments, as Python binds them. */
static int bind_parameters(mla_machine *m, mla_environment *e, const mla_function *f,
                           const mla_call *c)
{
	const mla_node *list = f->node->kid[0];
	uint32_t next = 0;
	uint64_t taken = 0;
	bool keyword_only = false, star = false, stars = false;
	int error = 0;

	for (uint32_t i = 0; i < f->parameters && error == 0; i++) {
		const mla_node *p = list->kid[i];
		mla_value v = f->defaults[i];
		int32_t k;

		if (p->op == MLA_OP_SLASH)
			continue;
		if (p->op == MLA_OP_STAR) {
			keyword_only = true;
			if (p->name.len) {
				star = true;
				error = rest_of(&v, m, c, next);
				next = c->n > next ? c->n : next;
				mla_environment_bind(m, e, p->name, v);
			}
			continue;
		}
		if (p->op == MLA_OP_POWER) {
			stars = true;
			continue;
		}
		k = keyword_at(c, p->name, taken);
		if (!keyword_only && next < c->n) {
			if (k >= 0)
				return mla_raise(m, "TypeError", "two values for argument '%.*s'",
				                 MLA_ARG(p->name));
			v = c->args[next++];
		} else if (k >= 0) {
			taken |= (uint64_t)1 << k;
			v = c->value[k];
		}
		if (v.kind == MLA_V_UNBOUND)
			return mla_raise(m, "TypeError", "%.*s() misses argument '%.*s'",
			                 MLA_ARG(f->node->name), MLA_ARG(p->name));
		mla_environment_bind(m, e, p->name, v);
	}
	if (error < 0)
		return error;
	if (next < c->n && !star)
		return mla_raise(m, "TypeError", "%.*s() takes %u arguments but %u were given",
		                 MLA_ARG(f->node->name), next, c->n);
	for (uint32_t i = 0; i < f->parameters && stars; i++)
		if (list->kid[i]->op == MLA_OP_POWER) {
			mla_value v;

			if ((error = keywords_of(&v, m, c, taken)) < 0)
				return error;
			mla_environment_bind(m, e, list->kid[i]->name, v);
		}
	for (uint32_t i = 0; i < c->keywords && !stars; i++)
		if (!(taken >> i & 1))
			return mla_raise(m, "TypeError", "%.*s() got an unexpected argument '%.*s'",
			                 MLA_ARG(f->node->name), MLA_ARG(c->keyword[i]));
	return 0;
}

static bool has_yield(const mla_node *function)
{
	const mla_node *body = function->kid[1];

	for (const mla_node *n = body; n;) {
		bool skip = n != body && (n->kind == MLA_N_FUNCTION || n->kind == MLA_N_LAMBDA);

		if (n->kind == MLA_N_YIELD)
			return true;
		n = mla_node_next(n, body, skip);
	}
	return false;
}

static int run_body(mla_value *out, mla_machine *m, mla_environment *e, const mla_function *f)
{
	mla_flow flow;
	int error;

	if (f->node->kind == MLA_N_LAMBDA)
		return mla_eval(out, m, e, f->node->kid[1]);
	if (f->node->has_error)
		return mla_unsupported(m, "a syntax error in %.*s()", MLA_ARG(f->node->name));
	if (has_yield(f->node))
		return mla_unsupported(m, "generator function %.*s()", MLA_ARG(f->node->name));
	if ((error = mla_execute_block(&flow, m, e, f->node->kid[1])) < 0)
		return error;
	*out = flow == MLA_FLOW_RETURN ? m->returned : mla_value_none;
	return 0;
}

static int call_function(mla_value *out, mla_machine *m, const mla_function *f, const mla_call *c)
{
	mla_environment *e = mla_environment_new(m, f->closure, f->module, f);
	mla_module *module = m->module;
	const mla_node *at = m->at;
	const mla_locals *l;
	int error;

	if (m->calls >= MLA_REPLAY_CALLS)
		return mla_limit(m, "calls nested deeper than %d", MLA_REPLAY_CALLS);
	/* A call that cannot be bound fails where it is made. */
	if ((error = bind_parameters(m, e, f, c)) < 0)
		return error;
	m->calls++;
	m->module = f->module;
	l = mla_locals_of(m, f->node);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t before = e->n;

		for (uint32_t k = 0; k < e->n; k++)
			if (mla_str_eq(e->name[k], l->name[i]))
				before = k;
		if (before == e->n)
			mla_environment_bind(m, e, l->name[i], (mla_value){0});
		e->outer[before] = l->outer[i];
	}
	error = run_body(out, m, e, f);
	m->calls--;
	if (error == 0) { /* after a fault its place is kept */
		m->module = module;
		m->at = at;
	}
	return error;
}

/* `first` in front of the arguments. */
static int call_bound(mla_value *out, mla_machine *m, mla_value callee, const mla_value *first,
                      uint32_t n, mla_call *c)
{
	mla_call with = *c;

	if (n + c->n > MLA_REPLAY_ARGUMENTS)
		return mla_limit(m, "more than %d arguments", MLA_REPLAY_ARGUMENTS);
	with.args = mla_machine_alloc(m, n + c->n, sizeof(*with.args));
	if (n)
		memcpy(with.args, first, n * sizeof(*first));
	if (c->n)
		memcpy(with.args + n, c->args, c->n * sizeof(*c->args));
	with.n = n + c->n;
	return mla_call_value(out, m, callee, &with);
}

static int call_partial(mla_value *out, mla_machine *m, const mla_bound *b, mla_call *c)
{
	mla_call with = *c;
	uint32_t room = b->keywords.n + c->keywords;

	if (room > MLA_REPLAY_ARGUMENTS)
		return mla_limit(m, "more than %d arguments", MLA_REPLAY_ARGUMENTS);
	with.keyword = mla_machine_alloc(m, room, sizeof(*with.keyword));
	with.value = mla_machine_alloc(m, room, sizeof(*with.value));
	with.keywords = 0;
	for (uint32_t i = 0; i < b->keywords.n; i++) {
		mla_str name = b->keywords.v[i].key.s;

		if (keyword_at(c, name, 0) >= 0)
			continue;
		with.keyword[with.keywords] = name;
		with.value[with.keywords++] = b->keywords.v[i].value;
	}
	for (uint32_t i = 0; i < c->keywords; i++) {
		with.keyword[with.keywords] = c->keyword[i];
		with.value[with.keywords++] = c->value[i];
	}
	return call_bound(out, m, b->callee, b->args.v, b->args.n, &with);
}

int mla_call_value(mla_value *out, mla_machine *m, mla_value callee, mla_call *c)
{
	mla_value method;
	bool found;
	int error;

	switch (callee.kind) {
	case MLA_V_FUNCTION:
		return call_function(out, m, callee.function, c);
	case MLA_V_BUILTIN:
		c->name = callee.builtin->name;
		return callee.builtin->call(out, m, c, callee.builtin->variant);
	case MLA_V_METHOD:
		return call_bound(out, m, callee.bound->callee, &callee.bound->self, 1, c);
	case MLA_V_PARTIAL:
		return call_partial(out, m, callee.bound, c);
	case MLA_V_CLASS:
		return mla_instantiate(out, m, callee.class, c);
	case MLA_V_LAYER:
		return mla_layer_call(out, m, callee.layer, c);
	case MLA_V_INSTANCE:
		error = mla_attribute_find(&found, &method, m, callee, mla_str_c("__call__"));
		if (error == 0 && !found)
			error = mla_attribute_find(&found, &method, m, callee,
			                           mla_str_c("forward"));
		if (error < 0)
			return error;
		if (!found)
			return mla_raise(m, "TypeError", "'%.*s' object is not callable",
			                 MLA_ARG(callee.instance->class->node->name));
		return mla_call_value(out, m, method, c);
	case MLA_V_FOREIGN:
		return mla_unsupported(m, "call of `%.*s`", MLA_ARG(callee.s));
	case MLA_V_CACHE:
		return mla_cache_call(out, m, callee.cache, c);
	case MLA_V_OPEN:
	case MLA_V_SUPER:
		return mla_unsupported(m, "call of a %s", mla_value_type(callee));
	default:
		return mla_raise(m, "TypeError", "'%s' object is not callable",
		                 mla_value_type(callee));
	}
}

int mla_call_plain(mla_value *out, mla_machine *m, mla_value callee, const mla_value *args,
                   uint32_t n)
{
	mla_value copy[4];
	mla_call c = {.args = copy, .n = n, .name = ""};

	if (n)
		memcpy(copy, args, n * sizeof(*args));
	return mla_call_value(out, m, callee, &c);
}

static int add_positional(mla_machine *m, mla_call *c, mla_value v)
{
	if (c->n >= MLA_REPLAY_ARGUMENTS)
		return mla_limit(m, "more than %d arguments", MLA_REPLAY_ARGUMENTS);
	c->args[c->n++] = v;
	return 0;
}

static int add_keyword(mla_machine *m, mla_call *c, mla_str name, mla_value v)
{
	if (c->keywords >= MLA_REPLAY_ARGUMENTS)
		return mla_limit(m, "more than %d arguments", MLA_REPLAY_ARGUMENTS);
	c->keyword[c->keywords] = name;
	c->value[c->keywords++] = v;
	return 0;
}

static int spread(mla_machine *m, mla_call *c, mla_value v)
{
	mla_value list;
	int error = mla_iterate(&list, m, v);

	for (uint32_t i = 0; error == 0 && i < list.seq->n; i++)
		error = add_positional(m, c, list.seq->v[i]);
	return error;
}

static int spread_keywords(mla_machine *m, mla_call *c, mla_value v)
{
	int error = 0;

	if (v.kind != MLA_V_DICT || v.dict->open)
		return mla_unsupported(m, "** of a %s", mla_value_type(v));
	for (uint32_t i = 0; i < v.dict->n && error == 0; i++) {
		if (v.dict->v[i].key.kind != MLA_V_STR)
			return mla_raise(m, "TypeError", "keywords must be strings");
		error = add_keyword(m, c, v.dict->v[i].key.s, v.dict->v[i].value);
	}
	return error;
}

static int add_argument(mla_machine *m, mla_environment *e, mla_call *c, const mla_node *n)
{
	const mla_node *value =
		n->kind == MLA_N_KEYWORD || n->kind == MLA_N_STAR || n->kind == MLA_N_STAR_STAR
			? n->kid[0]
			: n;
	mla_value v;
	int error = mla_eval(&v, m, e, value);

	if (error < 0)
		return error;
	switch (n->kind) {
	case MLA_N_KEYWORD:
		return add_keyword(m, c, n->name, v);
	case MLA_N_STAR:
		return spread(m, c, v);
	case MLA_N_STAR_STAR:
		return spread_keywords(m, c, v);
	default:
		return add_positional(m, c, v);
	}
}

/* super() without arguments means the class the function was written in, and its first argument. */
static int make_super(mla_value *out, mla_machine *m, mla_environment *e, const mla_call *c)
{
	const mla_environment *at = e;
	mla_bound *b = mla_machine_alloc(m, 1, sizeof(*b));

	if (c->n == 2 && c->args[0].kind == MLA_V_CLASS) {
		b->callee = c->args[0];
		b->self = c->args[1];
	} else {
		while (at && (!at->function || !at->function->owner))
			at = at->parent;
		if (!at || c->n || !at->n)
			return mla_unsupported(m, "super() outside a method");
		b->callee = (mla_value){.kind = MLA_V_CLASS, .class = at->function->owner};
		b->self = at->value[0];
	}
	*out = (mla_value){.kind = MLA_V_SUPER, .bound = b};
	return 0;
}

int mla_eval_call(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value args[MLA_REPLAY_ARGUMENTS], value[MLA_REPLAY_ARGUMENTS], callee;
	mla_str keyword[MLA_REPLAY_ARGUMENTS];
	mla_call c = {.args = args, .keyword = keyword, .value = value, .name = ""};
	const mla_node *f = n->kid[0];
	bool super = f->kind == MLA_N_NAME && mla_str_is(f->name, "super");
	int error = 0;

	if (!super && (error = mla_eval(&callee, m, e, f)) < 0)
		return error;
	for (uint32_t i = 1; i < n->n && error == 0; i++)
		error = add_argument(m, e, &c, n->kid[i]);
	if (error < 0)
		return error;
	m->at = n;
	return super ? make_super(out, m, e, &c) : mla_call_value(out, m, callee, &c);
}

/* Classes, instances and attributes. What a class body defines is evaluated when it is asked for.
 */
#include "engine/replay/functions.h"

static int add_base(mla_machine *m, mla_replay_class *c, mla_value base)
{
	if (base.kind == MLA_V_CLASS) {
		for (uint32_t i = 0; i < base.class->mro_count; i++) {
			bool there = false;

			for (uint32_t k = 0; k < c->mro_count; k++)
				there |= c->mro[k] == base.class->mro[i];
			if (there && i + 1 < base.class->mro_count)
				return mla_unsupported(m, "a class that inherits one class twice");
			if (there)
				continue;
			if (c->mro_count == MLA_REPLAY_BASES)
				return mla_limit(m, "more than %d base classes", MLA_REPLAY_BASES);
			c->mro[c->mro_count++] = base.class->mro[i];
		}
		if (base.class->foreign.len && !c->foreign.len)
			c->foreign = base.class->foreign;
		c->module_base |= base.class->module_base;
		c->is_dataclass |= base.class->is_dataclass;
		return 0;
	}
	if (base.kind == MLA_V_FOREIGN) {
		if (mla_is_module_class(base.s))
			c->module_base = true;
		else if (!c->foreign.len)
			c->foreign = base.s;
		return 0;
	}
	/* `object`, Generic[T] and other builtins bring nothing. */
	return base.kind == MLA_V_BUILTIN
	               ? 0
	               : mla_unsupported(m, "a %s as a base class", mla_value_type(base));
}

static int class_decorators(mla_value *out, mla_machine *m, mla_environment *e,
                            const mla_node *node)
{
	const mla_node *list = mla_kid(node, 2);

	return list ? mla_decorate(out, m, e, list, *out) : 0;
}

static const mla_str empty_bases[] = {{"ABC", 3}, {"Generic", 7}, {"Protocol", 8}, {"object", 6}};

static bool brings_nothing(const mla_node *base)
{
	if (base->kind == MLA_N_SUBSCRIPT)
		base = base->kid[0];
	for (uint32_t i = 0; i < sizeof(empty_bases) / sizeof(*empty_bases); i++)
		if (mla_str_eq(base->name, empty_bases[i]))
			return true;
	return false;
}

int mla_class_of(mla_value *out, mla_machine *m, mla_module *module, const mla_node *node,
                 mla_environment *closure)
{
	mla_environment *e = closure ? closure : mla_environment_new(m, NULL, module, NULL);
	const mla_node *bases = mla_kid(node, 0);
	mla_replay_class *c;
	int error = 0;

	for (uint32_t i = 0; i < m->classes.n; i++)
		if (m->classes.v[i].node == node && m->classes.v[i].closure == closure) {
			*out = (mla_value){.kind = MLA_V_CLASS, .class = m->classes.v[i].class};
			return 0;
		}
	if (node->has_error)
		return mla_unsupported(m, "a syntax error in class %.*s", MLA_ARG(node->name));
	c = mla_machine_alloc(m, 1, sizeof(*c));
	c->module = module;
	c->node = node;
	c->closure = closure;
	c->mro[c->mro_count++] = c;
	if ((error = mla_enter(m, node)) < 0)
		return error;
	for (uint32_t i = 0; bases && i < bases->n && error == 0; i++) {
		mla_value base;

		if (bases->kid[i]->kind == MLA_N_KEYWORD || brings_nothing(bases->kid[i]))
			continue;
		if ((error = mla_eval(&base, m, e, bases->kid[i])) == 0)
			error = add_base(m, c, base);
	}
	mla_leave(m);
	if (error < 0)
		return error;
	*out = (mla_value){.kind = MLA_V_CLASS, .class = c};
	mla_vec_push(&m->classes, ((mla_class_entry){node, closure, c}));
	return class_decorators(out, m, e, node);
}

/* The last definition of `name` directly in the class body. */
static int find_in_body(const mla_node **out, mla_machine *m, const mla_node *body, mla_str name)
{
	*out = NULL;
	for (uint32_t i = 0; body && i < body->n; i++) {
		const mla_node *n = body->kid[i];

		if ((n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS) &&
		    mla_str_eq(n->name, name))
			*out = n;
		if (n->kind == MLA_N_ANN_ASSIGN && n->kid[0]->kind == MLA_N_NAME && mla_kid(n, 2) &&
		    mla_str_eq(n->kid[0]->name, name))
			*out = n->kid[2];
		for (uint32_t k = 0; n->kind == MLA_N_ASSIGN && k + 1 < n->n; k++)
			if (n->kid[k]->kind == MLA_N_NAME && mla_str_eq(n->kid[k]->name, name))
				*out = n->kid[n->n - 1];
		if (n->kind != MLA_N_IF && n->kind != MLA_N_FOR && n->kind != MLA_N_TRY)
			continue;
		for (const mla_node *in = n; in; in = mla_node_next(in, n, false))
			if ((in->kind == MLA_N_FUNCTION || in->kind == MLA_N_NAME) &&
			    mla_str_eq(in->name, name))
				return mla_unsupported(m, "`%.*s` under a test in a class body",
				                       MLA_ARG(name));
	}
	return 0;
}

static int own_attribute(bool *found, mla_value *out, mla_machine *m, mla_replay_class *c,
                         mla_str name)
{
	mla_tensor_scope mark = mla_tensor_scope_open(m->engine);
	mla_environment *e;
	mla_module *module = m->module;
	const mla_node *at = m->at, *n;
	int error;

	*found = mla_dictionary_name(out, &c->attributes, name);
	if (*found)
		return 0;
	if ((error = find_in_body(&n, m, mla_kid(c->node, 1), name)) < 0 || !n)
		return error;
	if ((error = mla_enter(m, at)) < 0)
		return error;
	e = mla_environment_new(m, c->closure, c->module, NULL);
	m->module = c->module;
	m->at = n;
	if (n->kind == MLA_N_FUNCTION)
		error = mla_function_make(out, m, e, c->module, n, c);
	else if (n->kind == MLA_N_CLASS)
		error = mla_class_of(out, m, c->module, n, c->closure);
	else
		error = mla_eval(out, m, e, n);
	mla_leave(m);
	if (error < 0)
		return error;
	m->module = module;
	m->at = at;
	*found = true;
	/* What holds an array of this call dies with it. */
	if (m->run && mla_tensor_scope_open(m->engine) != mark)
		return 0;
	return mla_dictionary_set(m, &c->attributes, mla_value_str(name), *out);
}

int mla_class_attribute_find(bool *found, mla_value *out, mla_machine *m, mla_replay_class *c,
                             uint32_t from, mla_str name, mla_replay_class **owner)
{
	int error = 0;

	*found = false;
	for (uint32_t i = from; i < c->mro_count && error == 0 && !*found; i++) {
		error = own_attribute(found, out, m, c->mro[i], name);
		*owner = c->mro[i];
	}
	return error;
}

/* What an attribute of a class becomes on an instance: functions bind, properties are computed. */
static int bind_to(mla_value *out, mla_machine *m, mla_value v, mla_value self)
{
	mla_bound *b;

	if (v.kind == MLA_V_PROPERTY) {
		if (v.bound->self.kind == MLA_V_STR) { /* staticmethod, classmethod */
			bool class = mla_str_is(v.bound->self.s, "classmethod");

			if (!class || self.kind != MLA_V_INSTANCE) {
				*out = v.bound->callee;
				return class ? mla_unsupported(m, "a class method") : 0;
			}
			self = (mla_value){.kind = MLA_V_CLASS, .class = self.instance->class};
			v = v.bound->callee;
		} else {
			return mla_call_plain(out, m, v.bound->callee, &self, 1);
		}
	}
	if (v.kind != MLA_V_FUNCTION &&
	    !(v.kind == MLA_V_BUILTIN && v.builtin->call == mla_fn_parameter)) {
		*out = v;
		return 0;
	}
	b = mla_machine_alloc(m, 1, sizeof(*b));
	b->callee = v;
	b->self = self;
	*out = (mla_value){.kind = MLA_V_METHOD, .bound = b};
	return 0;
}

static bool is_module_method(mla_str name)
{
	static const char *const names[] = {
		"parameters", "named_parameters", "children",     "modules",   "named_modules",
		"freeze",     "unfreeze",         "update",       "apply",     "eval",
		"train",      "state_dict",       "load_weights", "get",       "items",
		"keys",       "values",           "state",        "set_dtype", "to",
		"buffers",    "register_module",  "add_module",   "half",      "float",
		NULL};

	return mla_str_in(name, names);
}

static int find_on_instance(bool *found, mla_value *out, mla_machine *m, mla_value object,
                            mla_str name)
{
	mla_instance *i = object.instance;
	mla_replay_class *owner;
	mla_value v;
	int error;

	*found = mla_dictionary_name(out, &i->attributes, name);
	if (*found)
		return mla_check_fresh(m, *out);
	if ((error = mla_class_attribute_find(found, &v, m, i->class, 0, name, &owner)) < 0)
		return error;
	if (*found && i->config && v.kind != MLA_V_FUNCTION && v.kind != MLA_V_PROPERTY) {
		if ((error = mla_config_field(out, m, name, NULL, v)) < 0)
			return error;
		return mla_dictionary_set(m, &i->attributes, mla_value_str(name), *out);
	}
	if (*found)
		return bind_to(out, m, v, object);
	if (i->class->module_base &&
	    mla_str_in(name,
	               (const char *const[]){"register_buffer", "register_parameter", NULL})) {
		static const mla_builtin keeps = {"register_buffer", mla_fn_parameter, 1};

		*found = true;
		return bind_to(out, m, (mla_value){.kind = MLA_V_BUILTIN, .builtin = &keeps},
		               object);
	}
	if (mla_str_is(name, "__dict__") || mla_str_is(name, "__class__"))
		return mla_unsupported(m, "`%.*s` of an object", MLA_ARG(name));
	if (i->class->module_base && is_module_method(name))
		return mla_unsupported(m, "`%.*s` of a module", MLA_ARG(name));
	if (i->config && !i->class->is_dataclass) {
		*found = true;
		if ((error = mla_config_field(out, m, name, NULL, (mla_value){0})) < 0)
			return error;
		return mla_dictionary_set(m, &i->attributes, mla_value_str(name), *out);
	}
	if (i->class->foreign.len)
		return mla_unsupported(m, "`%.*s`, which may come from base class `%.*s`",
		                       MLA_ARG(name), MLA_ARG(i->class->foreign));
	if (i->class->module_base && mla_str_is(name, "training")) {
		*found = true;
		*out = mla_value_bool(false);
	}
	return 0;
}

static int find_on_super(bool *found, mla_value *out, mla_machine *m, mla_value object,
                         mla_str name)
{
	mla_replay_class *after = object.bound->callee.class, *owner, *c;
	mla_value self = object.bound->self, v;
	uint32_t at = 0;
	int error;

	if (self.kind != MLA_V_INSTANCE)
		return mla_unsupported(m, "super() of a %s", mla_value_type(self));
	c = self.instance->class;
	while (at < c->mro_count && c->mro[at] != after)
		at++;
	if ((error = mla_class_attribute_find(found, &v, m, c, at + 1, name, &owner)) < 0)
		return error;
	if (*found)
		return bind_to(out, m, v, self);
	if (mla_str_is(name, "__init__") || mla_str_is(name, "__post_init__")) {
		/* The end of the line: a framework's Module, or object. A config class's own base
		 * takes the keywords that are left over and keeps them. */
		if (c->foreign.len && !self.instance->config)
			return mla_unsupported(m, "the constructor of base class `%.*s`",
			                       MLA_ARG(c->foreign));
		*found = true;
		*out = (mla_value){.kind = MLA_V_BUILTIN, .builtin = &mla_support_functions[0]};
		return 0;
	}
	if (c->foreign.len)
		return mla_unsupported(m, "`%.*s` of base class `%.*s`", MLA_ARG(name),
		                       MLA_ARG(c->foreign));
	return 0;
}

static int find_on_class(bool *found, mla_value *out, mla_machine *m, mla_value object,
                         mla_str name)
{
	mla_replay_class *owner;
	int error = mla_class_attribute_find(found, out, m, object.class, 0, name, &owner);

	if (error < 0)
		return error;
	if (*found && out->kind == MLA_V_PROPERTY) {
		if (out->bound->self.kind == MLA_V_STR &&
		    mla_str_is(out->bound->self.s, "staticmethod"))
			*out = out->bound->callee;
		else
			return mla_unsupported(m, "`%.*s` of a class", MLA_ARG(name));
	}
	if (*found)
		return 0;
	if (mla_str_is(name, "__name__")) {
		*found = true;
		*out = mla_value_str(object.class->node->name);
	} else if (object.class->foreign.len || mla_str_is(name, "__init__")) {
		return mla_unsupported(m, "`%.*s` of a class", MLA_ARG(name));
	}
	return 0;
}

static int find_on_module(bool *found, mla_value *out, mla_machine *m, mla_value object,
                          mla_str name)
{
	mla_module *sub;
	int error = mla_global_get(found, out, m, object.module, name);

	if (error < 0 || *found)
		return error;
	sub = mla_project_import(m->options.project, object.module,
	                         mla_machine_format(m, ".%.*s", MLA_ARG(name)));
	*found = sub != NULL;
	*out = (mla_value){.kind = MLA_V_MODULE, .module = sub};
	return 0;
}

static int find_on_function(bool *found, mla_value *out, mla_machine *m, mla_value object,
                            mla_str name)
{
	mla_function *f = object.function;

	*found = f->attributes && mla_dictionary_name(out, f->attributes, name);
	if (!*found && mla_str_is(name, "__name__")) {
		*found = true;
		*out = mla_value_str(f->node->name);
	}
	return *found ? 0 : mla_unsupported(m, "`%.*s` of a function", MLA_ARG(name));
}

int mla_attribute_find(bool *found, mla_value *out, mla_machine *m, mla_value object, mla_str name)
{
	int error;

	*found = false;
	switch (object.kind) {
	case MLA_V_INSTANCE:
		return find_on_instance(found, out, m, object, name);
	case MLA_V_TENSOR:
		return mla_tensor_attribute(found, out, m, object, name);
	case MLA_V_LAYER:
		return mla_layer_attribute(found, out, m, object, name);
	case MLA_V_CACHE:
		return mla_cache_attribute(found, out, m, object.cache, name, false);
	case MLA_V_SUPER:
		return find_on_super(found, out, m, object, name);
	case MLA_V_CLASS:
		return find_on_class(found, out, m, object, name);
	case MLA_V_MODULE:
		return find_on_module(found, out, m, object, name);
	case MLA_V_FUNCTION:
		return find_on_function(found, out, m, object, name);
	case MLA_V_FOREIGN:
		*found = true;
		return mla_foreign(
			out, m,
			mla_machine_format(m, "%.*s.%.*s", MLA_ARG(object.s), MLA_ARG(name)));
	case MLA_V_BUILTIN: /* partial.func and the like are not needed */
	case MLA_V_METHOD:
	case MLA_V_PARTIAL:
	case MLA_V_PROPERTY:
		return mla_unsupported(m, "`%.*s` of a %s", MLA_ARG(name), mla_value_type(object));
	case MLA_V_OPEN:
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(object.s));
	default:
		error = mla_container_method(found, out, m, object, name);
		return error;
	}
}

int mla_attribute_get(mla_value *out, mla_machine *m, mla_value object, mla_str name)
{
	bool found;
	int error;

	if (object.kind == MLA_V_CACHE)
		return mla_cache_attribute(&found, out, m, object.cache, name, true);
	if ((error = mla_attribute_find(&found, out, m, object, name)) < 0 || found)
		return error;
	if (object.kind == MLA_V_INSTANCE)
		return mla_raise(m, "AttributeError", "'%.*s' object has no attribute '%.*s'",
		                 MLA_ARG(object.instance->class->node->name), MLA_ARG(name));
	if (object.kind == MLA_V_TENSOR || object.kind == MLA_V_LAYER)
		return mla_unsupported(m, "`%.*s` of a %s", MLA_ARG(name), mla_value_type(object));
	return mla_raise(m, "AttributeError", "'%s' object has no attribute '%.*s'",
	                 mla_value_type(object), MLA_ARG(name));
}

int mla_attribute_set(mla_machine *m, mla_value object, mla_str name, mla_value v)
{
	mla_replay_class *owner;
	mla_value old;
	bool found;
	int error;

	switch (object.kind) {
	case MLA_V_INSTANCE:
		if ((error = mla_class_attribute_find(&found, &old, m, object.instance->class, 0,
		                                      name, &owner)) < 0)
			return error;
		if (found && old.kind == MLA_V_PROPERTY)
			return mla_unsupported(m, "a store to property `%.*s`", MLA_ARG(name));
		return mla_keep(m, &object.instance->attributes, name, v);
	case MLA_V_CACHE:
		return mla_cache_set(m, object.cache, name, v);
	case MLA_V_LAYER:
		return mla_layer_set(m, object.layer, name, v);
	case MLA_V_FUNCTION:
		if (!object.function->attributes)
			object.function->attributes = mla_dictionary_new(m).dict;
		return mla_keep(m, object.function->attributes, name, v);
	default:
		return mla_unsupported(m, "a store to `%.*s` of a %s", MLA_ARG(name),
		                       mla_value_type(object));
	}
}

int mla_instantiate(mla_value *out, mla_machine *m, mla_replay_class *c, mla_call *call)
{
	mla_value init, ignored;
	bool found;
	int error;

	*out = (mla_value){.kind = MLA_V_INSTANCE,
	                   .instance = mla_machine_alloc(m, 1, sizeof(mla_instance))};
	out->instance->class = c;
	if (c->is_dataclass)
		return mla_dataclass_init(m, out->instance, call);
	if ((error = mla_attribute_find(&found, &init, m, *out, mla_str_c("__init__"))) < 0)
		return error;
	if (found)
		return mla_call_value(&ignored, m, init, call);
	if (call->n || call->keywords)
		return mla_raise(m, "TypeError", "%.*s() takes no arguments",
		                 MLA_ARG(c->node->name));
	return 0;
}

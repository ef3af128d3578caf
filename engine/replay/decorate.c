/* Decorators, and the constructor that @dataclass writes. */
#include "engine/replay/machine.h"

/* A decorator by the dotted name it was imported under. */
static bool leaves_alone(mla_str path)
{
	static const char *const names[] = {"mlx.core.compile",        "mlx.core.custom_function",
	                                    "functools.lru_cache",     "functools.cache",
	                                    "functools.wraps",         "torch.compile",
	                                    "torch.no_grad",           "torch.inference_mode",
	                                    "abc.abstractmethod",      "typing.overload",
	                                    "torch.jit.ignore",        "typing.final",
	                                    "dataclasses.field",       "functools.partial",
	                                    "typing_extensions.final", NULL};

	return mla_str_in(path, names);
}

static int wrap(mla_value *out, mla_machine *m, const char *kind, mla_value v)
{
	mla_bound *b = mla_machine_alloc(m, 1, sizeof(*b));

	b->callee = v;
	b->self = kind ? mla_value_c(kind) : mla_value_none;
	*out = (mla_value){.kind = MLA_V_PROPERTY, .bound = b};
	return 0;
}

static int decorate_one(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n,
                        mla_value v)
{
	mla_value d;
	int error;

	*out = v;
	if (n->kind == MLA_N_NAME) {
		if (mla_str_is(n->name, "property") || mla_str_is(n->name, "cached_property"))
			return wrap(out, m, NULL, v);
		if (mla_str_is(n->name, "staticmethod") || mla_str_is(n->name, "classmethod"))
			return wrap(out, m,
			            mla_str_is(n->name, "staticmethod") ? "staticmethod"
			                                                : "classmethod",
			            v);
	}
	/* @wraps(f), @partial(compile, ...), @dataclass(...): what is called decides. */
	if (n->kind == MLA_N_CALL) {
		if ((error = mla_eval(&d, m, e, n->kid[0])) < 0)
			return error;
		if (d.kind == MLA_V_BUILTIN && mla_str_is(mla_str_c(d.builtin->name), "partial") &&
		    mla_kid(n, 1)) {
			if ((error = mla_eval(&d, m, e, n->kid[1])) < 0)
				return error;
			if (d.kind == MLA_V_FOREIGN && leaves_alone(d.s))
				return 0;
			return mla_unsupported(m, "a decorator made by partial");
		}
	} else if ((error = mla_eval(&d, m, e, n)) < 0) {
		return error;
	}
	if (d.kind == MLA_V_FOREIGN && mla_str_is(d.s, "dataclasses.dataclass")) {
		if (v.kind == MLA_V_CLASS)
			v.class->is_dataclass = true;
		return 0;
	}
	if (d.kind == MLA_V_FOREIGN && leaves_alone(d.s))
		return 0;
	if (d.kind == MLA_V_FOREIGN)
		return mla_unsupported(m, "decorator `%.*s`", MLA_ARG(d.s));
	if (n->kind == MLA_N_CALL && (error = mla_eval(&d, m, e, n)) < 0)
		return error;
	return mla_call_plain(out, m, d, &v, 1);
}

int mla_decorate(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *decorators,
                 mla_value v)
{
	int error = 0;

	*out = v;
	for (uint32_t i = decorators->n; i > 0 && error == 0; i--)
		error = decorate_one(out, m, e, decorators->kid[i - 1], *out);
	return error;
}

/* Fields of a dataclass in the order of its constructor: bases first. */
static int each_field(mla_machine *m, mla_instance *self, mla_call *c)
{
	mla_replay_class *class = self->class;
	uint32_t at = 0;
	int error = 0;

	for (uint32_t i = class->mro_count; i > 0 && error == 0; i--) {
		const mla_node *body = mla_kid(class->mro[i - 1]->node, 1);

		for (uint32_t k = 0; body && k < body->n && error == 0; k++) {
			const mla_node *n = body->kid[k];
			mla_replay_class *owner;
			char name[128];
			mla_value v;
			bool given, found;

			if (n->kind != MLA_N_ANN_ASSIGN || n->kid[0]->kind != MLA_N_NAME)
				continue;
			if (n->kid[0]->name.len >= sizeof(name))
				return mla_limit(m, "a field name of more than %zu bytes",
				                 sizeof(name));
			memcpy(name, n->kid[0]->name.ptr, n->kid[0]->name.len);
			name[n->kid[0]->name.len] = 0;
			given = mla_arg(&v, c, at++, name);
			if (!given && self->config)
				error = mla_class_attribute_find(&found, &v, m, class, 0,
				                                 n->kid[0]->name, &owner);
			if (!given && self->config && error == 0)
				error = mla_config_field(&v, m, n->kid[0]->name, n->kid[1],
				                         found ? v : (mla_value){0});
			else if (!given && error == 0) {
				error = mla_class_attribute_find(&found, &v, m, class, 0,
				                                 n->kid[0]->name, &owner);
				if (error == 0 && !found)
					error = mla_raise(m, "TypeError", "missing argument '%s'",
					                  name);
			}
			if (error == 0)
				error = mla_dictionary_set(m, &self->attributes,
				                           mla_value_str(n->kid[0]->name), v);
		}
	}
	return error;
}

int mla_dataclass_init(mla_machine *m, mla_instance *self, mla_call *call)
{
	mla_value object = {.kind = MLA_V_INSTANCE, .instance = self}, post;
	mla_str name = mla_str_c("__post_init__");
	mla_replay_class *owner;
	bool found;
	int error;

	call->name = "a dataclass";
	if ((error = each_field(m, self, call)) < 0 || (error = mla_call_done(m, call)) < 0)
		return error;
	/* One of a base class that is not there is taken to leave the fields alone, as with
	 * super(). */
	if ((error = mla_class_attribute_find(&found, &post, m, self->class, 0, name, &owner)) < 0)
		return error;
	if (found && (error = mla_attribute_find(&found, &post, m, object, name)) < 0)
		return error;
	return found ? mla_call_plain(&post, m, post, NULL, 0) : 0;
}

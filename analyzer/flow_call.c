/* Calls and attributes: what is called, with what, and whether to go into it. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

const mla_value *mla_arguments_get(const mla_arguments *a, uint32_t position, const char *keyword)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->keyword[i].len ? keyword && mla_str_is(a->keyword[i], keyword)
		                      : i == position)
			return a->v[i];
	return NULL;
}

uint32_t mla_arguments_tags(const mla_arguments *a)
{
	uint32_t tags = 0;

	for (uint32_t i = 0; i < a->n; i++)
		tags |= mla_value_tags(a->v[i]);
	return tags & ~(uint32_t)MLA_TAG_COUNT;
}

static void add(mla_arguments *a, const mla_value *v, const mla_node *n, mla_str keyword)
{
	if (a->n == MLA_ARGUMENTS_MAX) {
		a->open = true;
		return;
	}
	a->v[a->n] = v;
	a->node[a->n] = n;
	a->keyword[a->n++] = keyword;
}

static void collect(mla_arguments *a, mla_flow *f, mla_frame *fr, const mla_node *call,
                    const mla_value *object)
{
	const mla_str none = {"", 0};

	a->n = 0;
	a->open = false;
	if (object)
		add(a, object, call->kid[0]->kid[0], none);
	for (uint32_t i = 1; i < call->n; i++) {
		const mla_node *n = call->kid[i];
		const mla_value *v;

		if (!n)
			continue;
		if (n->kind == MLA_N_KEYWORD) {
			add(a, mla_flow_eval(f, fr, mla_kid(n, 0)), mla_kid(n, 0), n->name);
			continue;
		}
		v = mla_flow_eval(f, fr, n);
		if (n->kind == MLA_N_STAR && v->kind == MLA_V_TUPLE) {
			for (uint32_t k = 0; k < v->n; k++)
				add(a, v->element[k], NULL, none);
			continue;
		}
		a->open |= n->kind == MLA_N_STAR || n->kind == MLA_N_STAR_STAR;
		add(a, v, n, none);
	}
}

static const mla_value *bound_method(mla_flow *f, mla_method m)
{
	mla_value *v = mla_value_new(f, MLA_V_FUNCTION, 0);

	v->function = m.node;
	v->module = m.owner.module;
	v->bound = !mla_method_is(m.node, "staticmethod");
	return v;
}

static const mla_value *call_function(mla_flow *f, mla_frame *fr, const mla_value *function,
                                      const mla_arguments *a);

/* Read like an attribute, run like a method. */
static bool is_computed(const mla_node *method)
{
	return mla_method_is(method, "property") || mla_method_is(method, "cached_property");
}

static const mla_value *self_attribute(mla_flow *f, mla_frame *fr, mla_str name)
{
	const mla_value *stored = mla_env_get(f->attributes, name);
	mla_method m;
	mla_value *v;
	mla_up_role role;

	if (stored)
		return stored;
	if (f->latent ? mla_latent_up(&role, f->latent, name) : false) {
		v = mla_value_new(f, MLA_V_UP, 0);
		v->role = role;
		return v;
	}
	m = mla_lineage_method(&f->lineage, name);
	if (m.node && is_computed(m.node))
		return call_function(f, fr, bound_method(f, m), &(const mla_arguments){.n = 0});
	if (m.node)
		return bound_method(f, m);
	/* The class, a base of it or its constructor is not here: the name is all there is. */
	if ((!f->latent || f->lineage.open || !f->constructors.n) && mla_up_by_name(&role, name)) {
		v = mla_value_new(f, MLA_V_UP, 0);
		v->role = role;
		return v;
	}
	return mla_flow_setting(f, name);
}

const mla_value *mla_flow_attribute(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *object = mla_flow_eval(f, fr, n->kid[0]), *constant;
	mla_value *v;

	if (object->kind == MLA_V_SELF && mla_str_is(n->name, "__class__"))
		return object;
	if (object->kind == MLA_V_SELF)
		return self_attribute(f, fr, n->name);
	if (n->kid[0]->kind == MLA_N_NAME && !mla_env_get(fr->env, n->kid[0]->name) &&
	    (constant = mla_flow_class_constant(f, fr, n)))
		return constant;
	if (object->kind == MLA_V_UP)
		return object;
	mla_flow_array_use(f, object, n); /* mask.shape, mask.dtype */
	if (mla_str_is(n->name, "shape")) {
		v = mla_value_new(f, MLA_V_SHAPE, mla_value_tags(object));
		v->rank = object->rank;
		v->heads_last = object->heads_last;
		return v;
	}
	if (mla_str_is(n->name, "dtype") || mla_str_is(n->name, "ndim") ||
	    mla_str_is(n->name, "size"))
		return mla_value_any(f, 0);
	if (mla_value_tags(object) & MLA_TAG_CACHE) {
		if (mla_str_mentions(n->name, "keys") || mla_str_mentions(n->name, "values") ||
		    mla_str_mentions(n->name, "latent"))
			return mla_value_any(f, MLA_TAG_INPUT | MLA_TAG_CACHED);
		return mla_value_any(f, MLA_TAG_LENGTH);
	}
	if ((object->tags & MLA_TAG_MADE_OF) && mla_flow_is_size(f, n->name))
		return mla_value_any(f, MLA_TAG_SIZE);
	return mla_value_any(f, mla_value_tags(object));
}

static bool attention_name(mla_str name)
{
	return mla_str_mentions(name, "attention") || mla_str_mentions(name, "attend") ||
	       mla_str_mentions(name, "sdpa") || mla_str_mentions(name, "attn");
}

/* Does it get a query and the cached keys in different arguments? */
static bool looks_like_attention(const mla_arguments *a)
{
	bool query = false, keys = false;

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t tags = mla_value_tags(a->v[i]);

		if (tags & (MLA_TAG_CACHED | MLA_TAG_EXPANDED))
			keys = true;
		else if ((tags & MLA_TAG_INPUT) && !(tags & (MLA_TAG_SCORES | MLA_TAG_ATTENDED)))
			query = true;
	}
	return query && keys;
}

static bool is_false(const mla_node *n)
{
	return n && n->kind == MLA_N_FALSE;
}

/* self.embed_q(x), self.embed_q(x, transpose=False) */
static const mla_value *call_up(mla_flow *f, mla_frame *fr, const mla_node *n, const mla_value *up,
                                const mla_arguments *a)
{
	bool transposed = true;

	if (!a->n)
		return mla_value_any(f, 0);
	for (uint32_t i = 1; i < a->n; i++)
		if (is_false(a->node[i]) &&
		    (!a->keyword[i].len || mla_str_is(a->keyword[i], "transpose")))
			transposed = false;
	return mla_flow_apply(f, fr, n, up, a->v[0], a->node[0], true, transposed);
}

static const mla_value *default_value(mla_flow *f, const mla_value *function, const mla_node *p)
{
	mla_frame fr = {.function = function->function,
	                .module = function->module,
	                .env = mla_env_new(f, NULL)};
	const mla_node *value = mla_kid(p, 1);

	if (p->op == MLA_OP_STAR || p->op == MLA_OP_POWER || !value)
		return mla_value_any(f, 0);
	return mla_flow_eval(f, &fr, value);
}

static const mla_value *call_function(mla_flow *f, mla_frame *fr, const mla_value *function,
                                      const mla_arguments *a)
{
	mla_env *env = mla_env_new(f, function->closure);
	const mla_node *list = mla_kid(function->function, 0);
	uint32_t position = 0;

	for (uint32_t i = 0; list && i < list->n; i++) {
		const mla_node *p = list->kid[i];
		const mla_value *v = NULL;
		char keyword[64];

		if (!p->name.len)
			continue; /* a bare * or / */
		if (i == 0 && function->bound) {
			bool of_class = mla_method_is(function->function, "classmethod");

			mla_env_set(f, env, p->name,
			            mla_value_new(f, of_class ? MLA_V_ANY : MLA_V_SELF, 0));
			continue;
		}
		if (p->name.len < sizeof(keyword)) {
			memcpy(keyword, p->name.ptr, p->name.len);
			keyword[p->name.len] = '\0';
			v = mla_arguments_get(a, p->op ? UINT32_MAX : position, keyword);
		}
		position += !p->op;
		mla_env_set(f, env, p->name, v ? v : default_value(f, function, p));
	}
	return mla_flow_run(f, fr, function, env);
}

/* One of two functions, as a test says: each is run in its arm. */
static const mla_value *call_chosen(mla_flow *f, mla_frame *fr, const mla_value *v,
                                    const mla_arguments *a)
{
	const mla_value *out[2];

	if (v->kind == MLA_V_FUNCTION)
		return call_function(f, fr, v, a);
	if (v->kind != MLA_V_CHOICE) /* choices are not nested deep */
		return mla_value_any(f, mla_arguments_tags(a));
	for (int i = 0; i < 2; i++) {
		uint32_t mark = mla_flow_push(f, v->test, i == 0);

		out[i] = call_chosen(f, fr, v->element[i], a);
		mla_flow_pop(f, mark);
	}
	return mla_value_join(f, out[0], out[1]);
}

static bool is_callable(const mla_value *v)
{
	return v->kind == MLA_V_FUNCTION ||
	       (v->kind == MLA_V_CHOICE && v->element[0]->kind == MLA_V_FUNCTION);
}

/* An outcome that is handed to something that cannot be looked into. */
static void other_uses(const mla_arguments *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->node[i])
			mla_flow_other_use(a->v[i], a->node[i]);
}

/* A layer or function nobody can look into: its result derives from its arguments. */
static const mla_value *opaque(mla_flow *f, mla_str name, const mla_arguments *a)
{
	uint32_t tags = mla_arguments_tags(a);
	mla_value *v;

	other_uses(a);
	if (mla_str_mentions(name, "indexer") || mla_str_mentions(name, "topk") ||
	    mla_str_mentions(name, "top_k"))
		tags = MLA_TAG_CHOSEN;
	v = mla_value_new(f, MLA_V_ANY, tags & ~(uint32_t)MLA_TAG_CACHE);
	if (a->n) {
		v->rank = a->v[0]->rank;
		v->heads_last = a->v[0]->heads_last;
	}
	return v;
}

/* Of the language itself: what matters is only that they are no layers. */
static const mla_value *builtin(mla_flow *f, mla_str name, const mla_arguments *a)
{
	static const char *const numbers[] = {"len", "range", "min", "max", "abs", "round", NULL};
	static const char *const same[] = {"tuple", "list", "int", "bool", "iter", "next", NULL};
	static const char *const nothing[] = {"isinstance", "hasattr",  "print", "super",
	                                      "type",       "callable", NULL};

	if (mla_str_in(name, numbers))
		return mla_value_new(f, MLA_V_INT, mla_arguments_tags(a) & MLA_TAG_MADE_OF);
	if (mla_str_in(name, same) && a->n == 1)
		return a->v[0];
	if ((mla_str_is(name, "all") || mla_str_is(name, "any")) && a->n == 1 &&
	    a->v[0]->kind == MLA_V_TUPLE && a->v[0]->n) {
		const mla_value *all = a->v[0]->element[0];

		for (uint32_t i = 1; i < a->v[0]->n; i++)
			all = mla_flow_both(f, all, a->v[0]->element[i]);
		return all;
	}
	if (mla_str_is(name, "type") && a->n == 1 && a->v[0]->kind == MLA_V_SELF)
		return a->v[0]; /* as far as attributes go */
	if (mla_str_in(name, nothing))
		return mla_value_any(f, 0);
	return NULL;
}

/* A function of the project or of a library, by the name it has there. */
static const mla_value *call_symbol(mla_flow *f, mla_frame *fr, const mla_node *n,
                                    const mla_arguments *a)
{
	mla_str name = n->kid[0]->name;
	const mla_value *v;
	mla_symbol s;

	/* Before its module is even read: what it does is clear. */
	if (attention_name(name) && looks_like_attention(a))
		return mla_flow_attend(f, n, a, false);
	s = mla_project_resolve_node(f->project, fr->module, n->kid[0]);
	if (s.node && s.node->kind == MLA_N_CLASS)
		return mla_value_any(f, 0);
	if (s.node && s.node->kind == MLA_N_FUNCTION) {
		mla_value *function = mla_value_new(f, MLA_V_FUNCTION, 0);

		function->function = s.node;
		function->module = s.module;
		return call_function(f, fr, function, a);
	}
	if ((v = mla_flow_known(f, fr, n, name, a)))
		return v;
	if (looks_like_attention(a))
		return mla_flow_attend(f, n, a, true);
	return opaque(f, name, a);
}

/* `mx.fast.f`, `F.softmax`: an attribute of a name that is imported, not computed. */
static bool is_library(mla_frame *fr, const mla_node *n)
{
	while (n->kind == MLA_N_ATTRIBUTE)
		n = n->kid[0];
	return n->kind == MLA_N_NAME && !mla_env_get(fr->env, n->name) &&
	       mla_module_alias(fr->module, n->name);
}

static const mla_value *call_library(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_node *callee = n->kid[0];
	mla_arguments a;
	const mla_value *v;

	collect(&a, f, fr, n, NULL);
	if ((v = mla_flow_known(f, fr, n, callee->name, &a)))
		return v;
	return call_symbol(f, fr, n, &a);
}

static const mla_value *call_method(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_node *callee = n->kid[0];
	const mla_value *object = mla_flow_eval(f, fr, callee->kid[0]), *v;
	mla_arguments a;

	if (object->kind == MLA_V_SELF) {
		const mla_value *target = self_attribute(f, fr, callee->name);

		collect(&a, f, fr, n, NULL);
		if (target->kind == MLA_V_UP)
			return call_up(f, fr, n, target, &a);
		if (target->kind == MLA_V_FUNCTION)
			return call_function(f, fr, target, &a);
		if (attention_name(callee->name) && looks_like_attention(&a))
			return mla_flow_attend(f, n, &a, false);
		return opaque(f, callee->name, &a);
	}
	if (object->kind == MLA_V_UP) {
		collect(&a, f, fr, n, NULL);
		return object;
	}
	if (mla_value_tags(object) & MLA_TAG_CACHE) {
		collect(&a, f, fr, n, NULL);
		/* A cache that attends by itself: cache.decode_attention(q). */
		if (attention_name(callee->name) && a.n)
			return mla_flow_attend(f, n, &a, true);
		return mla_flow_cache_update(f, n, &a);
	}
	collect(&a, f, fr, n, object);
	if ((v = mla_flow_known(f, fr, n, callee->name, &a)))
		return v;
	return opaque(f, callee->name, &a);
}

/* getattr(self, "x") is self.x */
static const mla_value *call_getattr(mla_flow *f, mla_frame *fr, const mla_arguments *a)
{
	mla_str text;

	if (a->n < 2 || a->v[0]->kind != MLA_V_SELF || !a->node[1] ||
	    a->node[1]->kind != MLA_N_STRING)
		return mla_value_any(f, 0);
	text = mla_node_text(fr->module->text, a->node[1]);
	if (text.len < 3)
		return mla_value_any(f, 0);
	return self_attribute(f, fr, (mla_str){text.ptr + 1, text.len - 2});
}

static const mla_value *call_name(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_node *callee = n->kid[0];
	const mla_value *v = mla_env_get(fr->env, callee->name);
	mla_arguments a;

	collect(&a, f, fr, n, NULL);
	if (v && is_callable(v))
		return call_chosen(f, fr, v, &a);
	if (v && v->kind == MLA_V_UP)
		return call_up(f, fr, n, v, &a);
	if (v)
		return looks_like_attention(&a) ? mla_flow_attend(f, n, &a, true)
		                                : opaque(f, callee->name, &a);
	if (mla_str_is(callee->name, "getattr"))
		return call_getattr(f, fr, &a);
	if ((v = builtin(f, callee->name, &a)))
		return v;
	return call_symbol(f, fr, n, &a);
}

const mla_value *mla_flow_call(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_node *callee = n->kid[0];
	const mla_value *target;
	mla_arguments a;

	if (!callee)
		return mla_value_any(f, 0);
	if (callee->kind == MLA_N_NAME)
		return call_name(f, fr, n);
	if (callee->kind == MLA_N_ATTRIBUTE)
		return is_library(fr, callee) ? call_library(f, fr, n) : call_method(f, fr, n);
	target = mla_flow_eval(f, fr, callee);
	collect(&a, f, fr, n, NULL);
	if (is_callable(target))
		return call_chosen(f, fr, target, &a);
	if (target->kind == MLA_V_UP)
		return call_up(f, fr, n, target, &a);
	return opaque(f, (mla_str){"", 0}, &a);
}

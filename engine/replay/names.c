/* Names: locals of functions, what they close over, module-level names, imports. */
#include "engine/replay/machine.h"

mla_environment *mla_environment_new(mla_machine *m, mla_environment *parent, mla_module *module,
                                     const mla_function *f)
{
	mla_environment *e = mla_machine_alloc(m, 1, sizeof(*e));

	e->parent = parent;
	e->module = module;
	e->function = f;
	return e;
}

static uint32_t slot_of(const mla_environment *e, mla_str name)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (mla_str_eq(e->name[i], name))
			return i;
	return e->n;
}

void mla_environment_bind(mla_machine *m, mla_environment *e, mla_str name, mla_value v)
{
	uint32_t at = slot_of(e, name);

	if (at == e->cap) {
		uint32_t cap = e->cap ? 2 * e->cap : 8;
		mla_str *names = mla_machine_alloc(m, cap, sizeof(*names));
		mla_value *values = mla_machine_alloc(m, cap, sizeof(*values));
		uint8_t *outer = mla_machine_alloc(m, cap, sizeof(*outer));

		if (e->n) {
			memcpy(names, e->name, e->n * sizeof(*names));
			memcpy(values, e->value, e->n * sizeof(*values));
			memcpy(outer, e->outer, e->n * sizeof(*outer));
		}
		e->name = names;
		e->value = values;
		e->outer = outer;
		e->cap = cap;
	}
	if (at == e->n)
		e->n++;
	e->name[at] = name;
	e->value[at] = v;
}

typedef struct {
	mla_str *name;
	uint8_t *outer;
	uint32_t n;
} name_list;

static void add_name(name_list *l, mla_str name, uint8_t outer)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (mla_str_eq(l->name[i], name)) {
			l->outer[i] |= outer;
			return;
		}
	if (l->n < MLA_REPLAY_NAMES && name.len) {
		l->outer[l->n] = outer;
		l->name[l->n++] = name;
	}
}

/* NAMEs in a target, but not those in its subscripts and objects. */
static void add_target(name_list *l, const mla_node *target)
{
	for (const mla_node *n = target; n;) {
		bool inside = n->kind == MLA_N_SUBSCRIPT || n->kind == MLA_N_ATTRIBUTE;

		if (n->kind == MLA_N_NAME)
			add_name(l, n->name, 0);
		n = mla_node_next(n, target, inside);
	}
}

static mla_str first_part(mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '.')
			s.len = i;
	return s;
}

static void add_bound(name_list *l, const mla_node *n, const mla_text *text)
{
	switch (n->kind) {
	case MLA_N_ASSIGN:
		for (uint32_t i = 0; i + 1 < n->n; i++)
			add_target(l, n->kid[i]);
		break;
	case MLA_N_ANN_ASSIGN:
	case MLA_N_AUG_ASSIGN:
	case MLA_N_FOR:
	case MLA_N_WALRUS:
		add_target(l, n->kid[0]);
		break;
	case MLA_N_WITH_ITEM:
		if (mla_kid(n, 1))
			add_target(l, n->kid[1]);
		break;
	case MLA_N_HANDLER:
	case MLA_N_FUNCTION:
	case MLA_N_CLASS:
		add_name(l, n->name, 0);
		break;
	case MLA_N_CASE:
		for (const mla_node *p = n->kid[0]; p; p = mla_node_next(p, n->kid[0], false))
			if (p->kind == MLA_N_NAME)
				add_name(l, p->name, 0);
		break;
	case MLA_N_IMPORT:
	case MLA_N_IMPORT_FROM:
		for (uint32_t i = 0; i < n->n; i++) {
			const mla_node *as = mla_kid(n->kid[i], 0);

			add_name(l, as ? as->name : first_part(n->kid[i]->name), 0);
		}
		break;
	case MLA_N_GLOBAL: {
		mla_str word = mla_node_text(text, n);

		for (uint32_t i = 0; i < n->n; i++)
			add_name(l, n->kid[i]->name, mla_str_starts(word, "nonlocal") ? 1 : 2);
		break;
	}
	default:
		break;
	}
}

const mla_locals *mla_locals_of(mla_machine *m, const mla_node *function)
{
	mla_str name[MLA_REPLAY_NAMES];
	uint8_t outer[MLA_REPLAY_NAMES];
	name_list l = {name, outer, 0};
	const mla_node *body = function->kid[1];
	mla_locals made;

	for (uint32_t i = 0; i < m->locals.n; i++)
		if (m->locals.v[i].node == function)
			return &m->locals.v[i];
	for (const mla_node *n = body; n && function->kind == MLA_N_FUNCTION;) {
		bool skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS ||
		            n->kind == MLA_N_LAMBDA;

		add_bound(&l, n, m->module->text);
		n = mla_node_next(n, body, skip);
	}
	made = (mla_locals){.node = function, .n = l.n};
	made.name = mla_machine_alloc(m, l.n, sizeof(*made.name));
	made.outer = mla_machine_alloc(m, l.n, sizeof(*made.outer));
	if (l.n) {
		memcpy(made.name, name, l.n * sizeof(*name));
		memcpy(made.outer, outer, l.n * sizeof(*outer));
	}
	mla_vec_push(&m->locals, made);
	return &m->locals.v[m->locals.n - 1];
}

void mla_outdate(mla_machine *m, mla_value old)
{
	mla_vec_push(&m->stale, old.t);
}

int mla_check_fresh(mla_machine *m, mla_value v)
{
	for (uint32_t i = 0; v.kind == MLA_V_TENSOR && i < m->stale.n; i++)
		if (m->stale.v[i] == v.t)
			return mla_unsupported(m, "an array that was changed in place elsewhere");
	return 0;
}

int mla_name_get(mla_value *out, mla_machine *m, mla_environment *e, mla_str name)
{
	mla_module *module = e->module;
	bool found;
	int error;

	for (mla_environment *at = e; at; at = at->parent) {
		uint32_t i = slot_of(at, name);

		if (i == at->n || at->outer[i] == 1)
			continue;
		if (at->outer[i] == 2)
			break;
		if (at->value[i].kind == MLA_V_UNBOUND)
			return mla_raise(m, at == e ? "UnboundLocalError" : "NameError",
			                 "'%.*s' has no value here", MLA_ARG(name));
		*out = at->value[i];
		return mla_check_fresh(m, *out);
	}
	if ((error = mla_global_get(&found, out, m, module, name)) < 0 || found)
		return error;
	if (mla_python_builtin(out, name))
		return 0;
	for (uint32_t i = 0; i < module->binding_count; i++)
		if (module->bindings[i].node->kind == MLA_N_ALIAS &&
		    mla_str_is(module->bindings[i].node->name, "*"))
			return mla_unsupported(m, "name `%.*s`, perhaps from a star import",
			                       MLA_ARG(name));
	return mla_raise(m, "NameError", "name '%.*s' is not defined", MLA_ARG(name));
}

int mla_name_set(mla_machine *m, mla_environment *e, mla_str name, mla_value v)
{
	for (mla_environment *at = e; at; at = at->parent) {
		uint32_t i = slot_of(at, name);

		if (i == at->n) {
			if (at == e)
				break;
			continue;
		}
		if (at->outer[i] == 2)
			return mla_unsupported(m, "assignment to global `%.*s`", MLA_ARG(name));
		if (at->outer[i] == 1)
			continue;
		at->value[i] = v;
		return 0;
	}
	mla_environment_bind(m, e, name, v);
	return 0;
}

/* What `from spec import name` brings into `module`. */
static int import_name(mla_value *out, mla_machine *m, mla_module *module, mla_str spec,
                       mla_str name)
{
	mla_module *source = mla_project_import(m->options.project, module, spec);
	bool found = false, dots = spec.len && spec.ptr[spec.len - 1] == '.';
	mla_str path =
		mla_machine_format(m, "%.*s%s%.*s", MLA_ARG(spec), dots ? "" : ".", MLA_ARG(name));
	int error;

	if (source && source != module) {
		if ((error = mla_global_get(&found, out, m, source, name)) < 0 || found)
			return error;
	}
	source = mla_project_import(m->options.project, module, path);
	if (source) {
		*out = (mla_value){.kind = MLA_V_MODULE, .module = source};
		return 0;
	}
	return mla_foreign(out, m, path);
}

static int import_module(mla_value *out, mla_machine *m, mla_module *module, mla_str path)
{
	mla_module *source = mla_project_import(m->options.project, module, path);

	if (source) {
		*out = (mla_value){.kind = MLA_V_MODULE, .module = source};
		return 0;
	}
	return mla_foreign(out, m, path);
}

static int import_alias(mla_value *out, mla_machine *m, mla_module *module, const mla_node *alias)
{
	if (alias->parent->kind == MLA_N_IMPORT_FROM)
		return import_name(out, m, module, alias->parent->name, alias->name);
	return import_module(out, m, module,
	                     mla_kid(alias, 0) ? alias->name : first_part(alias->name));
}

int mla_import(mla_machine *m, mla_environment *e, const mla_node *statement)
{
	int error = 0;

	for (uint32_t i = 0; i < statement->n && error == 0; i++) {
		const mla_node *alias = statement->kid[i], *as = mla_kid(alias, 0);
		mla_value v;

		if (mla_str_is(alias->name, "*"))
			return mla_unsupported(m, "a star import inside a function");
		if ((error = import_alias(&v, m, e->module, alias)) == 0)
			error = mla_name_set(m, e, as ? as->name : first_part(alias->name), v);
	}
	return error;
}

/* Is it a statement of the module itself, not of an `if` or `try` in it? */
static bool at_top(const mla_node *bound)
{
	const mla_node *s = mla_node_statement(bound);

	return s && s->parent && s->parent->kind == MLA_N_MODULE;
}

/*
 * The binding that counts. Several of one name are fine when all stand at the top, where the last
 * one wins; in `try: import a / except: a = None` the first counts where it can be had.
 */
static int choose_binding(const mla_node **out, mla_machine *m, mla_module *module, mla_str name)
{
	const mla_node *first = NULL, *last = NULL;
	bool nested = false;

	for (uint32_t i = 0; i < module->binding_count; i++) {
		const mla_binding *b = &module->bindings[i];

		if (!mla_str_eq(b->name, name))
			continue;
		nested |= !at_top(b->node);
		if (!first)
			first = b->node;
		last = b->node;
	}
	*out = last;
	if (!first || first == last || !nested)
		return 0;
	if (first->kind == MLA_N_ALIAS) {
		const mla_node *s = mla_node_statement(first);

		if (s->parent->parent && s->parent->parent->kind == MLA_N_TRY) {
			*out = first;
			return 0;
		}
	}
	return mla_unsupported(m, "`%.*s` is bound several times at module level", MLA_ARG(name));
}

static int make_global(mla_value *out, mla_machine *m, mla_module *module, const mla_node *n)
{
	mla_environment *e;
	int error;

	if (n->kind == MLA_N_ALIAS)
		return import_alias(out, m, module, n);
	if (n->kind == MLA_N_CLASS)
		return mla_class_of(out, m, module, n, NULL);
	e = mla_environment_new(m, NULL, module, NULL);
	if (n->kind == MLA_N_FUNCTION)
		return mla_function_make(out, m, e, module, n, NULL);
	if ((error = mla_eval(out, m, e, n)) < 0)
		return error;
	return 0;
}

static int star_import(bool *found, mla_value *out, mla_machine *m, mla_module *module,
                       mla_str name)
{
	int error = 0;

	for (uint32_t i = 0; i < module->binding_count && error == 0 && !*found; i++) {
		const mla_node *alias = module->bindings[i].node;
		mla_module *source;

		if (alias->kind != MLA_N_ALIAS || !mla_str_is(alias->name, "*"))
			continue;
		source = mla_project_import(m->options.project, module, alias->parent->name);
		if (source && source != module)
			error = mla_global_get(found, out, m, source, name);
	}
	return error;
}

int mla_global_get(bool *found, mla_value *out, mla_machine *m, mla_module *module, mla_str name)
{
	mla_tensor_scope mark = mla_tensor_scope_open(m->engine);
	mla_module *where = m->module;
	const mla_node *n, *at = m->at;
	mla_value v;
	uint32_t slot;
	int error;

	*found = false;
	for (uint32_t i = 0; i < m->globals.n; i++) {
		mla_global *g = &m->globals.v[i];

		if (g->module != module || !mla_str_eq(g->name, name))
			continue;
		if (!g->ready)
			return mla_unsupported(m, "`%.*s` is defined by itself (an import cycle)",
			                       MLA_ARG(name));
		*out = g->value;
		*found = g->value.kind != MLA_V_UNBOUND;
		return 0;
	}
	slot = m->globals.n;
	if (slot >= MLA_REPLAY_LENGTH / 4)
		return mla_limit(m, "too many module-level names");
	mla_vec_push(&m->globals, ((mla_global){.module = module, .name = name}));
	if ((error = choose_binding(&n, m, module, name)) < 0 || (error = mla_enter(m, at)) < 0)
		return error;
	v = (mla_value){0};
	if (n) {
		m->module = module;
		m->at = n;
		error = make_global(&v, m, module, n);
		*found = true;
	} else {
		error = star_import(found, &v, m, module, name);
	}
	mla_leave(m);
	if (error < 0)
		return error;
	m->module = where;
	m->at = at;
	m->globals.v[slot].value = v;
	m->globals.v[slot].ready = true;
	/* What holds an array of this call dies with it. */
	if (m->run && mla_tensor_scope_open(m->engine) != mark)
		m->globals.v[slot].module = NULL;
	if (*found)
		*out = v;
	return 0;
}

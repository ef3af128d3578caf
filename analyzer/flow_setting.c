/*
 * Numbers of the layer: what the constructors or the class body leave on self, and what these
 * numbers are made of. Only expressions are read; nothing is followed into functions.
 */
#include "analyzer/flow.h"

#include "analyzer/str.h"

/* Deep enough for an attribute made of locals made of attributes; the steps keep a constructor that
 * is written to double the work cheap. */
enum { MAX_DEPTH = 8, MAX_STEPS = 2000 };

typedef struct {
	const mla_flow *f;
	mla_module *module;
	const mla_node *init; /* NULL: a class body */
	uint32_t steps;
	uint32_t tags;
} walk;

static bool is_called(mla_str name, const mla_size *s)
{
	const mla_node *e = s->expr;

	if (s->attribute.len && mla_str_eq(name, s->attribute))
		return true;
	return e && (e->kind == MLA_N_ATTRIBUTE || e->kind == MLA_N_NAME) &&
	       mla_str_eq(name, e->name);
}

bool mla_flow_is_size(const mla_flow *f, mla_str name)
{
	static const char *const usual[] = {"kv_lora_rank", "qk_nope_head_dim", "v_head_dim", NULL};
	const mla_latent *l = f->latent;

	if (l &&
	    (is_called(name, &l->rank) || is_called(name, &l->nope) || is_called(name, &l->value)))
		return true;
	return mla_str_in(name, usual);
}

static void walk_expression(walk *w, const mla_node *e, int depth);

/* Does the target hold this local, or this attribute of self? */
static bool is_target(const mla_node *target, mla_str self, mla_str name)
{
	for (const mla_node *n = target; n; n = mla_node_next(n, target, false)) {
		if (!self.len && n->kind == MLA_N_NAME && mla_str_eq(n->name, name))
			return true;
		if (self.len && n->kind == MLA_N_ATTRIBUTE && mla_str_eq(n->name, name) &&
		    mla_str_eq(n->kid[0]->name, self))
			return true;
	}
	return false;
}

/* Everything that the constructor assigns to `name`: to a local, or with `self` to an attribute. */
static bool walk_assigned(walk *w, mla_str self, mla_str name, int depth)
{
	const mla_node *body = mla_kid(w->init, 1);
	bool found = false;

	for (const mla_node *n = body; n; n = mla_node_next(n, body, n->kind == MLA_N_FUNCTION)) {
		bool assigns = n->kind == MLA_N_ASSIGN || n->kind == MLA_N_AUG_ASSIGN ||
		               (n->kind == MLA_N_ANN_ASSIGN && mla_kid(n, 2));

		for (uint32_t i = 0; assigns && i + 1 < n->n; i++)
			if (n->kid[i] && is_target(n->kid[i], self, name)) {
				walk_expression(w, n->kid[n->n - 1], depth);
				found = true;
				break;
			}
	}
	return found;
}

static bool walk_attribute(walk *w, mla_str name, int depth)
{
	const walk outer = *w;
	bool found = false;

	for (uint32_t i = 0; i < w->f->constructors.n && !found; i++) {
		w->module = w->f->constructors.v[i].owner.module;
		w->init = w->f->constructors.v[i].node;
		found = walk_assigned(w, mla_method_self(w->init), name, depth);
	}
	w->module = outer.module;
	w->init = outer.init;
	return found;
}

static void walk_name(walk *w, const mla_node *n, int depth)
{
	if (n->parent && n->parent->kind == MLA_N_CALL && n->index == 0)
		return;
	if (mla_flow_is_size(w->f, n->name))
		w->tags |= MLA_TAG_SIZE;
	else if (w->init && walk_assigned(w, (mla_str){"", 0}, n->name, depth))
		return;
	else if (w->init && mla_parameter(w->init, n->name))
		w->tags |= MLA_TAG_QUANTITY;
}

/* Flat: only what is assigned to a name elsewhere is another level. */
static void walk_expression(walk *w, const mla_node *e, int depth)
{
	mla_str self = w->init ? mla_method_self(w->init) : (mla_str){"", 0};
	bool skip = false;

	for (const mla_node *n = e; n && depth > 0; n = mla_node_next(n, e, skip)) {
		bool callee = n->parent && n->parent->kind == MLA_N_CALL && n->index == 0;

		if (w->steps++ > MAX_STEPS)
			return;
		skip = false;
		if (n->kind == MLA_N_NAME)
			walk_name(w, n, depth - 1);
		if (n->kind != MLA_N_ATTRIBUTE || callee)
			continue;
		skip = true;
		if (mla_flow_is_size(w->f, n->name))
			w->tags |= MLA_TAG_SIZE;
		else if (!self.len || !mla_str_eq(n->kid[0]->name, self))
			w->tags |= MLA_TAG_QUANTITY;
		else
			walk_attribute(w, n->name, depth - 1);
	}
}

/* SHORT = 4 in the body of the class or of a base. */
static const mla_node *class_constant(const mla_lineage *lineage, mla_str name, mla_module **module)
{
	for (uint32_t i = 0; i < lineage->n; i++) {
		const mla_node *body = mla_kid(lineage->v[i].node, 1);

		for (uint32_t k = 0; body && k < body->n; k++) {
			const mla_node *n = body->kid[k];

			if ((n->kind != MLA_N_ASSIGN && n->kind != MLA_N_ANN_ASSIGN) ||
			    !is_target(n->kid[0], (mla_str){"", 0}, name))
				continue;
			*module = lineage->v[i].module;
			return n->kind == MLA_N_ASSIGN ? n->kid[n->n - 1] : mla_kid(n, 2);
		}
	}
	return NULL;
}

/* The value of an expression in a class body or a constructor, when it is a number. */
static void take_number(mla_value *v, const mla_scope *scope, const mla_node *value)
{
	mla_number known = mla_evaluate(scope, value);

	if (known.known != MLA_IS_INT)
		return;
	v->kind = MLA_V_INT;
	v->number_known = true;
	v->number = known.value;
}

const mla_value *mla_flow_class_constant(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_symbol s = mla_project_resolve_node(f->project, fr->module, n->kid[0]);
	mla_scope scope = {.project = f->project};
	mla_lineage lineage;
	const mla_node *value;
	mla_value *v;

	if (!s.node || s.node->kind != MLA_N_CLASS)
		return NULL;
	mla_class_lineage(&lineage, f->project, (mla_class){s.module, s.node});
	if (!(value = class_constant(&lineage, n->name, &scope.module)))
		return NULL;
	v = mla_value_new(f, MLA_V_ANY, 0);
	take_number(v, &scope, value);
	if (v->number_known)
		return v;
	/* A member of an enumeration, or another name for a string: it is what it is called. */
	return value->kind == MLA_N_STRING || value->kind == MLA_N_CALL
	               ? mla_value_constant(f, mla_node_text(fr->module->text, n))
	               : NULL;
}

/* Is the attribute an array, by register_buffer() or by what the constructor assigns? */
static bool is_array(const mla_flow *f, mla_str name, const mla_node *value)
{
	static const char *const makers[] = {"zeros", "empty", "full", "ones", NULL};

	if (value && value->kind == MLA_N_CALL && mla_str_in(value->kid[0]->name, makers))
		return true;
	for (uint32_t i = 0; i < f->constructors.n; i++) {
		const mla_node *init = f->constructors.v[i].node;

		for (const mla_node *n = init; n; n = mla_node_next(n, init, false)) {
			mla_str text;

			if (n->kind != MLA_N_CALL ||
			    !mla_str_is(n->kid[0]->name, "register_buffer") || n->n < 2 ||
			    n->kid[1]->kind != MLA_N_STRING)
				continue;
			text = mla_node_text(f->constructors.v[i].owner.module->text, n->kid[1]);
			if (text.len == name.len + 2 &&
			    memcmp(text.ptr + 1, name.ptr, name.len) == 0)
				return true;
		}
	}
	return false;
}

static mla_value *read(mla_flow *f, mla_str name)
{
	walk w = {.f = f};
	mla_scope scope = {.project = f->project, .constructors = &f->constructors};
	mla_value *v = mla_value_new(f, MLA_V_ANY, 0);
	const mla_node *value = NULL;
	mla_attribute a;

	if (mla_flow_is_size(f, name)) {
		v->tags = MLA_TAG_SIZE;
		return v;
	}
	if (mla_class_attribute(&a, &f->constructors, name)) {
		walk_attribute(&w, name, MAX_DEPTH);
		value = a.count == 1 ? a.value : NULL;
		scope.module = a.init.owner.module;
		scope.function = a.init.node;
	} else if ((value = class_constant(&f->lineage, name, &scope.module))) {
		w.module = scope.module;
		walk_expression(&w, value, MAX_DEPTH);
	}
	v->tags = w.tags;
	/* A cache that the layer keeps itself: rows of all positions, or an object that has them.
	 */
	if (mla_str_mentions(name, "cache"))
		v->tags = is_array(f, name, value) ? MLA_TAG_INPUT | MLA_TAG_CACHED : MLA_TAG_CACHE;
	if (value && !w.tags)
		take_number(v, &scope, value);
	return v;
}

const mla_value *mla_flow_setting(mla_flow *f, mla_str name)
{
	const mla_value *v = mla_env_get(f->settings, name);

	if (!v) {
		v = read(f, name);
		mla_env_set(f, f->settings, name, v);
	}
	return v;
}

/* Class structure from syntax. Evaluates nothing. */
#include "analyzer/class.h"

#include "analyzer/str.h"

static bool known_root(const mla_node *base)
{
	static const char *const roots[] = {"Module", "object", "ABC", "Generic", "Protocol", NULL};

	if (base->kind == MLA_N_SUBSCRIPT)
		base = base->kid[0];
	return mla_str_in(base->name, roots);
}

static void add_class(mla_lineage *out, mla_class c)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (out->v[i].node == c.node)
			return;
	if (out->n < MLA_LINEAGE_MAX)
		out->v[out->n++] = c;
	else
		out->open = true;
}

void mla_class_lineage(mla_lineage *out, mla_project *p, mla_class c)
{
	*out = (mla_lineage){0};
	if (!c.node)
		return;
	add_class(out, c);
	/* Breadth first is not Python's order for diamonds, but those do not occur in layers. */
	for (uint32_t i = 0; i < out->n; i++) {
		const mla_node *bases = mla_kid(out->v[i].node, 0);

		for (uint32_t k = 0; bases && k < bases->n; k++) {
			const mla_node *base = bases->kid[k];
			mla_symbol s;

			if (base->kind == MLA_N_KEYWORD || known_root(base))
				continue;
			s = mla_project_resolve_node(p, out->v[i].module, base);
			if (s.node && s.node->kind == MLA_N_CLASS)
				add_class(out, (mla_class){s.module, s.node});
			else
				out->open = true;
		}
	}
}

const mla_node *mla_class_method(mla_class c, mla_str name)
{
	const mla_node *body = mla_kid(c.node, 1), *found = NULL;
	bool skip = false;

	if (!body)
		return NULL;
	for (const mla_node *n = body; n; n = mla_node_next(n, body, skip)) {
		skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
		if (n->kind == MLA_N_FUNCTION && mla_str_eq(n->name, name))
			found = n;
	}
	return found;
}

mla_method mla_lineage_method(const mla_lineage *l, mla_str name)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const mla_node *n = mla_class_method(l->v[i], name);

		if (n)
			return (mla_method){l->v[i], n};
	}
	return (mla_method){0};
}

static bool is_init_call(const mla_node *n)
{
	const mla_node *callee = n->kind == MLA_N_CALL ? n->kid[0] : NULL;

	return callee && callee->kind == MLA_N_ATTRIBUTE && mla_str_is(callee->name, "__init__");
}

const mla_node *mla_constructor_super(const mla_node *init)
{
	for (const mla_node *n = init; n; n = mla_node_next(n, init, false))
		if (is_init_call(n))
			return n;
	return NULL;
}

/* `super().__init__(...)`, or `Base.__init__(self, ...)` with a Base of this lineage */
static bool runs_base(mla_project *p, const mla_lineage *l, uint32_t at, mla_method init,
                      uint32_t *next)
{
	for (const mla_node *n = init.node; n; n = mla_node_next(n, init.node, false)) {
		const mla_node *object;
		mla_symbol s;

		if (!is_init_call(n))
			continue;
		object = n->kid[0]->kid[0];
		if (object->kind == MLA_N_CALL && object->kid[0]->kind == MLA_N_NAME &&
		    mla_str_is(object->kid[0]->name, "super")) {
			*next = at + 1;
			return true;
		}
		s = mla_project_resolve_node(p, init.owner.module, object);
		for (uint32_t i = at + 1; s.node && i < l->n; i++)
			if (l->v[i].node == s.node) {
				*next = i;
				return true;
			}
	}
	return false;
}

void mla_class_constructors(mla_constructors *out, mla_project *p, const mla_lineage *l)
{
	*out = (mla_constructors){0};
	for (uint32_t i = 0; i < l->n;) {
		const mla_node *init = mla_class_method(l->v[i], mla_str_c("__init__"));
		mla_method m = {l->v[i], init};

		if (!init) {
			i++;
			continue;
		}
		out->v[out->n++] = m;
		if (!runs_base(p, l, i, m, &i))
			break;
	}
}

mla_str mla_method_self(const mla_node *function)
{
	const mla_node *first = mla_kid(mla_kid(function, 0), 0);

	return first ? first->name : (mla_str){"", 0};
}

bool mla_method_is(const mla_node *function, const char *name)
{
	const mla_node *list = function->kind == MLA_N_FUNCTION ? mla_kid(function, 3) : NULL;

	for (uint32_t i = 0; list && i < list->n; i++)
		if (mla_str_is(list->kid[i]->name, name))
			return true;
	return false;
}

const mla_node *mla_parameter(const mla_node *function, mla_str name)
{
	const mla_node *list = mla_kid(function, 0);

	for (uint32_t i = 0; list && i < list->n; i++)
		if (mla_str_eq(list->kid[i]->name, name))
			return list->kid[i];
	return NULL;
}

/* Does `target` set self.name? A nested tuple counts, without a value of its own. */
static bool sets(const mla_node *target, mla_str self, mla_str name)
{
	if (target->kind == MLA_N_ATTRIBUTE)
		return mla_str_eq(target->name, name) && target->kid[0]->kind == MLA_N_NAME &&
		       mla_str_eq(target->kid[0]->name, self);
	if (target->kind != MLA_N_TUPLE && target->kind != MLA_N_LIST)
		return false;
	for (const mla_node *n = target; n; n = mla_node_next(n, target, false))
		if (n->kind == MLA_N_ATTRIBUTE && sets(n, self, name))
			return true;
	return false;
}

/* The value that goes to self.name when `target` is assigned `value`; NULL when it is unclear. */
static const mla_node *value_for(const mla_node *target, const mla_node *value, mla_str self,
                                 mla_str name)
{
	if (target->kind == MLA_N_ATTRIBUTE || !value)
		return value;
	if ((value->kind != MLA_N_TUPLE && value->kind != MLA_N_LIST) || value->n != target->n)
		return NULL;
	for (uint32_t i = 0; i < target->n; i++)
		if (target->kid[i]->kind == MLA_N_ATTRIBUTE && sets(target->kid[i], self, name))
			return value->kid[i];
	return NULL;
}

static const mla_node *top_statement(const mla_node *n, const mla_node *body)
{
	while (n->parent != body)
		n = n->parent;
	return n;
}

bool mla_class_attribute(mla_attribute *out, const mla_constructors *c, mla_str name)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const mla_node *init = c->v[i].node, *body = mla_kid(init, 1);
		mla_str self = mla_method_self(init);
		mla_attribute found = {.init = c->v[i]};

		if (!body)
			continue;
		/* What a function inside the constructor does is done when it is called, if ever.
		 */
		for (const mla_node *n = body; n;
		     n = mla_node_next(n, body, n->kind == MLA_N_FUNCTION)) {
			uint32_t targets = n->kind == MLA_N_ASSIGN       ? n->n - 1
			                   : n->kind == MLA_N_ANN_ASSIGN ? 1
			                                                 : 0;
			const mla_node *value = targets ? n->kid[n->n - 1] : NULL;

			for (uint32_t k = 0; k < targets; k++) {
				if (!sets(n->kid[k], self, name))
					continue;
				found.value = value_for(n->kid[k], value, self, name);
				found.statement = top_statement(n, body);
				found.count++;
			}
		}
		if (found.count) {
			*out = found;
			return true;
		}
	}
	return false;
}

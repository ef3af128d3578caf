/* Constant evaluation over syntax, with a depth limit instead of trust in the source. */
#include "analyzer/evaluate.h"

#include "analyzer/str.h"

/* Deep enough for a size behind attributes, config classes and fallbacks; low enough that a source
 * written to double the work at every step stays cheap. */
enum { MAX_DEPTH = 16 };

/* Sizes are small; larger intermediate values are unknown rather than wrapped around. */
static const int64_t LIMIT = (int64_t)1 << 40;

const char *mla_source_name(mla_source s)
{
	static const char *const names[] = {
		[MLA_SOURCE_FILE] = "file defaults",   [MLA_SOURCE_CLASS] = "config class",
		[MLA_SOURCE_MODEL] = "--model-config", [MLA_SOURCE_OPTION] = "--geometry",
		[MLA_SOURCE_ASSUMED] = "assumed",
	};

	return names[s];
}

static mla_number eval(const mla_scope *s, const mla_node *e, int depth);
static mla_class class_of(const mla_scope *s, const mla_node *e, int depth);

static mla_number integer(int64_t v)
{
	if (v > LIMIT || v < -LIMIT)
		return (mla_number){0};
	return (mla_number){MLA_IS_INT, MLA_SOURCE_FILE, v};
}

static mla_number boolean(bool v)
{
	return (mla_number){MLA_IS_BOOL, MLA_SOURCE_FILE, v};
}

static mla_number weaker(mla_number n, mla_number a, mla_number b)
{
	n.source = a.source > b.source ? a.source : b.source;
	return n;
}

mla_number mla_number_arithmetic(mla_op op, mla_number a, mla_number b)
{
	int64_t x = a.value, y = b.value;
	mla_number n = {0};

	if (a.known < MLA_IS_INT || b.known < MLA_IS_INT)
		return n;
	switch (op) {
	case MLA_OP_ADD:
		n = integer(x + y);
		break;
	case MLA_OP_SUB:
		n = integer(x - y);
		break;
	case MLA_OP_MUL:
		if (x == 0 || (y < LIMIT / (x < 0 ? -x : x) && y > -LIMIT / (x < 0 ? -x : x)))
			n = integer(x * y);
		break;
	case MLA_OP_FLOORDIV:
		if (y != 0)
			n = integer(x / y - (x % y != 0 && (x < 0) != (y < 0)));
		break;
	case MLA_OP_DIV: /* a size all the same when it divides */
		if (y != 0 && x % y == 0)
			n = integer(x / y);
		break;
	case MLA_OP_MOD:
		if (y != 0)
			n = integer((x % y + y) % y);
		break;
	default:
		break;
	}
	return weaker(n, a, b);
}

static mla_number compare(mla_op op, mla_number a, mla_number b)
{
	mla_number n = {0};

	if (op == MLA_OP_IS || op == MLA_OP_IS_NOT) {
		if (!a.known || !b.known || (a.known != MLA_IS_NONE && b.known != MLA_IS_NONE))
			return n;
		n = boolean((a.known == b.known) == (op == MLA_OP_IS));
	} else if (a.known >= MLA_IS_INT && b.known >= MLA_IS_INT) {
		bool holds = op == MLA_OP_EQ   ? a.value == b.value
		             : op == MLA_OP_NE ? a.value != b.value
		             : op == MLA_OP_LT ? a.value < b.value
		             : op == MLA_OP_LE ? a.value <= b.value
		             : op == MLA_OP_GT ? a.value > b.value
		                               : a.value >= b.value;

		n = boolean(holds);
	}
	return weaker(n, a, b);
}

static bool truth(mla_number n)
{
	return n.known >= MLA_IS_INT && n.value != 0;
}

/* Digits as Python writes them: underscores, 0x, 0o, 0b. */
static mla_number literal(mla_str s)
{
	int base = 10;
	uint32_t i = 0;
	int64_t v = 0;

	if (s.len > 2 && s.ptr[0] == '0') {
		char c = (char)(s.ptr[1] | 0x20);

		base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
		i = base == 10 ? 0 : 2;
	}
	for (; i < s.len; i++) {
		char c = (char)(s.ptr[i] | 0x20);
		int digit = s.ptr[i] >= '0' && s.ptr[i] <= '9' ? s.ptr[i] - '0'
		            : c >= 'a' && c <= 'f'             ? c - 'a' + 10
		                                               : 99;

		if (s.ptr[i] == '_')
			continue;
		if (digit >= base || v > LIMIT / base)
			return (mla_number){0};
		v = v * base + digit;
	}
	return integer(v);
}

/* The annotation without Optional[...], quotes and `| None`. */
static mla_class annotated_class(const mla_scope *s, const mla_node *a)
{
	mla_symbol symbol = {0};

	while (a &&
	       (a->kind == MLA_N_SUBSCRIPT || a->kind == MLA_N_BINARY || a->kind == MLA_N_OTHER))
		a = a->kind == MLA_N_SUBSCRIPT ? mla_kid(a, 1)
		    : a->kind == MLA_N_OTHER   ? mla_kid(a, a->n - 1)
		                               : a->kid[0];
	if (a && a->kind == MLA_N_STRING) {
		mla_str text = mla_node_text(s->module->text, a);

		if (text.len > 2)
			symbol = mla_project_resolve(s->project, s->module,
			                             (mla_str){text.ptr + 1, text.len - 2});
	} else if (a) {
		symbol = mla_project_resolve_node(s->project, s->module, a);
	}
	if (symbol.node && symbol.node->kind == MLA_N_CLASS)
		return (mla_class){symbol.module, symbol.node};
	return (mla_class){0};
}

/* The statement in a class body that gives the field `name`: annotated or plain. */
static const mla_node *field_of(mla_class c, mla_str name)
{
	const mla_node *body = mla_kid(c.node, 1), *found = NULL;

	for (uint32_t i = 0; body && i < body->n; i++) {
		const mla_node *n = body->kid[i];

		if ((n->kind == MLA_N_ANN_ASSIGN || n->kind == MLA_N_ASSIGN) &&
		    n->kid[0]->kind == MLA_N_NAME && mla_str_eq(n->kid[0]->name, name))
			found = n;
	}
	return found;
}

/* dataclasses.field(default=v) stands for v */
static const mla_node *default_of(const mla_node *value)
{
	if (value && value->kind == MLA_N_CALL && mla_str_is(value->kid[0]->name, "field"))
		for (uint32_t i = 1; i < value->n; i++)
			if (value->kid[i]->kind == MLA_N_KEYWORD &&
			    mla_str_is(value->kid[i]->name, "default"))
				return value->kid[i]->kid[0];
	return value;
}

static mla_number setting(const mla_scope *s, mla_str name)
{
	for (uint32_t i = 0; s->settings && i < s->settings->n; i++)
		if (mla_str_is(name, s->settings->v[i].name))
			return (mla_number){MLA_IS_INT, MLA_SOURCE_MODEL, s->settings->v[i].value};
	return (mla_number){0};
}

static mla_number field_default(const mla_scope *s, mla_class config, mla_str name, int depth)
{
	mla_number n = setting(s, name);
	mla_lineage lineage;

	if (n.known || depth <= 0)
		return n;
	mla_class_lineage(&lineage, s->project, config);
	for (uint32_t i = 0; i < lineage.n; i++) {
		mla_class c = lineage.v[i];
		const mla_node *field = field_of(c, name), *init, *parameter;
		const mla_scope inside = {s->project, s->settings, NULL, c.module, NULL};

		if (field && (field->kind == MLA_N_ASSIGN || mla_kid(field, 2))) {
			n = eval(&inside, default_of(field->kid[field->n - 1]), depth - 1);
		} else {
			init = mla_class_method(c, mla_str_c("__init__"));
			parameter = init ? mla_parameter(init, name) : NULL;
			if (parameter && mla_kid(parameter, 1))
				n = eval(&inside, mla_kid(parameter, 1), depth - 1);
			else if (!field)
				continue;
		}
		if (n.known && c.module != s->module && n.source < MLA_SOURCE_CLASS)
			n.source = MLA_SOURCE_CLASS;
		return n;
	}
	return (mla_number){0};
}

mla_number mla_evaluate_field(const mla_scope *s, mla_class config, mla_str name)
{
	return field_default(s, config, name, MAX_DEPTH);
}

/* Imported classes that are read to look for a field: those that say they are configurations. */
static bool may_be_config(const mla_binding *b)
{
	return b->node->kind == MLA_N_CLASS ||
	       (b->node->kind == MLA_N_ALIAS &&
	        (mla_str_mentions(b->name, "config") || mla_str_mentions(b->name, "args") ||
	         mla_str_mentions(b->name, "params")));
}

/* A parameter without annotation: the one class this module knows that has such a field. */
static mla_class class_with_field(const mla_scope *s, mla_str name)
{
	mla_class found = {0};

	for (uint32_t i = 0; i < s->module->binding_count; i++) {
		mla_symbol y;

		if (!may_be_config(&s->module->bindings[i]))
			continue;
		y = mla_project_resolve(s->project, s->module, s->module->bindings[i].name);
		if (!y.node || y.node->kind != MLA_N_CLASS || y.node == found.node ||
		    !field_of((mla_class){y.module, y.node}, name))
			continue;
		if (found.node)
			return (mla_class){0};
		found = (mla_class){y.module, y.node};
	}
	return found;
}

/* The last plain `name = value` of the function; NULL when there is none or it is unpacked. */
static const mla_node *local_value(const mla_node *function, mla_str name)
{
	const mla_node *body = mla_kid(function, 1), *value = NULL;

	if (!body)
		return NULL;
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		const mla_node *right = n->kind == MLA_N_ASSIGN ? n->kid[n->n - 1] : NULL;

		for (uint32_t i = 0; right && i + 1 < n->n; i++) {
			const mla_node *t = n->kid[i];

			if (t->kind == MLA_N_NAME && mla_str_eq(t->name, name))
				value = right;
			for (uint32_t k = 0; t->kind == MLA_N_TUPLE && right->kind == MLA_N_TUPLE &&
			                     t->n == right->n && k < t->n;
			     k++)
				if (t->kid[k]->kind == MLA_N_NAME &&
				    mla_str_eq(t->kid[k]->name, name))
					value = right->kid[k];
		}
	}
	return value;
}

static bool is_self(const mla_scope *s, const mla_node *e)
{
	return e->kind == MLA_N_NAME && s->function &&
	       mla_str_eq(e->name, mla_method_self(s->function)) && e->name.len;
}

static mla_scope scope_of(const mla_scope *s, mla_method init)
{
	return (mla_scope){s->project, s->settings, s->constructors, init.owner.module, init.node};
}

/*
 * What a derived constructor hands on for parameter `name` of the one at hand: the expression, and
 * the scope it stands in. NULL when the one at hand is the most derived.
 */
static const mla_node *handed_on(const mla_scope *s, mla_str name, mla_scope *where)
{
	const mla_node *call, *list = s->function ? mla_kid(s->function, 0) : NULL;
	uint32_t at = 0, position = 0;

	while (s->constructors && at < s->constructors->n &&
	       s->constructors->v[at].node != s->function)
		at++;
	if (!s->constructors || at == 0 || at == s->constructors->n)
		return NULL;
	*where = scope_of(s, s->constructors->v[at - 1]);
	call = mla_constructor_super(where->function);
	while (list && position < list->n && !mla_str_eq(list->kid[position]->name, name))
		position++;
	/* super().__init__(x) has no self; Base.__init__(self, x) has. */
	if (call && call->kid[0]->kid[0]->kind == MLA_N_CALL)
		position--;
	for (uint32_t i = 1; call && i < call->n; i++) {
		const mla_node *a = call->kid[i];

		if (a->kind == MLA_N_KEYWORD ? mla_str_eq(a->name, name) : i - 1 == position)
			return a->kind == MLA_N_KEYWORD ? mla_kid(a, 0) : a;
	}
	return NULL;
}

static mla_class class_of(const mla_scope *s, const mla_node *e, int depth)
{
	if (!e || depth <= 0)
		return (mla_class){0};
	if (e->kind == MLA_N_NAME) {
		const mla_node *p = s->function ? mla_parameter(s->function, e->name) : NULL;

		if (p) {
			mla_scope where;
			const mla_node *given = handed_on(s, e->name, &where);
			mla_class own = given ? class_of(&where, given, depth - 1) : (mla_class){0};

			return own.node ? own : annotated_class(s, mla_kid(p, 0));
		}
		return class_of(s, s->function ? local_value(s->function, e->name) : NULL,
		                depth - 1);
	}
	if (e->kind == MLA_N_OR)
		return class_of(s, e->kid[0], depth - 1);
	if (e->kind == MLA_N_CALL) {
		mla_symbol y = mla_project_resolve_node(s->project, s->module, e->kid[0]);

		if (y.node && y.node->kind == MLA_N_CLASS)
			return (mla_class){y.module, y.node};
		return (mla_class){0};
	}
	if (e->kind != MLA_N_ATTRIBUTE)
		return (mla_class){0};
	if (is_self(s, e->kid[0])) {
		mla_attribute a;

		if (s->constructors && mla_class_attribute(&a, s->constructors, e->name)) {
			const mla_scope inside = scope_of(s, a.init);

			return class_of(&inside, a.value, depth - 1);
		}
	} else {
		mla_class owner = class_of(s, e->kid[0], depth - 1);
		const mla_node *field = owner.node ? field_of(owner, e->name) : NULL;

		if (field && field->kind == MLA_N_ANN_ASSIGN) {
			const mla_scope inside = {s->project, s->settings, NULL, owner.module,
			                          NULL};

			return annotated_class(&inside, field->kid[1]);
		}
	}
	return (mla_class){0};
}

mla_class mla_evaluate_class(const mla_scope *scope, const mla_node *expr)
{
	return class_of(scope, expr, MAX_DEPTH);
}

/* self.x that several branches of the constructor set: the branch whose tests can be told. */
static const mla_node *taken_value(const mla_scope *s, const mla_attribute *a, mla_str name,
                                   int depth)
{
	const mla_node *n = a->statement;

	while (n && n->kind == MLA_N_IF) {
		mla_number test = eval(s, n->kid[0], depth - 1);

		if (!test.known)
			return NULL;
		n = truth(test) ? n->kid[1] : mla_kid(n, 2);
		if (n && n->kind == MLA_N_BLOCK) {
			const mla_node *value = NULL;

			for (uint32_t i = 0; i < n->n; i++) {
				const mla_node *k = n->kid[i];

				if (k->kind == MLA_N_ASSIGN && k->n == 2 &&
				    k->kid[0]->kind == MLA_N_ATTRIBUTE &&
				    mla_str_eq(k->kid[0]->name, name))
					value = k->kid[1];
			}
			return value;
		}
	}
	return NULL;
}

static mla_number self_attribute(const mla_scope *s, const mla_node *e, int depth)
{
	mla_attribute a;
	mla_scope inside;

	if (!s->constructors || !mla_class_attribute(&a, s->constructors, e->name))
		return (mla_number){0};
	inside = scope_of(s, a.init);
	if (a.count > 1) {
		const mla_node *value = taken_value(&inside, &a, e->name, depth);

		return value ? eval(&inside, value, depth - 1) : (mla_number){0};
	}
	return a.value ? eval(&inside, a.value, depth - 1) : (mla_number){0};
}

static mla_number attribute(const mla_scope *s, const mla_node *e, int depth)
{
	mla_class owner;

	if (is_self(s, e->kid[0]))
		return self_attribute(s, e, depth);
	owner = class_of(s, e->kid[0], depth - 1);
	if (!owner.node)
		owner = class_with_field(s, e->name);
	if (owner.node)
		return field_default(s, owner, e->name, depth - 1);
	return setting(s, e->name);
}

static mla_number name(const mla_scope *s, const mla_node *e, int depth)
{
	const mla_node *p = s->function ? mla_parameter(s->function, e->name) : NULL;
	const mla_node *value;
	mla_symbol y;

	if (p)
		return mla_kid(p, 1) ? eval(s, p->kid[1], depth - 1) : setting(s, e->name);
	value = s->function ? local_value(s->function, e->name) : NULL;
	if (value)
		return eval(s, value, depth - 1);
	y = mla_project_resolve(s->project, s->module, e->name);
	if (y.node && y.node->kind != MLA_N_CLASS && y.node->kind != MLA_N_FUNCTION &&
	    y.node->kind != MLA_N_ALIAS) {
		const mla_scope inside = {s->project, s->settings, NULL, y.module, NULL};
		mla_number n = eval(&inside, y.node, depth - 1);

		if (y.module != s->module && n.source < MLA_SOURCE_CLASS)
			n.source = MLA_SOURCE_CLASS;
		return n;
	}
	return (mla_number){0};
}

/* int(x), max(...), min(...), getattr(o, "x", default) */
static mla_number call(const mla_scope *s, const mla_node *e, int depth)
{
	mla_str f = e->kid[0]->kind == MLA_N_NAME ? e->kid[0]->name : (mla_str){"", 0};
	mla_number best = {0};

	if (mla_str_is(f, "int") && e->n == 2)
		return eval(s, e->kid[1], depth - 1);
	if (mla_str_is(f, "getattr") && e->n >= 3 && e->kid[2]->kind == MLA_N_STRING) {
		mla_str quoted = mla_node_text(s->module->text, e->kid[2]);
		mla_class owner = class_of(s, e->kid[1], depth - 1);
		mla_str field = {quoted.ptr + 1, quoted.len > 2 ? quoted.len - 2 : 0};

		best = owner.node ? field_default(s, owner, field, depth - 1) : setting(s, field);
		return best.known || e->n < 4 ? best : eval(s, e->kid[3], depth - 1);
	}
	if (!mla_str_is(f, "max") && !mla_str_is(f, "min"))
		return best;
	for (uint32_t i = 1; i < e->n; i++) {
		mla_number n = eval(s, e->kid[i], depth - 1);

		if (n.known < MLA_IS_INT)
			return (mla_number){0};
		if (i == 1 || (n.value > best.value) == mla_str_is(f, "max"))
			best = weaker(n, n, best);
	}
	return best;
}

static mla_number eval(const mla_scope *s, const mla_node *e, int depth)
{
	mla_number a, b;

	if (!e || depth <= 0)
		return (mla_number){0};
	switch ((mla_kind)e->kind) {
	case MLA_N_INT:
		return literal(e->name);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		return boolean(e->kind == MLA_N_TRUE);
	case MLA_N_NONE:
		return (mla_number){MLA_IS_NONE, MLA_SOURCE_FILE, 0};
	case MLA_N_NAME:
		return name(s, e, depth);
	case MLA_N_ATTRIBUTE:
		return attribute(s, e, depth);
	case MLA_N_CALL:
		return call(s, e, depth);
	case MLA_N_UNARY:
		a = eval(s, e->kid[0], depth - 1);
		b = integer(0);
		return e->op == MLA_OP_SUB ? mla_number_arithmetic(MLA_OP_SUB, b, a)
		                           : (mla_number){0};
	case MLA_N_BINARY:
		return mla_number_arithmetic(e->op, eval(s, e->kid[0], depth - 1),
		                             eval(s, e->kid[1], depth - 1));
	case MLA_N_COMPARE:
		return compare(e->op, eval(s, e->kid[0], depth - 1), eval(s, e->kid[1], depth - 1));
	case MLA_N_NOT:
		a = eval(s, e->kid[0], depth - 1);
		return a.known ? weaker(boolean(!truth(a)), a, a) : a;
	case MLA_N_AND:
	case MLA_N_OR:
		a = eval(s, e->kid[0], depth - 1);
		if (!a.known || truth(a) == (e->kind == MLA_N_OR))
			return a;
		b = eval(s, e->kid[1], depth - 1);
		return weaker(b, a, b);
	case MLA_N_CONDITION:
		a = eval(s, e->kid[0], depth - 1);
		return a.known ? eval(s, e->kid[truth(a) ? 1 : 2], depth - 1) : a;
	default:
		return (mla_number){0};
	}
}

mla_number mla_evaluate(const mla_scope *scope, const mla_node *expr)
{
	return eval(scope, expr, MAX_DEPTH);
}

/* Conditions under which a loader leaves weights out, and the names in them. */
#include "analyzer/weights.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"

typedef struct {
	mla_arena *arena;
	mla_module *module;
	const mla_node *function;
	MLA_VEC(mla_dropped) found;
} search;

static mla_str text_of(const search *s, const mla_node *n)
{
	return mla_node_text(s->module->text, n);
}

static bool names_draft_head(mla_str text)
{
	static const char *const words[] = {"mtp", "nextn", "next_n", "multi_token", NULL};

	for (int i = 0; words[i]; i++)
		if (mla_str_mentions(text, words[i]))
			return true;
	return false;
}

static bool counts_layers(mla_str text)
{
	static const char *const words[] = {"num_hidden_layers", "num_layers", "n_layers", NULL};

	for (int i = 0; words[i]; i++)
		if (mla_str_mentions(text, words[i]))
			return true;
	return names_draft_head(text);
}

/* The number itself, or more: less would be a layer that the model has. */
static bool says_layer_count(const search *s, const mla_node *e)
{
	for (const mla_node *n = e; n; n = mla_node_next(n, e, false))
		if (n->kind == MLA_N_BINARY && n->op != MLA_OP_ADD)
			return false;
	return e->kind != MLA_N_STRING && counts_layers(text_of(s, e));
}

/* Is it, or the local it names, made of the number of layers? */
static bool is_layer_count(const search *s, const mla_node *e)
{
	const mla_node *body = mla_kid(s->function, 1);

	if (e->kind != MLA_N_NAME)
		return says_layer_count(s, e);
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false))
		if (n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_NAME &&
		    mla_str_eq(n->kid[0]->name, e->name))
			return says_layer_count(s, n->kid[n->n - 1]);
	return false;
}

/* The number of layers that a configuration of this file has by default; 0: none says. */
static int64_t default_layers(const search *s)
{
	const mla_node *root = s->module->syntax.root;
	int64_t layers = 0;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION))
		if (n->kind == MLA_N_ANN_ASSIGN && mla_kid(n, 2) &&
		    mla_kid(n, 2)->kind == MLA_N_INT &&
		    mla_str_is(n->kid[0]->name, "num_hidden_layers"))
			mla_str_int(&layers, mla_kid(n, 2)->name, 1, INT32_MAX);
	return layers;
}

/* "model.layers.61": a layer behind the last one. */
static bool is_layer_behind(const search *s, mla_str text)
{
	static const char word[] = "layers.";
	const uint32_t len = sizeof(word) - 1;

	for (uint32_t i = 0; i + len < text.len; i++) {
		mla_str digits = {text.ptr + i + len, 0};
		int64_t layer;

		if (memcmp(text.ptr + i, word, len) != 0)
			continue;
		while (i + len + digits.len < text.len && digits.ptr[digits.len] >= '0' &&
		       digits.ptr[digits.len] <= '9')
			digits.len++;
		if (mla_str_int(&layer, digits, 1, INT32_MAX) && layer >= default_layers(s))
			return true;
	}
	return false;
}

/* Does the string, perhaps a formatted one, name such weights? */
static bool is_draft_name(const search *s, const mla_node *string)
{
	mla_str text = text_of(s, string);

	for (const mla_node *n = mla_kid(string, 0); n; n = mla_node_next(n, string, false))
		if (mla_str_contains(text, "layers") && is_layer_count(s, n))
			return true;
	return names_draft_head(text) || is_layer_behind(s, text);
}

/* What `name` is bound to in a body, by a plain assignment. */
static const mla_node *bound_in(const mla_node *body, mla_str name)
{
	for (uint32_t i = 0; body && i < body->n; i++) {
		const mla_node *n = body->kid[i];

		if (n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_NAME &&
		    mla_str_eq(n->kid[0]->name, name))
			return n->kid[n->n - 1];
	}
	return NULL;
}

/* A constant of the function, of its class or of the file. */
static const mla_node *constant(const search *s, const mla_node *n)
{
	const mla_node *class = mla_node_class(s->function), *value = NULL;
	const mla_binding *b;

	if (n->kind == MLA_N_ATTRIBUTE)
		return class ? bound_in(mla_kid(class, 1), n->name) : NULL;
	if (n->kind != MLA_N_NAME)
		return NULL;
	if ((value = bound_in(mla_kid(s->function, 1), n->name)))
		return value;
	b = mla_module_binding(s->module, n->name);
	return b ? b->node : NULL;
}

/* A string of the test itself, or of a constant that it names. */
static const mla_node *draft_name(const search *s, const mla_node *test)
{
	for (const mla_node *n = test; n; n = mla_node_next(n, test, n->kind == MLA_N_STRING)) {
		const mla_node *from = n->kind == MLA_N_STRING ? n : constant(s, n);

		if (from && from->kind != MLA_N_TUPLE && from->kind != MLA_N_LIST &&
		    from->kind != MLA_N_SET && from->kind != MLA_N_STRING)
			continue;

		for (const mla_node *k = from; k;
		     k = mla_node_next(k, from, k->kind == MLA_N_STRING))
			if (k->kind == MLA_N_STRING && is_draft_name(s, k))
				return k;
	}
	return NULL;
}

/* Does it hold for the weights it names (1), for all others (-1), or is it about none (0)? */
static int polarity(const mla_node *test)
{
	static const char *const matches[] = {"startswith", "match", "search",
	                                      "fullmatch",  "any",   NULL};

	if (test->kind == MLA_N_CALL)
		return mla_str_in(test->kid[0]->name, matches);
	if (test->kind != MLA_N_COMPARE)
		return 0;
	switch ((mla_op)test->op) {
	case MLA_OP_IN:
	case MLA_OP_EQ:
	case MLA_OP_GE:
	case MLA_OP_GT:
		return 1;
	case MLA_OP_NOT_IN:
	case MLA_OP_NE:
	case MLA_OP_LT:
		return -1;
	default:
		return 0;
	}
}

static mla_str symbol_of(const search *s)
{
	const mla_node *class = mla_node_class(s->function);

	return class ? mla_arena_format(s->arena, "%.*s.%.*s", MLA_ARG(class->name),
	                                MLA_ARG(s->function->name))
	             : s->function->name;
}

/* int(parts[1]) >= self.args.num_hidden_layers */
static bool is_index_behind(const search *s, const mla_node *test)
{
	return test->kind == MLA_N_COMPARE &&
	       (test->op == MLA_OP_GE || test->op == MLA_OP_LT || test->op == MLA_OP_EQ) &&
	       is_layer_count(s, test->kid[1]) && test->kid[0]->kind != MLA_N_ATTRIBUTE;
}

/* The first part of a condition that with the outcome `holds` is about such weights. */
static const mla_node *about(const search *s, mla_str *name, const mla_node *condition, bool holds)
{
	for (const mla_node *n = condition; n;) {
		bool whole = n->kind == MLA_N_CALL || n->kind == MLA_N_COMPARE;
		bool negated = false;
		const mla_node *string;

		for (const mla_node *p = n; p != condition; p = p->parent)
			negated ^= p->parent->kind == MLA_N_NOT;
		if (whole && polarity(n) == (holds != negated ? 1 : -1) &&
		    ((string = draft_name(s, n)) || is_index_behind(s, n))) {
			*name = string ? mla_str_unquoted(text_of(s, string)) : text_of(s, n);
			return n;
		}
		n = mla_node_next(n, condition, whole);
	}
	return NULL;
}

static bool is_deletion(const mla_node *n)
{
	const mla_node *call = n->kind == MLA_N_EXPRESSION ? mla_kid(n, 0) : NULL;

	return n->kind == MLA_N_CONTINUE || n->kind == MLA_N_DELETE ||
	       (call && call->kind == MLA_N_CALL && mla_str_is(call->kid[0]->name, "pop"));
}

static bool is_store(const mla_node *n)
{
	return n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_SUBSCRIPT;
}

/* Is what a comprehension with this clause lists deleted by a loop over it? */
static bool lists_deleted(const search *s, const mla_node *clause)
{
	const mla_node *body = mla_kid(s->function, 1), *list = clause->parent, *block;
	mla_str name = {"", 0};

	if (list->parent->kind == MLA_N_ASSIGN && list->parent->kid[0]->kind == MLA_N_NAME)
		name = list->parent->kid[0]->name;
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		const mla_node *over = n->kind == MLA_N_FOR ? n->kid[1] : NULL;

		if (!over || (!mla_node_within(list, over) &&
		              !(over->kind == MLA_N_NAME && mla_str_eq(over->name, name))))
			continue;
		block = mla_kid(n, 2);
		if (block && block->n == 1 && is_deletion(block->kid[0]))
			return true;
	}
	return false;
}

/* Does another comprehension collect the weights of this name? */
static bool is_collected(const search *s, mla_str name)
{
	const mla_node *body = mla_kid(s->function, 1);
	mla_str other;

	for (const mla_node *n = body; n; n = mla_node_next(n, body, false))
		if (n->kind == MLA_N_IF_CLAUSE && about(s, &other, mla_kid(n, 0), true) &&
		    mla_str_eq(other, name) && !lists_deleted(s, n))
			return true;
	return false;
}

/* `drops` is the outcome that drops. */
static void look(search *s, const mla_node *condition, bool drops)
{
	mla_str name;
	const mla_node *n = about(s, &name, condition, drops);

	if (n && !is_collected(s, name))
		mla_vec_push(&s->found, ((mla_dropped){n, name, symbol_of(s)}));
}

static void look_in(search *s)
{
	const mla_node *body = mla_kid(s->function, 1);

	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		const mla_node *block = n->kind == MLA_N_IF ? mla_kid(n, 1) : NULL;

		if (n->kind == MLA_N_IF_CLAUSE)
			look(s, mla_kid(n, 0), lists_deleted(s, n));
		if (!block || !block->n)
			continue;
		if (block->n == 1 && is_deletion(block->kid[0]))
			look(s, n->kid[0], true);
		else if (!mla_kid(n, 2) && is_store(block->kid[block->n - 1]))
			look(s, n->kid[0], false);
	}
}

void mla_weights_dropped(mla_dropped_list *out, mla_arena *arena, mla_module *module)
{
	search s = {.arena = arena, .module = module};
	const mla_node *root = module->syntax.root;
	mla_dropped *v;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_FUNCTION && mla_str_mentions(n->name, "sanitize")) {
			s.function = n;
			look_in(&s);
		}
	v = mla_arena_array(arena, s.found.n, sizeof(*v));
	if (s.found.n)
		memcpy(v, s.found.v, s.found.n * sizeof(*v));
	*out = (mla_dropped_list){v, s.found.n};
	mla_vec_free(&s.found);
}

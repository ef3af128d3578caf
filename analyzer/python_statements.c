/* Statements and definitions of the Python grammar to our nodes. */
#include "analyzer/python_reduce.h"

#include "analyzer/str.h"

/* a = b = value arrives as an assignment whose right side is an assignment */
static mla_node *assignment(const mla_py_reduction *r)
{
	mla_node *left = mla_py_kid(r, MLA_PYF_LEFT), *right = mla_py_kid(r, MLA_PYF_RIGHT);
	mla_node *type = mla_py_kid(r, MLA_PYF_TYPE), *node;

	if (type || !right)
		return mla_py_fixed3(r, MLA_N_ANN_ASSIGN, left, type, right);
	if (right->kind != MLA_N_ASSIGN)
		return mla_py_fixed(r, MLA_N_ASSIGN, left, right);
	node = mla_py_make(r, MLA_N_ASSIGN, right->n + 1);
	mla_py_put(node, 0, left);
	for (uint32_t i = 0; i < right->n; i++)
		mla_py_put(node, i + 1, right->kid[i]);
	return node;
}

static mla_node *expression_statement(const mla_py_reduction *r)
{
	mla_node *inner = mla_py_nth(r, 0);

	if (!inner)
		return mla_py_all(r, MLA_N_OTHER);
	if (inner->kind == MLA_N_ASSIGN || inner->kind == MLA_N_ANN_ASSIGN ||
	    inner->kind == MLA_N_AUG_ASSIGN)
		return inner;
	if (mla_py_nth(r, 1)) { /* a bare tuple: `x, y` */
		mla_node *tuple = mla_py_all(r, MLA_N_TUPLE);

		return mla_py_one(r, MLA_N_EXPRESSION, tuple);
	}
	return mla_py_one(r, MLA_N_EXPRESSION, inner);
}

/* else_clause and finally_clause hold one block; as part of another statement it stands alone */
static mla_node *block_of(const mla_py_reduction *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].kind == MLA_PY_BLOCK)
			return r->item[i].node;
	return NULL;
}

/* if, elif..., else: the elifs become IF nodes nested in the else place */
static mla_node *if_statement(const mla_py_reduction *r)
{
	mla_node *node = mla_py_fixed3(r, MLA_N_IF, mla_py_kid(r, MLA_PYF_CONDITION),
	                               mla_py_kid(r, MLA_PYF_CONSEQUENCE), NULL);
	mla_node *last = node;

	for (uint32_t i = 0; i < r->n; i++) {
		mla_node *part = r->item[i].node;

		if (r->item[i].field != MLA_PYF_ALTERNATIVE || !part)
			continue;
		mla_py_put(last, 2, part->kind == MLA_N_ELSE ? part->kid[0] : part);
		if (part->kind != MLA_N_IF)
			break;
		/* An elif covers the branches after it. */
		part->span.end = part->outer.end = node->span.end;
		last = part;
	}
	return node;
}

static mla_node *loop(const mla_py_reduction *r, mla_kind kind)
{
	mla_node *other = mla_py_kid(r, MLA_PYF_ALTERNATIVE), *node;
	mla_node *tail = other && other->kind == MLA_N_ELSE ? other->kid[0] : NULL;

	if (kind == MLA_N_WHILE)
		return mla_py_fixed3(r, kind, mla_py_kid(r, MLA_PYF_CONDITION),
		                     mla_py_kid(r, MLA_PYF_BODY), tail);
	node = mla_py_make(r, kind, 4);
	mla_py_put(node, 0, mla_py_kid(r, MLA_PYF_LEFT));
	mla_py_put(node, 1, mla_py_kid(r, MLA_PYF_RIGHT));
	mla_py_put(node, 2, mla_py_kid(r, MLA_PYF_BODY));
	mla_py_put(node, 3, tail);
	node->is_async = mla_py_has_token(r, MLA_PY_T_ASYNC);
	return node;
}

static mla_node *with_statement(const mla_py_reduction *r)
{
	mla_node *clause = mla_py_nth(r, 0), *body = mla_py_kid(r, MLA_PYF_BODY), *node;
	uint32_t n = clause && clause != body ? clause->n : 0;

	node = mla_py_make(r, MLA_N_WITH, n + 1);
	for (uint32_t i = 0; i < n; i++)
		mla_py_put(node, i, clause->kid[i]);
	mla_py_put(node, n, body);
	node->is_async = mla_py_has_token(r, MLA_PY_T_ASYNC);
	return node;
}

static mla_node *with_item(const mla_py_reduction *r)
{
	mla_node *value = mla_py_kid(r, MLA_PYF_VALUE);

	if (value && value->kind == MLA_N_PATTERN_AS)
		return mla_py_fixed(r, MLA_N_WITH_ITEM, value->kid[0], value->kid[1]);
	return mla_py_fixed(r, MLA_N_WITH_ITEM, value, NULL);
}

static mla_node *handler(const mla_py_reduction *r)
{
	mla_node *type = mla_py_nth(r, 0), *body = block_of(r);

	if (type == body)
		type = NULL;
	if (type && type->kind == MLA_N_PATTERN_AS) {
		mla_node *node = mla_py_fixed(r, MLA_N_HANDLER, type->kid[0], body);

		node->name = type->kid[1] ? type->kid[1]->name : node->name;
		return node;
	}
	return mla_py_fixed(r, MLA_N_HANDLER, type, body);
}

static mla_node *match_statement(const mla_py_reduction *r)
{
	mla_node *body = mla_py_kid(r, MLA_PYF_BODY), *node;
	uint32_t cases = body ? body->n : 0;

	node = mla_py_make(r, MLA_N_MATCH, 1 + cases);
	mla_py_put(node, 0, mla_py_kid(r, MLA_PYF_SUBJECT));
	for (uint32_t i = 0; i < cases; i++)
		mla_py_put(node, 1 + i, body->kid[i]);
	return node;
}

static mla_node *case_clause(const mla_py_reduction *r)
{
	mla_node *guard = mla_py_kid(r, MLA_PYF_GUARD);
	mla_node *pattern = mla_py_nth(r, 0);

	/* case a, b: several patterns, a sequence */
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		n += r->item[i].kind == MLA_PY_CASE_PATTERN;
	if (n > 1) {
		mla_node *seq = mla_py_make(r, MLA_N_TUPLE, n);

		n = 0;
		for (uint32_t i = 0; i < r->n; i++)
			if (r->item[i].kind == MLA_PY_CASE_PATTERN)
				mla_py_put(seq, n++, r->item[i].node);
		seq->span = seq->outer =
			(mla_span){seq->kid[0]->span.start, seq->kid[n - 1]->span.end};
		pattern = seq;
	}
	return mla_py_fixed3(r, MLA_N_CASE, pattern, guard ? mla_kid(guard, 0) : NULL,
	                     mla_py_kid(r, MLA_PYF_CONSEQUENCE));
}

static mla_node *function(const mla_py_reduction *r)
{
	mla_node *node = mla_py_make(r, MLA_N_FUNCTION, 4), *name = mla_py_kid(r, MLA_PYF_NAME);

	mla_py_put(node, 0, mla_py_kid(r, MLA_PYF_PARAMETERS));
	mla_py_put(node, 1, mla_py_kid(r, MLA_PYF_BODY));
	mla_py_put(node, 2, mla_py_kid(r, MLA_PYF_RETURN_TYPE));
	node->name = name ? name->name : node->name;
	node->is_async = mla_py_has_token(r, MLA_PY_T_ASYNC);
	return node;
}

static mla_node *class(const mla_py_reduction *r)
{
	mla_node *name = mla_py_kid(r, MLA_PYF_NAME);
	mla_node *node = mla_py_fixed3(r, MLA_N_CLASS, mla_py_kid(r, MLA_PYF_SUPERCLASSES),
	                               mla_py_kid(r, MLA_PYF_BODY), NULL);

	node->name = name ? name->name : node->name;
	return node;
}

/* The definition keeps its own span (the line of def or class); `outer` covers the decorators. */
static mla_node *decorated(const mla_py_reduction *r)
{
	mla_node *def = mla_py_kid(r, MLA_PYF_DEFINITION), *list;
	uint32_t n = 0;

	if (!def || (def->kind != MLA_N_FUNCTION && def->kind != MLA_N_CLASS))
		return mla_py_all(r, MLA_N_OTHER);
	for (uint32_t i = 0; i < r->n; i++)
		n += r->item[i].kind == MLA_PY_DECORATOR && r->item[i].node;
	list = mla_py_make(r, MLA_N_DECORATORS, n);
	n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].kind == MLA_PY_DECORATOR && r->item[i].node)
			mla_py_put(list, n++, r->item[i].node);
	list->span.end = list->outer.end = n ? list->kid[n - 1]->span.end : list->span.start;
	mla_py_put(def, def->n - 1, list);
	def->outer = r->self->span;
	return def;
}

static mla_node *parameter(const mla_py_reduction *r, mla_node *name, mla_node *type,
                           mla_node *value)
{
	mla_node *node = mla_py_fixed(r, MLA_N_PARAMETER, type, value);

	if (name && name->kind == MLA_N_PARAMETER) { /* *args: type */
		node->op = name->op;
		node->name = name->name;
	} else if (name) {
		node->name = name->name;
	}
	return node;
}

static mla_node *splat_parameter(const mla_py_reduction *r, mla_op op)
{
	mla_node *node = parameter(r, mla_py_nth(r, 0), NULL, NULL);

	node->op = (uint8_t)op;
	return node;
}

static mla_node *parameters(const mla_py_reduction *r)
{
	mla_node *node = mla_py_all(r, MLA_N_PARAMETERS);

	for (uint32_t i = 0; i < node->n; i++) {
		mla_node *kid = node->kid[i];

		if (kid->kind == MLA_N_NAME) {
			const mla_py_item here = {.span = kid->span};
			const mla_py_reduction at = {r->l, &here, NULL, 0};

			mla_py_put(node, i, parameter(&at, kid, NULL, NULL));
		} else if (kid->kind == MLA_N_STAR || kid->kind == MLA_N_STAR_STAR) {
			const mla_py_item here = {.span = kid->span};
			const mla_py_reduction at = {r->l, &here, NULL, 0};
			mla_node *p = parameter(&at, mla_kid(kid, 0), NULL, NULL);

			p->op = kid->kind == MLA_N_STAR ? MLA_OP_STAR : MLA_OP_POWER;
			mla_py_put(node, i, p);
		}
	}
	return node;
}

static mla_node *typed_parameter(const mla_py_reduction *r)
{
	mla_node *name = mla_py_nth(r, 0), *type = mla_py_kid(r, MLA_PYF_TYPE);
	mla_node *node = parameter(r, name, type, NULL);

	if (name && (name->kind == MLA_N_STAR || name->kind == MLA_N_STAR_STAR)) {
		node->op = name->kind == MLA_N_STAR ? MLA_OP_STAR : MLA_OP_POWER;
		node->name = mla_kid(name, 0) ? name->kid[0]->name : node->name;
	}
	return node;
}

static mla_node *alias(const mla_py_reduction *r)
{
	mla_node *node = mla_py_one(r, MLA_N_ALIAS, mla_py_kid(r, MLA_PYF_ALIAS));
	mla_node *name = mla_py_kid(r, MLA_PYF_NAME);

	if (name)
		node->name = mla_py_slice(r, name->span);
	return node;
}

/* Kids that are plain dotted names become ALIAS nodes like the renamed ones. */
static mla_node *import(const mla_py_reduction *r, mla_kind kind)
{
	uint32_t n = 0;
	mla_node *node, *module = mla_py_kid(r, MLA_PYF_MODULE_NAME);

	for (uint32_t i = 0; i < r->n; i++)
		n += r->item[i].node && r->item[i].node != module;
	node = mla_py_make(r, kind, n);
	if (module)
		node->name = mla_py_slice(r, module->span);
	else if (r->self->kind == MLA_PY_FUTURE_IMPORT)
		node->name = mla_str_c("__future__");
	n = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		mla_node *kid = r->item[i].node;

		if (!kid || kid == module)
			continue;
		if (kid->kind != MLA_N_ALIAS) {
			const mla_py_reduction at = {r->l, &r->item[i], NULL, 0};
			mla_node *plain = mla_py_make(&at, MLA_N_ALIAS, 1);

			plain->name = mla_py_slice(r, kid->span);
			kid = plain;
		}
		mla_py_put(node, n++, kid);
	}
	return node;
}

mla_node *mla_py_reduce_statement(const mla_py_reduction *r)
{
	switch ((mla_py_kind)r->self->kind) {
	case MLA_PY_MODULE:
		return mla_py_all(r, MLA_N_MODULE);
	case MLA_PY_BLOCK:
		return mla_py_all(r, MLA_N_BLOCK);
	case MLA_PY_IMPORT:
		return import(r, MLA_N_IMPORT);
	case MLA_PY_IMPORT_FROM:
	case MLA_PY_FUTURE_IMPORT:
		return import(r, MLA_N_IMPORT_FROM);
	case MLA_PY_RELATIVE_IMPORT:
		return mla_py_leaf(r, MLA_N_NAME);
	case MLA_PY_ALIASED_IMPORT:
		return alias(r);
	case MLA_PY_WILDCARD_IMPORT:
		return mla_py_leaf(r, MLA_N_NAME);
	case MLA_PY_EXPRESSION_STATEMENT:
		return expression_statement(r);
	case MLA_PY_RETURN:
		return mla_py_one(r, MLA_N_RETURN, mla_py_nth(r, 0));
	case MLA_PY_DELETE:
		return mla_py_all(r, MLA_N_DELETE);
	case MLA_PY_RAISE:
		return mla_py_fixed(r, MLA_N_RAISE, mla_py_nth(r, 0), mla_py_kid(r, MLA_PYF_CAUSE));
	case MLA_PY_ASSERT:
		return mla_py_fixed(r, MLA_N_ASSERT, mla_py_nth(r, 0), mla_py_nth(r, 1));
	case MLA_PY_PASS:
		return mla_py_all(r, MLA_N_PASS);
	case MLA_PY_BREAK:
		return mla_py_all(r, MLA_N_BREAK);
	case MLA_PY_CONTINUE:
		return mla_py_all(r, MLA_N_CONTINUE);
	case MLA_PY_GLOBAL:
	case MLA_PY_NONLOCAL:
		return mla_py_all(r, MLA_N_GLOBAL);
	case MLA_PY_IF:
		return if_statement(r);
	case MLA_PY_ELIF:
		return mla_py_fixed3(r, MLA_N_IF, mla_py_kid(r, MLA_PYF_CONDITION),
		                     mla_py_kid(r, MLA_PYF_CONSEQUENCE), NULL);
	case MLA_PY_ELSE:
		return mla_py_one(r, MLA_N_ELSE, block_of(r));
	case MLA_PY_FINALLY:
		return mla_py_one(r, MLA_N_FINALLY, block_of(r));
	case MLA_PY_WHILE:
		return loop(r, MLA_N_WHILE);
	case MLA_PY_FOR:
		return loop(r, MLA_N_FOR);
	case MLA_PY_WITH:
		return with_statement(r);
	case MLA_PY_WITH_ITEM:
		return with_item(r);
	case MLA_PY_TRY:
		return mla_py_all(r, MLA_N_TRY);
	case MLA_PY_EXCEPT:
	case MLA_PY_EXCEPT_GROUP:
		return handler(r);
	case MLA_PY_MATCH:
		return match_statement(r);
	case MLA_PY_CASE:
		return case_clause(r);
	case MLA_PY_CLASS:
		return class(r);
	case MLA_PY_FUNCTION:
		return function(r);
	case MLA_PY_DECORATED:
		return decorated(r);
	case MLA_PY_DECORATOR:
		return mla_py_nth(r, 0);
	case MLA_PY_PARAMETERS:
	case MLA_PY_LAMBDA_PARAMETERS:
		return parameters(r);
	case MLA_PY_DEFAULT_PARAMETER:
		return parameter(r, mla_py_kid(r, MLA_PYF_NAME), NULL,
		                 mla_py_kid(r, MLA_PYF_VALUE));
	case MLA_PY_TYPED_DEFAULT_PARAMETER:
		return parameter(r, mla_py_kid(r, MLA_PYF_NAME), mla_py_kid(r, MLA_PYF_TYPE),
		                 mla_py_kid(r, MLA_PYF_VALUE));
	case MLA_PY_TYPED_PARAMETER:
		return typed_parameter(r);
	case MLA_PY_KEYWORD_SEPARATOR:
		return splat_parameter(r, MLA_OP_STAR);
	case MLA_PY_POSITIONAL_SEPARATOR:
		return splat_parameter(r, MLA_OP_SLASH);
	case MLA_PY_ASSIGNMENT:
		return assignment(r);
	case MLA_PY_AUGMENTED_ASSIGNMENT:
		return mla_py_with_op(mla_py_fixed(r, MLA_N_AUG_ASSIGN, mla_py_kid(r, MLA_PYF_LEFT),
		                                   mla_py_kid(r, MLA_PYF_RIGHT)),
		                      mla_py_field_operator(r));
	default:
		return NULL;
	}
}

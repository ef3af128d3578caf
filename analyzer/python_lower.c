/*
 * Python grammar nodes to our nodes, one at a time, kids first: patterns, literals, expressions
 * (statements are in python_statements.c). Understands the grammar's shapes; knows neither the
 * parser's types nor what anything means.
 */
#include "analyzer/python_reduce.h"

#include "analyzer/str.h"

static mla_node *parenthesised(const mla_py_reduction *r)
{
	mla_node *inner = mla_py_nth(r, 0);

	if (!inner || r->self->kind != MLA_PY_PARENTHESIZED)
		return mla_py_all(r, MLA_N_OTHER);
	inner->outer = r->self->span;
	return inner;
}

static mla_node *comparison(const mla_py_reduction *r)
{
	uint32_t n = 0;
	mla_op op = MLA_OP_NONE;
	mla_node *node;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->item[i].field == MLA_PYF_OPERATORS)
			op = mla_py_operator_of((mla_py_kind)r->item[i].kind);
		n += r->item[i].field == MLA_PYF_OPERATORS || r->item[i].node;
	}
	if (n == 3) {
		node = mla_py_fixed(r, MLA_N_COMPARE, mla_py_nth(r, 0), mla_py_nth(r, 1));
		node->op = (uint8_t)op;
		return node;
	}
	node = mla_py_make(r, MLA_N_CHAIN, n);
	n = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		const mla_py_item *it = &r->item[i];

		if (it->field == MLA_PYF_OPERATORS) {
			const mla_py_reduction here = {r->l, it, NULL, 0};
			mla_node *token = mla_py_make(&here, MLA_N_OPERATOR, 0);

			token->op = (uint8_t)mla_py_operator_of((mla_py_kind)it->kind);
			mla_py_put(node, n++, token);
		} else if (it->node) {
			mla_py_put(node, n++, it->node);
		}
	}
	return node;
}

/* lower:upper:step, any of them absent */
static mla_node *slice_node(const mla_py_reduction *r)
{
	mla_node *node = mla_py_make(r, MLA_N_SLICE, 3);
	uint32_t part = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->item[i].kind == MLA_PY_T_COLON && !r->item[i].named)
			part++;
		else if (r->item[i].node && part < 3)
			mla_py_put(node, part, r->item[i].node);
	}
	return node;
}

static mla_node *subscript(const mla_py_reduction *r)
{
	mla_node *node = mla_py_all(r, MLA_N_SUBSCRIPT);

	if (mla_py_has_token(r, MLA_PY_T_COMMA))
		node->op = MLA_OP_COMMA;
	return node;
}

static mla_node *call(const mla_py_reduction *r)
{
	mla_node *callee = mla_py_kid(r, MLA_PYF_FUNCTION),
		 *args = mla_py_kid(r, MLA_PYF_ARGUMENTS);
	mla_node *node;

	if (args && args->kind == MLA_N_ARGUMENTS) {
		node = mla_py_make(r, MLA_N_CALL, 1 + args->n);
		for (uint32_t i = 0; i < args->n; i++)
			mla_py_put(node, 1 + i, args->kid[i]);
	} else { /* f(x for x in y): the generator is the argument list */
		node = mla_py_make(r, MLA_N_CALL, 2);
		mla_py_put(node, 1, args);
	}
	mla_py_put(node, 0, callee);
	return node;
}

static mla_node *case_pattern(const mla_py_reduction *r)
{
	mla_node *inner = mla_py_nth(r, 0);

	if (!inner)
		return mla_py_leaf(r, MLA_N_WILDCARD);
	if (mla_py_has_token(r, MLA_PY_T_SUB)) {
		mla_node *node = mla_py_one(r, MLA_N_UNARY, inner);

		node->op = MLA_OP_SUB;
		return node;
	}
	return inner;
}

/* The grammar puts the minus of a negative alternative beside its number, not around it. */
static mla_node *union_pattern(const mla_py_reduction *r)
{
	mla_node *node = mla_py_all(r, MLA_N_PATTERN_OR);

	for (uint32_t i = 1; i < r->n; i++) {
		mla_node *number = r->item[i].node;

		if (number && r->item[i - 1].kind == MLA_PY_T_SUB) {
			const mla_py_item here = {
				.span = {r->item[i - 1].span.start, number->span.end}};
			const mla_py_reduction at = {r->l, &here, NULL, 0};
			uint32_t index = number->index;
			mla_node *minus = mla_py_one(&at, MLA_N_UNARY, number);

			mla_py_put(node, index, mla_py_with_op(minus, MLA_OP_SUB));
		}
	}
	return node;
}

/* a.b.c outside imports (patterns, types): a NAME, or ATTRIBUTE over the names */
static mla_node *dotted_name(const mla_py_reduction *r)
{
	mla_node *node = mla_py_nth(r, 0);

	for (uint32_t i = 1; node && mla_py_nth(r, i); i++) {
		const mla_py_item here = {.span = {node->span.start, mla_py_nth(r, i)->span.end}};
		const mla_py_reduction at = {r->l, &here, NULL, 0};
		mla_node *attr = mla_py_one(&at, MLA_N_ATTRIBUTE, node);

		attr->name = mla_py_nth(r, i)->name;
		node = attr;
	}
	return node ? node : mla_py_leaf(r, MLA_N_NAME);
}

static mla_node *reduce_pattern(const mla_py_reduction *r)
{
	switch ((mla_py_kind)r->self->kind) {
	case MLA_PY_CASE_PATTERN:
		return case_pattern(r);
	case MLA_PY_UNION_PATTERN:
		return union_pattern(r);
	case MLA_PY_LIST_PATTERN:
	case MLA_PY_TUPLE_PATTERN:
	case MLA_PY_PATTERN_LIST:
		return mla_py_all(r, MLA_N_TUPLE);
	case MLA_PY_AS_PATTERN:
		return mla_py_fixed(r, MLA_N_PATTERN_AS, mla_py_nth(r, 0), mla_py_nth(r, 1));
	case MLA_PY_AS_PATTERN_TARGET:
		return mla_py_nth(r, 0);
	case MLA_PY_LIST_SPLAT_PATTERN:
		return mla_py_one(r, MLA_N_STAR, mla_py_nth(r, 0));
	case MLA_PY_DICTIONARY_SPLAT_PATTERN:
		return mla_py_one(r, MLA_N_STAR_STAR, mla_py_nth(r, 0));
	default:
		return NULL;
	}
}

static mla_node *reduce_literal(const mla_py_reduction *r)
{
	switch ((mla_py_kind)r->self->kind) {
	case MLA_PY_IDENTIFIER:
		return mla_py_leaf(r, MLA_N_NAME);
	case MLA_PY_INTEGER:
		return mla_py_leaf(r, MLA_N_INT);
	case MLA_PY_FLOAT:
		return mla_py_leaf(r, MLA_N_FLOAT);
	case MLA_PY_TRUE:
		return mla_py_leaf(r, MLA_N_TRUE);
	case MLA_PY_FALSE:
		return mla_py_leaf(r, MLA_N_FALSE);
	case MLA_PY_NONE:
		return mla_py_leaf(r, MLA_N_NONE);
	case MLA_PY_ELLIPSIS:
		return mla_py_leaf(r, MLA_N_ELLIPSIS);
	case MLA_PY_STRING:
	case MLA_PY_CONCATENATED_STRING:
		return mla_py_all(r, MLA_N_STRING);
	case MLA_PY_STRING_PART:
		return NULL;
	case MLA_PY_INTERPOLATION:
	case MLA_PY_FORMAT_EXPRESSION:
	case MLA_PY_TYPE:
		return mla_py_nth(r, 0) && !mla_py_nth(r, 1) ? mla_py_nth(r, 0)
		                                             : mla_py_all(r, MLA_N_OTHER);
	case MLA_PY_DOTTED_NAME:
		return dotted_name(r);
	case MLA_PY_LIST:
		return mla_py_all(r, MLA_N_LIST);
	case MLA_PY_SET:
		return mla_py_all(r, MLA_N_SET);
	case MLA_PY_TUPLE:
	case MLA_PY_EXPRESSION_LIST:
		return mla_py_all(r, MLA_N_TUPLE);
	case MLA_PY_DICTIONARY:
		return mla_py_all(r, MLA_N_DICT);
	case MLA_PY_PAIR:
		return mla_py_fixed(r, MLA_N_PAIR, mla_py_kid(r, MLA_PYF_KEY),
		                    mla_py_kid(r, MLA_PYF_VALUE));
	case MLA_PY_LIST_COMPREHENSION:
		return mla_py_all(r, MLA_N_LIST_COMP);
	case MLA_PY_SET_COMPREHENSION:
		return mla_py_all(r, MLA_N_SET_COMP);
	case MLA_PY_DICTIONARY_COMPREHENSION:
		return mla_py_all(r, MLA_N_DICT_COMP);
	case MLA_PY_GENERATOR:
		return mla_py_all(r, MLA_N_GENERATOR);
	case MLA_PY_FOR_IN_CLAUSE:
		return mla_py_fixed(r, MLA_N_FOR_CLAUSE, mla_py_kid(r, MLA_PYF_LEFT),
		                    mla_py_kid(r, MLA_PYF_RIGHT));
	case MLA_PY_IF_CLAUSE:
		return mla_py_one(r, MLA_N_IF_CLAUSE, mla_py_nth(r, 0));
	default:
		return NULL;
	}
}

static mla_node *reduce_expression(const mla_py_reduction *r)
{
	switch ((mla_py_kind)r->self->kind) {
	case MLA_PY_PARENTHESIZED:
		return parenthesised(r);
	case MLA_PY_NAMED_EXPRESSION:
		return mla_py_fixed(r, MLA_N_WALRUS, mla_py_kid(r, MLA_PYF_NAME),
		                    mla_py_kid(r, MLA_PYF_VALUE));
	case MLA_PY_NOT:
		return mla_py_one(r, MLA_N_NOT, mla_py_kid(r, MLA_PYF_ARGUMENT));
	case MLA_PY_BOOLEAN:
		return mla_py_fixed(r, mla_py_has_token(r, MLA_PY_T_AND) ? MLA_N_AND : MLA_N_OR,
		                    mla_py_kid(r, MLA_PYF_LEFT), mla_py_kid(r, MLA_PYF_RIGHT));
	case MLA_PY_BINARY:
		return mla_py_with_op(mla_py_fixed(r, MLA_N_BINARY, mla_py_kid(r, MLA_PYF_LEFT),
		                                   mla_py_kid(r, MLA_PYF_RIGHT)),
		                      mla_py_field_operator(r));
	case MLA_PY_UNARY:
		return mla_py_with_op(mla_py_one(r, MLA_N_UNARY, mla_py_kid(r, MLA_PYF_ARGUMENT)),
		                      mla_py_field_operator(r));
	case MLA_PY_COMPARISON:
		return comparison(r);
	case MLA_PY_CONDITIONAL: /* written: then if test else other */
		return mla_py_fixed3(r, MLA_N_CONDITION, mla_py_nth(r, 1), mla_py_nth(r, 0),
		                     mla_py_nth(r, 2));
	case MLA_PY_LAMBDA:
		return mla_py_fixed(r, MLA_N_LAMBDA, mla_py_kid(r, MLA_PYF_PARAMETERS),
		                    mla_py_kid(r, MLA_PYF_BODY));
	case MLA_PY_YIELD:
		return mla_py_one(r, MLA_N_YIELD, mla_py_nth(r, 0));
	case MLA_PY_AWAIT:
		return mla_py_one(r, MLA_N_AWAIT, mla_py_nth(r, 0));
	case MLA_PY_ATTRIBUTE:
		return mla_py_named(mla_py_one(r, MLA_N_ATTRIBUTE, mla_py_kid(r, MLA_PYF_OBJECT)),
		                    mla_py_kid(r, MLA_PYF_ATTRIBUTE));
	case MLA_PY_SUBSCRIPT:
		return subscript(r);
	case MLA_PY_SLICE:
		return slice_node(r);
	case MLA_PY_CALL:
		return call(r);
	case MLA_PY_ARGUMENT_LIST:
		return mla_py_all(r, MLA_N_ARGUMENTS);
	case MLA_PY_KEYWORD_ARGUMENT:
		return mla_py_named(mla_py_one(r, MLA_N_KEYWORD, mla_py_kid(r, MLA_PYF_VALUE)),
		                    mla_py_kid(r, MLA_PYF_NAME));
	case MLA_PY_LIST_SPLAT:
	case MLA_PY_PARENTHESIZED_LIST_SPLAT:
		return mla_py_one(r, MLA_N_STAR, mla_py_nth(r, 0));
	case MLA_PY_DICTIONARY_SPLAT:
		return mla_py_one(r, MLA_N_STAR_STAR, mla_py_nth(r, 0));
	default:
		return NULL;
	}
}

mla_node *mla_py_reduce(mla_py_lower *l, const mla_py_item *self, const mla_py_item *item,
                        uint32_t n)
{
	const mla_py_reduction r = {l, self, item, n};
	mla_node *node;

	if (self->kind == MLA_PY_ERROR)
		return mla_py_all(&r, MLA_N_ERROR);
	if (!self->named)
		return NULL;
	if ((node = mla_py_reduce_statement(&r)) || (node = reduce_pattern(&r)) ||
	    (node = reduce_literal(&r)) || (node = reduce_expression(&r)))
		return node;
	/* Tokens inside strings and the like are of no interest; anything with kids is kept. */
	node = mla_py_all(&r, MLA_N_OTHER);
	return node->n || node->has_error ? node : NULL;
}

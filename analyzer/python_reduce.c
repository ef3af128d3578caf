/* Picking and building for the lowering; see the header. */
#include "analyzer/python_reduce.h"

#include "analyzer/str.h"

mla_node *mla_py_make(const mla_py_reduction *r, mla_kind kind, uint32_t kids)
{
	mla_node *node = mla_arena_alloc(r->l->arena, sizeof(*node));

	node->kind = (uint8_t)kind;
	node->span = node->outer = r->self->span;
	node->n = kids;
	node->kid = mla_arena_array(r->l->arena, kids, sizeof(*node->kid));
	for (uint32_t i = 0; i < r->n; i++)
		node->has_error |= r->item[i].kind == MLA_PY_ERROR || r->item[i].missing ||
		                   (r->item[i].node && r->item[i].node->has_error);
	node->has_error |= kind == MLA_N_ERROR;
	return node;
}

void mla_py_put(mla_node *node, uint32_t i, mla_node *kid)
{
	node->kid[i] = kid;
	if (kid) {
		kid->parent = node;
		kid->index = i;
	}
}

mla_str mla_py_slice(const mla_py_reduction *r, mla_span span)
{
	return mla_text_slice(r->l->text, span);
}

/* A node whose kids are all the named items. */
mla_node *mla_py_all(const mla_py_reduction *r, mla_kind kind)
{
	uint32_t n = 0;
	mla_node *node;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->item[i].node != NULL;
	node = mla_py_make(r, kind, n);
	n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].node)
			mla_py_put(node, n++, r->item[i].node);
	return node;
}

mla_node *mla_py_leaf(const mla_py_reduction *r, mla_kind kind)
{
	mla_node *node = mla_py_make(r, kind, 0);

	node->name = mla_py_slice(r, r->self->span);
	return node;
}

mla_node *mla_py_kid(const mla_py_reduction *r, mla_py_field f)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].field == f && r->item[i].node)
			return r->item[i].node;
	return NULL;
}

/* The `which`-th named item, whatever its field. */
mla_node *mla_py_nth(const mla_py_reduction *r, uint32_t which)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].node && which-- == 0)
			return r->item[i].node;
	return NULL;
}

bool mla_py_has_token(const mla_py_reduction *r, mla_py_kind kind)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].kind == kind && !r->item[i].named)
			return true;
	return false;
}

mla_node *mla_py_fixed(const mla_py_reduction *r, mla_kind kind, mla_node *a, mla_node *b)
{
	mla_node *node = mla_py_make(r, kind, 2);

	mla_py_put(node, 0, a);
	mla_py_put(node, 1, b);
	return node;
}

mla_node *mla_py_fixed3(const mla_py_reduction *r, mla_kind kind, mla_node *a, mla_node *b,
                        mla_node *c)
{
	mla_node *node = mla_py_make(r, kind, 3);

	mla_py_put(node, 0, a);
	mla_py_put(node, 1, b);
	mla_py_put(node, 2, c);
	return node;
}

mla_node *mla_py_one(const mla_py_reduction *r, mla_kind kind, mla_node *a)
{
	mla_node *node = mla_py_make(r, kind, 1);

	mla_py_put(node, 0, a);
	return node;
}

mla_op mla_py_operator_of(mla_py_kind token)
{
	static const uint8_t ops[MLA_PY_KIND_COUNT] = {
		[MLA_PY_T_ADD] = MLA_OP_ADD,
		[MLA_PY_T_SUB] = MLA_OP_SUB,
		[MLA_PY_T_MUL] = MLA_OP_MUL,
		[MLA_PY_T_DIV] = MLA_OP_DIV,
		[MLA_PY_T_FLOORDIV] = MLA_OP_FLOORDIV,
		[MLA_PY_T_MOD] = MLA_OP_MOD,
		[MLA_PY_T_POWER] = MLA_OP_POWER,
		[MLA_PY_T_MATMUL] = MLA_OP_MATMUL,
		[MLA_PY_T_SHL] = MLA_OP_SHL,
		[MLA_PY_T_SHR] = MLA_OP_SHR,
		[MLA_PY_T_BITAND] = MLA_OP_BITAND,
		[MLA_PY_T_BITOR] = MLA_OP_BITOR,
		[MLA_PY_T_BITXOR] = MLA_OP_BITXOR,
		[MLA_PY_T_INVERT] = MLA_OP_INVERT,
		[MLA_PY_T_EQ] = MLA_OP_EQ,
		[MLA_PY_T_NE] = MLA_OP_NE,
		[MLA_PY_T_NE_OLD] = MLA_OP_NE,
		[MLA_PY_T_LT] = MLA_OP_LT,
		[MLA_PY_T_LE] = MLA_OP_LE,
		[MLA_PY_T_GT] = MLA_OP_GT,
		[MLA_PY_T_GE] = MLA_OP_GE,
		[MLA_PY_T_IS] = MLA_OP_IS,
		[MLA_PY_T_IS_NOT] = MLA_OP_IS_NOT,
		[MLA_PY_T_IN] = MLA_OP_IN,
		[MLA_PY_T_NOT_IN] = MLA_OP_NOT_IN,
		[MLA_PY_T_ADD_SET] = MLA_OP_ADD,
		[MLA_PY_T_SUB_SET] = MLA_OP_SUB,
		[MLA_PY_T_MUL_SET] = MLA_OP_MUL,
		[MLA_PY_T_DIV_SET] = MLA_OP_DIV,
		[MLA_PY_T_FLOORDIV_SET] = MLA_OP_FLOORDIV,
		[MLA_PY_T_MOD_SET] = MLA_OP_MOD,
		[MLA_PY_T_POWER_SET] = MLA_OP_POWER,
		[MLA_PY_T_MATMUL_SET] = MLA_OP_MATMUL,
		[MLA_PY_T_SHL_SET] = MLA_OP_SHL,
		[MLA_PY_T_SHR_SET] = MLA_OP_SHR,
		[MLA_PY_T_BITAND_SET] = MLA_OP_BITAND,
		[MLA_PY_T_BITOR_SET] = MLA_OP_BITOR,
		[MLA_PY_T_BITXOR_SET] = MLA_OP_BITXOR,
	};

	return (mla_op)ops[token];
}

mla_op mla_py_field_operator(const mla_py_reduction *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].field == MLA_PYF_OPERATOR)
			return mla_py_operator_of((mla_py_kind)r->item[i].kind);
	return MLA_OP_NONE;
}

mla_node *mla_py_with_op(mla_node *node, mla_op op)
{
	node->op = (uint8_t)op;
	return node;
}

mla_node *mla_py_named(mla_node *node, const mla_node *name)
{
	if (name)
		node->name = name->name;
	return node;
}

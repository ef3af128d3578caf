/*
 * What the halves of the lowering share: one reduction, and ways to pick its items and build from
 * them. Private to python_*.c.
 */
#ifndef MLA_ANALYZER_PYTHON_REDUCE_H
#define MLA_ANALYZER_PYTHON_REDUCE_H

#include "analyzer/python_lower.h"

/* The items of one node of the grammar, in source order. */
typedef struct {
	mla_py_lower *l;
	const mla_py_item *self;
	const mla_py_item *item;
	uint32_t n;
} mla_py_reduction;

mla_node *mla_py_make(const mla_py_reduction *r, mla_kind kind, uint32_t kids);
void mla_py_put(mla_node *node, uint32_t i, mla_node *kid);
mla_str mla_py_slice(const mla_py_reduction *r, mla_span span);
/* A node whose kids are all the named items. */
mla_node *mla_py_all(const mla_py_reduction *r, mla_kind kind);
mla_node *mla_py_leaf(const mla_py_reduction *r, mla_kind kind);
mla_node *mla_py_kid(const mla_py_reduction *r, mla_py_field f);
/* The `which`-th named item, whatever its field. */
mla_node *mla_py_nth(const mla_py_reduction *r, uint32_t which);
bool mla_py_has_token(const mla_py_reduction *r, mla_py_kind kind);
mla_node *mla_py_fixed(const mla_py_reduction *r, mla_kind kind, mla_node *a, mla_node *b);
mla_node *mla_py_fixed3(const mla_py_reduction *r, mla_kind kind, mla_node *a, mla_node *b,
                        mla_node *c);
mla_node *mla_py_one(const mla_py_reduction *r, mla_kind kind, mla_node *a);
mla_op mla_py_operator_of(mla_py_kind token);
mla_op mla_py_field_operator(const mla_py_reduction *r);
mla_node *mla_py_with_op(mla_node *node, mla_op op);
mla_node *mla_py_named(mla_node *node, const mla_node *name);

/* Statements and definitions; NULL when the node is not one. */
mla_node *mla_py_reduce_statement(const mla_py_reduction *r);

#endif

/*
 * Arithmetic element by element, with broadcasting.
 *
 * Operands are first converted to the format in which they meet (a Python number takes that of the
 * array), computed in f32 where that is f32 or narrower (f64 in oracle mode), and rounded once by
 * the store. Comparisons and tests give bool. Integer results beyond 32 bits are MLA_ELIMIT: no
 * framework wraps around in a way worth imitating. Divisions of integers give f32, as in Python;
 * floor division and remainder take the sign of the divisor.
 */
#ifndef MLA_ENGINE_ELEMENTWISE_H
#define MLA_ENGINE_ELEMENTWISE_H

#include "engine/tensor.h"

typedef enum {
	MLA_EW_ADD,
	MLA_EW_SUB,
	MLA_EW_MUL,
	MLA_EW_DIV,
	MLA_EW_FLOOR_DIV,
	MLA_EW_MOD,
	MLA_EW_POW,
	MLA_EW_MAX,
	MLA_EW_MIN,
	MLA_EW_EQ,
	MLA_EW_NE,
	MLA_EW_LT,
	MLA_EW_LE,
	MLA_EW_GT,
	MLA_EW_GE,
	MLA_EW_AND, /* of truth values */
	MLA_EW_OR,
} mla_binary;

typedef enum {
	MLA_EW_NEG,
	MLA_EW_ABS,
	MLA_EW_EXP,
	MLA_EW_LOG,
	MLA_EW_SQRT,
	MLA_EW_RSQRT,
	MLA_EW_SIN,
	MLA_EW_COS,
	MLA_EW_TANH,
	MLA_EW_SIGMOID,
	MLA_EW_FLOOR,
	MLA_EW_CEIL,
	MLA_EW_SQUARE,
	MLA_EW_ISNAN,
	MLA_EW_ISINF,
	MLA_EW_NOT, /* of the truth value */
} mla_unary;

int mla_binary_op(mla_tensor **out, mla_engine *e, mla_binary op, const mla_tensor *a,
                  const mla_tensor *b);
/* The same with a Python float on the right. */
int mla_binary_number(mla_tensor **out, mla_engine *e, mla_binary op, const mla_tensor *a,
                      double b);
int mla_unary_op(mla_tensor **out, mla_engine *e, mla_unary op, const mla_tensor *a);

/* a where `condition`, else b; all three broadcast. */
int mla_where(mla_tensor **out, mla_engine *e, const mla_tensor *condition, const mla_tensor *a,
              const mla_tensor *b);

/* The format in which two operands meet, Python numbers included. */
mla_dtype mla_operands_dtype(const mla_engine *e, const mla_tensor *a, const mla_tensor *b);

#endif

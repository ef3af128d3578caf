/*
 * Matrix multiplication of tensors: batched, broadcast, of any strided views.
 *
 * NumPy's rules: the last two axes are the matrices, the axes before them broadcast, a vector on
 * the left is a row and one on the right a column, and that axis is gone from the result. Sums are
 * kept in f32 (in f64 where an operand is f64) and rounded once, by the store. A k of 0 gives
 * zeros. Anything but floats and numbers without dimensions are MLA_ERAISE.
 */
#ifndef MLA_ENGINE_MATMUL_H
#define MLA_ENGINE_MATMUL_H

#include "engine/tensor.h"

/* Stored in the format in which a and b meet. */
int mla_matmul(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b);

/* Stored as `store`: for an operand that exists in f32 only while it is multiplied with. */
int mla_matmul_as(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                  mla_dtype store);

/* Shared inside the engine: the result of two operands with two axes or more, not yet computed. */
int mla_matmul__result(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                       mla_dtype store);

#endif

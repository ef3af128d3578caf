/*
 * Copies: casting, joining. Values move, nothing is computed but the rounding of a store.
 */
#ifndef MLA_ENGINE_MOVE_H
#define MLA_ENGINE_MOVE_H

#include "engine/tensor.h"

/* Contiguous, same format. */
int mla_move_copy(mla_tensor **out, mla_engine *e, const mla_tensor *t);

/* astype. In oracle mode a float format means f64 (mla_engine_dtype). */
int mla_move_cast(mla_tensor **out, mla_engine *e, const mla_tensor *t, mla_dtype d);

/* Joined along an axis, in the format in which all of them meet. n >= 1, else MLA_ERAISE. */
int mla_move_concat(mla_tensor **out, mla_engine *e, const mla_tensor *const *tensors, uint32_t n,
                    int64_t axis);

/*
 * Shared inside the engine: writes `src`, broadcast, over all elements of `dst`, a view of a tensor
 * that is still being made.
 */
int mla_move__into(mla_engine *e, mla_tensor *dst, const mla_tensor *src, const char *op);

#endif

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

/* Joined along a new axis of the result; the shapes must be equal. */
int mla_move_stack(mla_tensor **out, mla_engine *e, const mla_tensor *const *tensors, uint32_t n,
                   int64_t axis);

/* Each element `times` times in a row along an axis, as numpy.repeat and torch.repeat_interleave.
 */
int mla_move_repeat(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t times,
                    int64_t axis);

/* before[i] and after[i] elements of `value` around axis i; negative ones are MLA_ERAISE. */
int mla_move_pad(mla_tensor **out, mla_engine *e, const mla_tensor *t, const int64_t *before,
                 const int64_t *after, double value);

/*
 * A copy of `t` with `source`, broadcast, in a part of it: the result of t[part] = source. An axis
 * that is indexed by one number is a part of one element.
 */
typedef struct {
	int64_t start, stop, step; /* Python's rules, as in mla_view_slice() */
} mla_part;

int mla_move_update(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_part *parts,
                    const mla_tensor *source);

/*
 * Shared inside the engine: writes `src`, broadcast, over all elements of `dst`, a view of a tensor
 * that is still being made.
 */
int mla_move__into(mla_engine *e, mla_tensor *dst, const mla_tensor *src, const char *op);

#endif

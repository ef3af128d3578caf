/*
 * Operations along an axis. Sums are kept in double and pass through f32 on the way to a narrower
 * store: never less than the f32 accumulation they stand for. Axes count from either end.
 */
#ifndef MLA_ENGINE_REDUCE_H
#define MLA_ENGINE_REDUCE_H

#include "engine/tensor.h"

/*
 * exp(x - max) / sum along an axis, in f32 at least whatever the format (MLX: precise=True), stored
 * in that of `t` (f32 for integers). A row of nothing but -inf gives NaN, as there. An axis of size
 * 0 gives an empty result.
 */
int mla_softmax(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);

#endif

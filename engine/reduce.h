/*
 * Operations along axes: reductions, running sums, softmax. Sums are kept in double and pass
 * through f32 on the way to a narrower store: never less than the f32 accumulation they stand for.
 * Axes count from either end.
 */
#ifndef MLA_ENGINE_REDUCE_H
#define MLA_ENGINE_REDUCE_H

#include "engine/tensor.h"

typedef enum {
	MLA_RED_SUM,
	MLA_RED_MEAN,
	MLA_RED_VAR, /* of the population: divided by the count */
	MLA_RED_MAX, /* NaN when there is one, as is MIN */
	MLA_RED_MIN,
	MLA_RED_PROD,
	MLA_RED_LOGSUMEXP,
	MLA_RED_ANY,
	MLA_RED_ALL,
	MLA_RED_ARGMAX, /* int32, the first of equals; a NaN is the largest */
	MLA_RED_ARGMIN,
} mla_reduction;

/*
 * Over n axes, NULL for all of them; with `keep` they stay as size 1. Truth values and integers sum
 * and multiply to int32 (MLA_ELIMIT beyond), their mean is f32; any and all are bool. Over no
 * elements sum is 0, prod 1, any false, all true, mean NaN; the others are MLA_ERAISE. The arg
 * reductions take one axis or all, then counted in row-major order.
 */
int mla_reduce(mla_tensor **out, mla_engine *e, mla_reduction op, const mla_tensor *t, uint32_t n,
               const int64_t *axes, bool keep);

/* cumsum along an axis; `exclusive` leaves each element out of its own sum. */
int mla_cumsum(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis, bool reverse,
               bool exclusive);

/*
 * exp(x - max) / sum along an axis, in f32 at least whatever the format (MLX: precise=True), stored
 * in that of `t` (f32 for integers). A row of nothing but -inf gives NaN, as there. An axis of size
 * 0 gives an empty result.
 */
int mla_softmax(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);

#endif

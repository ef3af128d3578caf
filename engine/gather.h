/*
 * Reading and writing at positions that are themselves data. Positions are int32 (or bool, as 0 and
 * 1) and count from either end; one that does not exist is MLA_ERAISE, where a framework may read
 * whatever is there. Without data nothing can be checked but the shapes.
 */
#ifndef MLA_ENGINE_GATHER_H
#define MLA_ENGINE_GATHER_H

#include "engine/tensor.h"

/* numpy.take: the axis is replaced by the dimensions of `at`. */
int mla_take(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
             int64_t axis);

/* `at` has the dimensions of `t`; all axes but this one broadcast. */
int mla_take_along_axis(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
                        int64_t axis);

/*
 * A copy of `t` with `values`, broadcast to the shape of `at`, at those positions; `at` broadcasts
 * against `t` on the other axes. Of several values for one place the last in order counts.
 */
int mla_put_along_axis(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
                       const mla_tensor *values, int64_t axis);

#endif

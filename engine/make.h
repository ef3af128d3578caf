/*
 * Tensors from nothing. A float format means f64 in an oracle engine (mla_engine_dtype).
 */
#ifndef MLA_ENGINE_MAKE_H
#define MLA_ENGINE_MAKE_H

#include "engine/tensor.h"

int mla_make_full(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim, const int64_t *shape,
                  double value);

/*
 * start, start + step, ... before `stop`, ceil((stop - start) / step) of them as in NumPy. A step
 * of 0 or a NaN is MLA_ERAISE.
 */
int mla_make_arange(mla_tensor **out, mla_engine *e, mla_dtype d, double start, double stop,
                    double step);

/* bool [rows, columns]: column <= row + diagonal. */
int mla_make_lower(mla_tensor **out, mla_engine *e, int64_t rows, int64_t columns,
                   int64_t diagonal);

#endif

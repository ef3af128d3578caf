/*
 * Other ways to look at a tensor: axes, slices, repetition, shape. No arithmetic; a copy only where
 * a shape cannot be had by strides. MLX and NumPy semantics; what they refuse is MLA_ERAISE.
 */
#ifndef MLA_ENGINE_VIEW_H
#define MLA_ENGINE_VIEW_H

#include "engine/tensor.h"

/* The shape in which `n` tensors meet: aligned at the last axis, size 1 repeats. */
int mla_view_broadcast_shape(uint32_t *ndim, int64_t *shape, const mla_tensor *const *tensors,
                             uint32_t n, const char *op);

/* axes[i] is the axis of `t` that becomes axis i; NULL reverses them all. */
int mla_view_transpose(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t n,
                       const int64_t *axes);
int mla_view_swapaxes(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t a, int64_t b);
int mla_view_moveaxis(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t from,
                      int64_t to);

/* t[..., start:stop:step, ...] along one axis, with Python's rules for negative and excess bounds.
 */
int mla_view_slice(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis,
                   int64_t start, int64_t stop, int64_t step);
/* t[..., index, ...]: the axis disappears. An index outside is MLA_ERAISE. */
int mla_view_index(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis,
                   int64_t index);

int mla_view_broadcast_to(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t ndim,
                          const int64_t *shape);
/* A new axis of size 1 at `axis` of the result. */
int mla_view_expand(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);
/* Removes an axis of size 1. */
int mla_view_squeeze(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);
/* One size may be -1. Copies when the strides do not allow a view. */
int mla_view_reshape(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t ndim,
                     const int64_t *shape);

/*
 * Pieces along an axis, cut at `cuts` (ascending positions, as in numpy.split with a list); `out`
 * has room for n + 1.
 */
int mla_view_split(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis, uint32_t n,
                   const int64_t *cuts);

bool mla_view_contiguous(const mla_tensor *t);

#endif

/*
 * The remaining kernels as functions: shapes in, launches out. Strides and offsets count elements;
 * `store` is one of MLA_STORE_* (engine/kernels/args.h). Each returns 0, MLA_ECONFIG when a view
 * reaches past its buffer, or MLA_ELIMIT past 32-bit indexing. Empty shapes are fine and do
 * nothing.
 */
#ifndef MLA_ENGINE_BACKEND_OPS_H
#define MLA_ENGINE_BACKEND_OPS_H

#include "engine/backend.h"
#include "engine/kernels/args.h"

/* `rows` rows of `width` elements, `row` apart. */
typedef struct {
	mla_buffer *buf;
	uint64_t offset;
	uint32_t row;
} mla_rows;

/* Three dimensions; a broadcast one has step 0. */
typedef struct {
	mla_buffer *buf;
	uint64_t offset;
	uint32_t step[3];
} mla_view;

/* kind MLA_MASK_*; additive and boolean ones are read at step[batch, head, query, position]. */
typedef struct {
	uint32_t kind;
	mla_buffer *buf;
	uint64_t offset;
	uint32_t step[4];
	uint32_t visible; /* causal: query l sees the positions up to visible + l */
} mla_mask;

/* softmax(scale x + mask) over rows numbered (batch * heads + head) * queries + query. */
typedef struct {
	uint32_t batch, heads, queries, n;
	mla_rows x, y;
	mla_mask mask;
	float scale;
	uint32_t store;
} mla_softmax;
int mla_softmax_run(mla_backend *be, const mla_softmax *s);

/* weight and bias: n elements, or NULL. */
int mla_rms_norm_run(mla_backend *be, mla_rows y, mla_rows x, mla_buffer *weight, uint32_t rows,
                     uint32_t n, float eps, uint32_t store);
int mla_layer_norm_run(mla_backend *be, mla_rows y, mla_rows x, mla_buffer *weight,
                       mla_buffer *bias, uint32_t rows, uint32_t n, float eps, uint32_t store);

/*
 * Rotary embedding of the first `dims` columns of rows of `width`; the row of query l is at
 * position offset + l, times `scale`. Pair i turns by position * scale * base^(-2 i / dims) radians
 * (mlx.nn.RoPE); interleaved is MLX's traditional=True.
 */
typedef struct {
	uint32_t rows, queries, dims, width;
	bool interleaved;
	mla_rows x, y;
	int32_t offset;
	double base, scale;
	/*
	 * Instead of base, or NULL: [dims / 2] radians at position 1. Position times scale and the
	 * angle are then rounded to f32, as in frameworks that keep angles so.
	 */
	const double *speed;
	uint32_t store;
} mla_rope;
int mla_rope_run(mla_backend *be, const mla_rope *r);

/* y is dense [n0][n1][n2]. */
int mla_binary_run(mla_backend *be, mla_view y, mla_view a, mla_view b, uint32_t op,
                   const uint32_t n[3], uint32_t store);
int mla_unary_run(mla_backend *be, mla_view y, mla_view a, uint32_t op, const uint32_t n[3],
                  uint32_t store);
int mla_where_run(mla_backend *be, mla_view y, mla_view c, mla_view a, mla_view b,
                  const uint32_t n[3], uint32_t store); /* c ? a : b */

/* x [outer][n][inner] -> y [outer][inner]; y.step[1] is not used. argmax writes int32. */
int mla_reduce_run(mla_backend *be, mla_view y, mla_view x, uint32_t op, uint32_t outer, uint32_t n,
                   uint32_t inner, uint32_t store);
int mla_argmax_run(mla_backend *be, mla_view y, mla_view x, uint32_t outer, uint32_t n,
                   uint32_t inner);

/*
 * Axis 1 of [outer][n][inner] is indexed by int32 `index`; x (take) or y (put) has `size` there.
 * Negative indices count from the end. Out of range: take gives NaN, put stores nothing.
 */
int mla_take_run(mla_backend *be, mla_view y, mla_view x, mla_view index, uint32_t outer,
                 uint32_t n, uint32_t inner, uint32_t size);
int mla_put_run(mla_backend *be, mla_view y, mla_view x, mla_view index, uint32_t outer, uint32_t n,
                uint32_t inner, uint32_t size);

/* index [rows][k] int32, ascending: the k largest as a set. k <= n < 2^24, else MLA_ECONFIG. */
int mla_topk_run(mla_backend *be, mla_buffer *index, mla_rows x, uint32_t rows, uint32_t n,
                 uint32_t k);

/*
 * Windows first .. first + count of `window` rows of x [total][dims]. Gated: the weights are the
 * softmax inside the window of gate[t][d] + pos[t % window][d]; a step of 0 shares one over d.
 */
typedef struct {
	uint32_t mode, first, count, window, total, dims;
	mla_rows x, y;
	mla_view gate, pos; /* step[0] along rows, step[1] along columns */
	uint32_t store;
} mla_pool_windows;
int mla_pool_windows_run(mla_backend *be, const mla_pool_windows *p);

/*
 * y[b][m][n] = x[b][m][k] W[b], affine-quantised along the last axis of W: [n][k] when transposed,
 * else [k][n]; packed words, scales and biases as engine/quant.h has them (there bf16, here as
 * f32).
 */
typedef struct {
	uint32_t batch, w_batch; /* batches, and how many different W: batch % w_batch */
	uint32_t m, n, k, bits, group;
	bool transposed;
	mla_buffer *x, *words, *scales, *biases, *y; /* dense */
	uint32_t store;
} mla_qmm;
int mla_qmm_run(mla_backend *be, const mla_qmm *q);

#endif

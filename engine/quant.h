/*
 * Affine quantisation of weights along the last axis, in MLX's convention (mlx.core.quantize, mode
 * "affine"), which is, in our words:
 *
 *   - a group of consecutive weights shares a scale s and a bias b, and w is about s q + b with an
 *     unsigned code q of 4 or 8 bits;
 *   - s starts as (max - min) / (2^bits - 1), at least 1e-7, and is negative unless min is larger
 * in magnitude than max; the "edge" is the extreme larger in magnitude;
 *   - so that 0 has a code, s becomes edge / round(edge / s) and b the edge; where that quotient
 *     rounds to 0, s stays and b is 0;
 *   - codes are round((w - b) / s), half to even, held in range, with s and b still in f32; s and b
 *     are stored in the format of the weights, here bf16;
 *   - the codes of a row are packed into 32-bit words, the first in the lowest bits.
 *
 * Dequantised weights are f32: s q + b rounded once, and not again to bf16, as in a kernel that
 * expands codes while it multiplies. In f64 they are those same f32 numbers, so that the oracle and
 * the bf16 path see the same weights.
 */
#ifndef MLA_ENGINE_QUANT_H
#define MLA_ENGINE_QUANT_H

#include "engine/tensor.h"

/* Either codes, scales and biases, or dense; all are loans from the engine. */
typedef struct {
	uint32_t bits;      /* 4 or 8; 16 when dense */
	uint32_t group;     /* weights to a scale; 0 when dense */
	mla_tensor *codes;  /* int32 words [..., size * bits / 32] */
	mla_tensor *scales; /* bf16 [..., size / group] */
	mla_tensor *biases; /* bf16, same shape */
	mla_tensor *dense;  /* bf16 [..., size], where no group divides the last axis */
	uint32_t ndim;      /* of the weights */
	int64_t shape[MLA_DIMS];
} mla_quantised;

/* The largest of 128, 64 and 32 that divides `size`; 0: it stays dense bf16. */
uint32_t mla_quant_group(int64_t size);

/*
 * `w` is taken as bf16; the largest group that divides the last axis, else dense. MLA_ECONFIG for
 * other numbers of bits, MLA_ERAISE without a last axis.
 */
int mla_quantise(mla_quantised *out, mla_engine *e, const mla_tensor *w, uint32_t bits);

/* With the group that a program asks for: MLA_ERAISE when it is not 32, 64 or 128 or does not fit.
 */
int mla_quantise_groups(mla_quantised *out, mla_engine *e, const mla_tensor *w, uint32_t bits,
                        uint32_t group);

/*
 * The three parts of a quantised tensor, such as slices of a quantised cache, put together again.
 * MLA_ERAISE when their shapes or formats do not belong together.
 */
int mla_quantised_join(mla_quantised *out, mla_tensor *codes, mla_tensor *scales,
                       mla_tensor *biases, uint32_t bits, uint32_t group);

/* As f32, or f64 in an oracle engine. */
int mla_dequantise(mla_tensor **out, mla_engine *e, const mla_quantised *q);

/*
 * x @ w^T (transpose), or x @ w: w's last two axes are [outputs, inputs] as in MLX's layers. Sums
 * in f32, stored in the format of x.
 */
int mla_quantised_matmul(mla_tensor **out, mla_engine *e, const mla_tensor *x,
                         const mla_quantised *w, bool transpose);

#endif

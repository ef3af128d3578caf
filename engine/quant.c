/* The affine codes. Owns the convention; multiplies through matmul.h. */
#include "engine/quant.h"

#include "engine/matmul.h"
#include "engine/move.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <math.h>

enum { LARGEST_GROUP = 128 };

uint32_t mla_quant_group(int64_t size)
{
	for (uint32_t group = LARGEST_GROUP; group >= 32; group /= 2)
		if (size > 0 && size % group == 0)
			return group;
	return 0;
}

typedef struct {
	float scale, bias;
} affine;

static affine fit(const float *w, uint32_t group, uint32_t bits)
{
	const float levels = (float)((1u << bits) - 1);
	float low = w[0], high = w[0], edge, steps;
	affine fitted = {0, 0};

	for (uint32_t i = 1; i < group; i++) {
		low = w[i] < low ? w[i] : low;
		high = w[i] > high ? w[i] : high;
	}
	fitted.scale = fmaxf((high - low) / levels, 1e-7f);
	edge = fabsf(low) > fabsf(high) ? low : high;
	if (edge == high)
		fitted.scale = -fitted.scale;
	steps = rintf(edge / fitted.scale);
	if (steps != 0) {
		fitted.scale = edge / steps;
		fitted.bias = edge;
	}
	return fitted;
}

static uint32_t code_of(float w, affine a, uint32_t bits)
{
	const float levels = (float)((1u << bits) - 1);
	float q = rintf((w - a.bias) / a.scale);

	/* Written so that a NaN becomes 0. */
	return q > 0 ? (uint32_t)(q < levels ? q : levels) : 0;
}

/* All groups of a contiguous bf16 tensor; they never cross the end of a row. */
static void encode(mla_quantised *q, const mla_tensor *w)
{
	const uint32_t per_word = 32 / q->bits;
	int32_t *words = mla_tensor__data(q->codes);

	for (int64_t g = 0; g < q->scales->count; g++) {
		float row[LARGEST_GROUP];
		affine a;

		mla_row_load_f32(row, w, w->offset + g * q->group, 1, q->group);
		a = fit(row, q->group, q->bits);
		mla_row_store_f32(q->scales, g, 1, &a.scale, 1);
		mla_row_store_f32(q->biases, g, 1, &a.bias, 1);
		for (uint32_t i = 0; i < q->group; i += per_word) {
			uint32_t word = 0;

			for (uint32_t k = 0; k < per_word; k++)
				word |= code_of(row[i + k], a, q->bits) << k * q->bits;
			words[(g * q->group + i) / per_word] = (int32_t)word;
		}
	}
}

/* Casts to bf16 in oracle mode too: the rounding of weights happens before either precision. */
static int as_bf16(mla_tensor **out, mla_engine *e, const mla_tensor *w)
{
	int error;

	if ((error = mla_tensor_new(out, e, MLA_BF16, w->ndim, w->shape)) < 0)
		return error;
	return mla_move__into(e, *out, w, "quantize");
}

int mla_quantise(mla_quantised *out, mla_engine *e, const mla_tensor *w, uint32_t bits)
{
	mla_quantised q = {.bits = bits, .ndim = w->ndim};
	int64_t shape[MLA_DIMS], size;
	mla_tensor *source;
	int error;

	if (bits != 4 && bits != 8)
		return mla_error(MLA_ECONFIG, "weights of %u bits: 4 or 8 are supported", bits);
	if (w->ndim == 0)
		return mla_error(MLA_ERAISE, "quantize: ()");
	if ((error = as_bf16(&source, e, w)) < 0)
		return error;
	for (uint32_t i = 0; i < w->ndim; i++)
		q.shape[i] = shape[i] = w->shape[i];
	size = shape[w->ndim - 1];
	q.group = mla_quant_group(size);
	if (q.group == 0) {
		q.bits = 16;
		q.dense = source;
		*out = q;
		return 0;
	}
	shape[w->ndim - 1] = size * bits / 32;
	if ((error = mla_tensor_new(&q.codes, e, MLA_I32, w->ndim, shape)) < 0)
		return error;
	shape[w->ndim - 1] = size / q.group;
	if ((error = mla_tensor_new(&q.scales, e, MLA_BF16, w->ndim, shape)) < 0 ||
	    (error = mla_tensor_new(&q.biases, e, MLA_BF16, w->ndim, shape)) < 0)
		return error;
	if (mla_tensor_has_data(source))
		encode(&q, source);
	mla_tensor_drop(e, source);
	*out = q;
	return 0;
}

static void decode(mla_tensor *out, const mla_quantised *q)
{
	const uint32_t per_word = 32 / q->bits, mask = (1u << q->bits) - 1;
	const int32_t *words = mla_tensor__data(q->codes);

	for (int64_t g = 0; g < q->scales->count; g++) {
		double row[LARGEST_GROUP], scale, bias;

		mla_row_load(&scale, q->scales, g, 1, 1);
		mla_row_load(&bias, q->biases, g, 1, 1);
		for (uint32_t i = 0; i < q->group; i++) {
			uint32_t word = (uint32_t)words[(g * q->group + i) / per_word];

			/* 8 by 8 bits: the product is exact, so the sum is rounded once. */
			row[i] = (float)(scale * (word >> i % per_word * q->bits & mask) + bias);
		}
		mla_row_store(out, g * q->group, 1, row, q->group);
	}
}

int mla_dequantise(mla_tensor **out, mla_engine *e, const mla_quantised *q)
{
	int error;

	if ((error = mla_tensor_new(out, e, mla_engine_dtype(e, MLA_F32), q->ndim, q->shape)) < 0)
		return error;
	if (q->dense)
		return mla_move__into(e, *out, q->dense, "dequantize");
	if ((error = mla_engine__spend(e, MLA_WORK_MOVE, "dequantize", (uint64_t)(*out)->count,
	                               (uint64_t)(*out)->count * sizeof(float))) < 0)
		return error;
	if (mla_tensor_has_data(*out))
		decode(*out, q);
	return 0;
}

int mla_quantised_matmul(mla_tensor **out, mla_engine *e, const mla_tensor *x,
                         const mla_quantised *w, bool transpose)
{
	mla_tensor *dense, *view;
	int error;

	if ((error = mla_dequantise(&dense, e, w)) < 0)
		return error;
	view = dense;
	if (!transpose || (error = mla_view_swapaxes(&view, e, dense, -1, -2)) == 0)
		error = mla_matmul_as(out, e, x, view, x->dtype);
	if (view != dense)
		mla_tensor_drop(e, view);
	mla_tensor_drop(e, dense);
	return error;
}

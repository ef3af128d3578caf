/* The affine codes. Owns the convention; multiplies through matmul.h. */
#include "engine/quant.h"

#include "engine/device.h"
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

static int check_bits(uint32_t bits)
{
	if (bits != 4 && bits != 8)
		return mla_error(MLA_ECONFIG, "weights of %u bits: 4 or 8 are supported", bits);
	return 0;
}

static int quantise(mla_quantised *out, mla_engine *e, const mla_tensor *source, uint32_t bits,
                    uint32_t group)
{
	mla_quantised q = {.bits = bits, .group = group, .ndim = source->ndim};
	int64_t shape[MLA_DIMS], *last = &shape[source->ndim - 1], size;
	int error;

	for (uint32_t i = 0; i < source->ndim; i++)
		q.shape[i] = shape[i] = source->shape[i];
	size = *last;
	*last = size * bits / 32;
	if ((error = mla_tensor_new(&q.codes, e, MLA_I32, q.ndim, shape)) < 0)
		return error;
	*last = size / group;
	if ((error = mla_tensor_new(&q.scales, e, MLA_BF16, q.ndim, shape)) < 0 ||
	    (error = mla_tensor_new(&q.biases, e, MLA_BF16, q.ndim, shape)) < 0)
		return error;
	if (mla_tensor_has_data(source) && mla_tensor_has_data(q.codes))
		encode(&q, source);
	*out = q;
	return 0;
}

int mla_quantise(mla_quantised *out, mla_engine *e, const mla_tensor *w, uint32_t bits)
{
	mla_tensor *source;
	uint32_t group;
	int error;

	if ((error = check_bits(bits)) < 0)
		return error;
	if (w->ndim == 0)
		return mla_error(MLA_ERAISE, "quantize: ()");
	if ((error = as_bf16(&source, e, w)) < 0)
		return error;
	group = mla_quant_group(w->shape[w->ndim - 1]);
	if (group == 0) {
		*out = (mla_quantised){.bits = 16, .ndim = w->ndim, .dense = source};
		for (uint32_t i = 0; i < w->ndim; i++)
			out->shape[i] = w->shape[i];
		return 0;
	}
	error = quantise(out, e, source, bits, group);
	mla_tensor_drop(e, source);
	return error;
}

static bool known_group(uint32_t group)
{
	return group == 32 || group == 64 || group == LARGEST_GROUP;
}

int mla_quantise_groups(mla_quantised *out, mla_engine *e, const mla_tensor *w, uint32_t bits,
                        uint32_t group)
{
	char text[MLA_SHAPE_TEXT];
	mla_tensor *source;
	int error;

	if ((error = check_bits(bits)) < 0)
		return error;
	if (w->ndim == 0 || !known_group(group) || w->shape[w->ndim - 1] % group)
		return mla_error(MLA_ERAISE, "quantize: %s in groups of %u",
		                 mla_shape_text(text, w->ndim, w->shape), group);
	if ((error = as_bf16(&source, e, w)) < 0)
		return error;
	error = quantise(out, e, source, bits, group);
	mla_tensor_drop(e, source);
	return error;
}

int mla_quantised_join(mla_quantised *out, mla_tensor *codes, mla_tensor *scales,
                       mla_tensor *biases, uint32_t bits, uint32_t group)
{
	char x[MLA_SHAPE_TEXT], y[MLA_SHAPE_TEXT], z[MLA_SHAPE_TEXT];
	mla_quantised q = {bits, group, codes, scales, biases, NULL, codes->ndim, {0}};
	bool fits = codes->ndim > 0 && codes->ndim == scales->ndim && codes->ndim == biases->ndim &&
	            codes->dtype == MLA_I32 && mla_dtype_is_float(scales->dtype) &&
	            mla_dtype_is_float(biases->dtype);
	int error;

	if ((error = check_bits(bits)) < 0)
		return error;
	for (uint32_t i = 0; fits && i < q.ndim; i++) {
		bool last = i == q.ndim - 1;

		q.shape[i] = last ? codes->shape[i] * 32 / bits : codes->shape[i];
		fits = scales->shape[i] == biases->shape[i] &&
		       q.shape[i] == scales->shape[i] * (last ? (int64_t)group : 1);
	}
	if (!fits || !known_group(group))
		return mla_error(MLA_ERAISE, "quantised parts of %s, %s and %s in groups of %u",
		                 mla_shape_text(x, codes->ndim, codes->shape),
		                 mla_shape_text(y, scales->ndim, scales->shape),
		                 mla_shape_text(z, biases->ndim, biases->shape), group);
	*out = q;
	return 0;
}

/* One row of the last axis; the parts may be slices of larger tensors. */
static void decode_row(mla_tensor *out, const mla_quantised *q, int64_t row)
{
	const uint32_t per_word = 32 / q->bits, mask = (1u << q->bits) - 1, last = q->ndim - 1;
	const int64_t codes = mla_walk_line(q->codes, row), scales = mla_walk_line(q->scales, row);
	const int64_t biases = mla_walk_line(q->biases, row), size = q->shape[last];
	const int32_t *words = mla_tensor__data(q->codes);

	for (int64_t g = 0; g < size / q->group; g++) {
		double values[LARGEST_GROUP], scale, bias;

		mla_row_load(&scale, q->scales, scales + g * q->scales->stride[last], 1, 1);
		mla_row_load(&bias, q->biases, biases + g * q->biases->stride[last], 1, 1);
		for (uint32_t i = 0; i < q->group; i++) {
			int64_t at = (g * q->group + i) / per_word * q->codes->stride[last];
			uint32_t word = (uint32_t)words[codes + at];

			/* 8 by 8 bits: the product is exact, so the sum is rounded once. */
			values[i] = (float)(scale * (word >> i % per_word * q->bits & mask) + bias);
		}
		mla_row_store(out, row * size + g * q->group, 1, values, q->group);
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
	if ((*out)->count == 0 || !mla_tensor_has_data(*out) || !mla_tensor_has_data(q->codes))
		return 0;
	for (int64_t row = 0; row < (*out)->count / q->shape[q->ndim - 1]; row++)
		decode_row(*out, q, row);
	return 0;
}

/* The codes go to the kernel as they are; 1: they do not. */
static int by_kernel(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_quantised *w,
                     bool transpose)
{
	mla_tensor shape = {.dtype = MLA_F32, .ndim = w->ndim, .count = 1};
	int error;

	if (!mla_engine__device(e) || w->dense || x->ndim < 2 || w->ndim < 2 ||
	    !mla_dtype_is_float(x->dtype) || !mla_tensor_has_data(x) ||
	    !mla_tensor_has_data(w->codes))
		return 1;
	for (uint32_t i = 0; i < w->ndim; i++) {
		uint32_t last = w->ndim - 1;

		shape.shape[i] = w->shape[transpose && i + 1 >= last ? 2 * last - 1 - i : i];
		shape.count *= shape.shape[i];
	}
	if ((error = mla_matmul__result(out, e, x, &shape, x->dtype)) == 0 &&
	    (error = mla_device_quantised(e, *out, x, w, transpose)) == 1)
		mla_tensor_drop(e, *out);
	return error;
}

int mla_quantised_matmul(mla_tensor **out, mla_engine *e, const mla_tensor *x,
                         const mla_quantised *w, bool transpose)
{
	mla_tensor *dense, *view;
	int error;

	if ((error = by_kernel(out, e, x, w, transpose)) <= 0)
		return error;
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

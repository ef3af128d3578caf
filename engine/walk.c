/* Strided iteration and the only code that reads and writes the elements of buffers. */
#include "engine/walk.h"

static int64_t stride_of(const mla_tensor *t, uint32_t ndim, uint32_t axis)
{
	uint32_t missing = ndim - t->ndim;

	if (axis < missing || t->shape[axis - missing] == 1)
		return 0;
	return t->stride[axis - missing];
}

/* Could the axis in front of `inner` (its size `size`, its strides `step`) be part of the rows? */
static bool joins(const mla_walk *w, const int64_t *stride)
{
	for (uint32_t i = 0; i < w->operands; i++)
		if (stride[i] != w->step[i] * w->width)
			return false;
	return true;
}

void mla_walk_start(mla_walk *w, uint32_t ndim, const int64_t *shape, uint32_t operands,
                    const mla_tensor *const *tensors)
{
	bool any = false;

	*w = (mla_walk){.width = 1, .operands = operands};
	for (uint32_t i = 0; i < operands; i++)
		w->at[i] = tensors[i]->offset;
	for (uint32_t axis = ndim; axis-- > 0;) {
		int64_t stride[MLA_WALK_OPERANDS];

		if (shape[axis] == 0) {
			w->width = 0;
			return;
		}
		if (shape[axis] == 1)
			continue;
		for (uint32_t i = 0; i < operands; i++)
			stride[i] = stride_of(tensors[i], ndim, axis);
		if (!any) {
			w->width = shape[axis];
			for (uint32_t i = 0; i < operands; i++)
				w->step[i] = stride[i];
			any = true;
		} else if (!w->outer && joins(w, stride)) {
			w->width *= shape[axis];
		} else {
			w->shape[w->outer] = shape[axis];
			for (uint32_t i = 0; i < operands; i++)
				w->stride[i][w->outer] = stride[i];
			w->outer++;
		}
	}
}

void mla_walk_lines(mla_walk *w, uint32_t axis, uint32_t operands, const mla_tensor *const *tensors)
{
	mla_tensor without[MLA_WALK_OPERANDS];
	const mla_tensor *views[MLA_WALK_OPERANDS];

	for (uint32_t i = 0; i < operands; i++) {
		mla_tensor *t = &without[i];

		*t = *tensors[i];
		t->ndim--;
		for (uint32_t k = axis; k < t->ndim; k++) {
			t->shape[k] = t->shape[k + 1];
			t->stride[k] = t->stride[k + 1];
		}
		views[i] = t;
	}
	mla_walk_start(w, without[0].ndim, without[0].shape, operands, views);
}

bool mla_walk_next(mla_walk *w)
{
	if (!w->started) {
		w->started = true;
		return w->width > 0;
	}
	for (uint32_t axis = 0; axis < w->outer; axis++) {
		int64_t back = w->shape[axis] - 1;
		bool wraps = w->index[axis] == back;

		w->index[axis] = wraps ? 0 : w->index[axis] + 1;
		for (uint32_t i = 0; i < w->operands; i++)
			w->at[i] += wraps ? -back * w->stride[i][axis] : w->stride[i][axis];
		if (!wraps)
			return true;
	}
	return false;
}

int64_t mla_walk_line(const mla_tensor *t, int64_t number)
{
	int64_t at = t->offset;

	for (uint32_t axis = t->ndim - 1; axis-- > 0;) {
		at += number % t->shape[axis] * t->stride[axis];
		number /= t->shape[axis];
	}
	return at;
}

/* One loop for each format; `read` turns x, the stored element, into a number. */
#define LOAD(type, read)                                                  \
	do {                                                              \
		const type *src = (const type *)mla_tensor__data(t) + at; \
		for (int64_t i = 0; i < n; i++) {                         \
			const type x = src[i * step];                     \
			dst[i] = read;                                    \
		}                                                         \
	} while (0)

#define LOAD_AS(to)                                 \
	switch (t->dtype) {                         \
	case MLA_BOOL:                              \
		LOAD(uint8_t, (to)x);               \
		break;                              \
	case MLA_I32:                               \
		LOAD(int32_t, (to)x);               \
		break;                              \
	case MLA_F16:                               \
		LOAD(uint16_t, mla_f16_to_f32(x));  \
		break;                              \
	case MLA_BF16:                              \
		LOAD(uint16_t, mla_bf16_to_f32(x)); \
		break;                              \
	case MLA_F32:                               \
		LOAD(float, x);                     \
		break;                              \
	case MLA_F64:                               \
		LOAD(double, (to)x);                \
		break;                              \
	}

void mla_row_load(double *dst, const mla_tensor *t, int64_t at, int64_t step, int64_t n)
{
	LOAD_AS(double)
}

void mla_row_load_f32(float *dst, const mla_tensor *t, int64_t at, int64_t step, int64_t n)
{
	LOAD_AS(float)
}

#define STORE(type, write)                                    \
	do {                                                  \
		type *dst = (type *)mla_tensor__data(t) + at; \
		for (int64_t i = 0; i < n; i++)               \
			dst[i * step] = (type)(write);        \
	} while (0)

void mla_row_store(mla_tensor *t, int64_t at, int64_t step, const double *src, int64_t n)
{
	switch (t->dtype) {
	case MLA_BOOL:
		STORE(uint8_t, src[i] != 0);
		break;
	case MLA_I32:
		STORE(int32_t, mla_dtype_round(MLA_I32, src[i]));
		break;
	case MLA_F16:
		STORE(uint16_t, mla_f16_from_f32((float)src[i]));
		break;
	case MLA_BF16:
		STORE(uint16_t, mla_bf16_from_f32((float)src[i]));
		break;
	case MLA_F32:
		STORE(float, src[i]);
		break;
	case MLA_F64:
		STORE(double, src[i]);
		break;
	}
}

void mla_row_store_f32(mla_tensor *t, int64_t at, int64_t step, const float *src, int64_t n)
{
	switch (t->dtype) {
	case MLA_BOOL:
		STORE(uint8_t, src[i] != 0);
		break;
	case MLA_I32:
		STORE(int32_t, mla_dtype_round(MLA_I32, src[i]));
		break;
	case MLA_F16:
		STORE(uint16_t, mla_f16_from_f32(src[i]));
		break;
	case MLA_BF16:
		STORE(uint16_t, mla_bf16_from_f32(src[i]));
		break;
	case MLA_F32:
		STORE(float, src[i]);
		break;
	case MLA_F64:
		STORE(double, src[i]);
		break;
	}
}

void mla_row_convert(double *row, mla_dtype from, mla_dtype to, int64_t n)
{
	/* Every smaller format embeds in a larger one, but for an integer in a float below f64. */
	if (from == to || to == MLA_F64 || from == MLA_BOOL ||
	    (to == MLA_F32 && (from == MLA_F16 || from == MLA_BF16)))
		return;
	for (int64_t i = 0; i < n; i++)
		row[i] = mla_dtype_round(to, row[i]);
}

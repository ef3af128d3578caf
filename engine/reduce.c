/* Reductions along an axis. */
#include "engine/reduce.h"

#include "engine/move.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <math.h>

/* One row of n values in place. */
static void softmax_row(double *row, int64_t n)
{
	double top = -INFINITY, sum = 0;

	for (int64_t i = 0; i < n; i++)
		top = row[i] > top ? row[i] : top;
	for (int64_t i = 0; i < n; i++)
		sum += row[i] = exp(row[i] - top);
	for (int64_t i = 0; i < n; i++)
		row[i] /= sum;
}

/* Offset of row `number` of a tensor whose last axis is the row. */
static int64_t row_at(const mla_tensor *t, int64_t number)
{
	int64_t at = t->offset;

	for (uint32_t axis = t->ndim - 1; axis-- > 0;) {
		at += number % t->shape[axis] * t->stride[axis];
		number /= t->shape[axis];
	}
	return at;
}

static int softmax_last(mla_engine *e, mla_tensor *out, const mla_tensor *t)
{
	int64_t n = t->shape[t->ndim - 1];
	void *row;
	int error;

	if (t->count == 0)
		return 0;
	if ((error = mla_engine__scratch(&row, e, (uint64_t)n, sizeof(double))) < 0)
		return error;
	for (int64_t i = 0; i < t->count / n; i++) {
		mla_row_load(row, t, row_at(t, i), t->stride[t->ndim - 1], n);
		softmax_row(row, n);
		mla_row_store(out, row_at(out, i), out->stride[out->ndim - 1], row, n);
	}
	mla_engine__scratch_free(e, row, (uint64_t)n, sizeof(double));
	return 0;
}

int mla_softmax(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	mla_dtype d = mla_dtype_is_float(t->dtype) ? t->dtype : mla_engine_dtype(e, MLA_F32);
	mla_tensor *from, *to;
	uint64_t bytes;
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "softmax")) < 0 ||
	    (error = mla_tensor_new(out, e, d, t->ndim, t->shape)) < 0)
		return error;
	bytes = (uint64_t)t->count * (mla_dtype_size(t->dtype) + mla_dtype_size(d));
	if ((error = mla_engine__spend(e, MLA_WORK_REDUCE, "softmax", (uint64_t)t->count, bytes)) <
	            0 ||
	    !mla_tensor_has_data(*out) || !mla_tensor_has_data(t))
		return error;
	if ((error = mla_view_moveaxis(&from, e, t, at, -1)) < 0 ||
	    (error = mla_view_moveaxis(&to, e, *out, at, -1)) < 0)
		return error;
	error = softmax_last(e, to, from);
	mla_tensor_drop(e, from);
	mla_tensor_drop(e, to);
	return error;
}

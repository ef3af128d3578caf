/* Reductions: axes are brought to the end, and each line along them is reduced in double. */
#include "engine/reduce.h"

#include "engine/device.h"
#include "engine/move.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <math.h>

static const char *const names[] = {
	[MLA_RED_SUM] = "sum",
	[MLA_RED_MEAN] = "mean",
	[MLA_RED_VAR] = "var",
	[MLA_RED_MAX] = "max",
	[MLA_RED_MIN] = "min",
	[MLA_RED_PROD] = "prod",
	[MLA_RED_LOGSUMEXP] = "logsumexp",
	[MLA_RED_ANY] = "any",
	[MLA_RED_ALL] = "all",
	[MLA_RED_ARGMAX] = "argmax",
	[MLA_RED_ARGMIN] = "argmin",
};

/* Position of the largest of sign * row, a NaN before everything. */
static int64_t first_best(const double *row, int64_t n, double sign)
{
	int64_t best = 0;

	for (int64_t i = 1; i < n && !isnan(row[best]); i++)
		if (isnan(row[i]) || sign * row[i] > sign * row[best])
			best = i;
	return best;
}

static double sum_of(const double *row, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += row[i];
	return sum;
}

static double variance(const double *row, int64_t n)
{
	double mean = sum_of(row, n) / (double)n, sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (row[i] - mean) * (row[i] - mean);
	return sum / (double)n;
}

static double logsumexp(const double *row, int64_t n)
{
	double top = row[first_best(row, n, 1)], sum = 0;

	if (isinf(top) || isnan(top))
		return top;
	for (int64_t i = 0; i < n; i++)
		sum += exp(row[i] - top);
	return top + log(sum);
}

static double reduced(mla_reduction op, const double *row, int64_t n)
{
	double product = 1;
	int64_t truths = 0;

	switch (op) {
	case MLA_RED_SUM:
		return sum_of(row, n);
	case MLA_RED_MEAN:
		return sum_of(row, n) / (double)n;
	case MLA_RED_VAR:
		return variance(row, n);
	case MLA_RED_MAX:
		return row[first_best(row, n, 1)];
	case MLA_RED_MIN:
		return row[first_best(row, n, -1)];
	case MLA_RED_PROD:
		for (int64_t i = 0; i < n; i++)
			product *= row[i];
		return product;
	case MLA_RED_LOGSUMEXP:
		return logsumexp(row, n);
	case MLA_RED_ANY:
	case MLA_RED_ALL:
		for (int64_t i = 0; i < n; i++)
			truths += row[i] != 0;
		return op == MLA_RED_ANY ? truths > 0 : truths == n;
	case MLA_RED_ARGMAX:
		return (double)first_best(row, n, 1);
	case MLA_RED_ARGMIN:
		return (double)first_best(row, n, -1);
	}
	return NAN;
}

static mla_dtype result_dtype(const mla_engine *e, mla_reduction op, mla_dtype d)
{
	if (op == MLA_RED_ANY || op == MLA_RED_ALL)
		return MLA_BOOL;
	if (op >= MLA_RED_ARGMAX)
		return MLA_I32;
	if (mla_dtype_is_float(d) || op == MLA_RED_MAX || op == MLA_RED_MIN)
		return d;
	return op == MLA_RED_SUM || op == MLA_RED_PROD ? MLA_I32 : mla_engine_dtype(e, MLA_F32);
}

/* Which axes go, as a set, or MLA_ERAISE. */
static int choose(uint32_t *set, const mla_tensor *t, uint32_t n, const int64_t *axes,
                  const char *op)
{
	int error;

	*set = axes ? 0 : (1u << t->ndim) - 1;
	for (uint32_t i = 0; axes && i < n; i++) {
		uint32_t axis;

		if ((error = mla_tensor_axis(&axis, t, axes[i], op)) < 0)
			return error;
		if (*set & 1u << axis)
			return mla_error(MLA_ERAISE, "%s: axis %u twice", op, axis);
		*set |= 1u << axis;
	}
	return 0;
}

/* A view [..., reduced] of `t`, its last axis all the axes of the set in order. */
static int gathered(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t set)
{
	int64_t axes[MLA_DIMS], shape[MLA_DIMS], line = 1;
	uint32_t n = 0, kept;
	mla_tensor *turned;
	int error;

	for (uint32_t i = 0; i < t->ndim; i++)
		if (!(set & 1u << i)) {
			shape[n] = t->shape[i];
			axes[n++] = i;
		}
	kept = n;
	for (uint32_t i = 0; i < t->ndim; i++)
		if (set & 1u << i) {
			line *= t->shape[i];
			axes[n++] = i;
		}
	if ((error = mla_view_transpose(&turned, e, t, n, axes)) < 0)
		return error;
	if (n == kept + 1) {
		*out = turned;
		return 0;
	}
	if (kept == MLA_DIMS)
		return mla_error(MLA_ELIMIT, "a reduction over no axis of %d dimensions", MLA_DIMS);
	shape[kept] = line;
	return mla_view_reshape(out, e, turned, kept + 1, shape);
}

/* 1: not on a kernel. */
static int by_kernel(mla_engine *e, mla_tensor *out, mla_reduction op, const mla_tensor *t)
{
	mla_device_sum sum;

	switch (op) {
	case MLA_RED_SUM:
		sum = MLA_DEVICE_SUM;
		break;
	case MLA_RED_MEAN:
		sum = MLA_DEVICE_MEAN;
		break;
	case MLA_RED_MAX:
		sum = MLA_DEVICE_MAX;
		break;
	case MLA_RED_MIN:
		sum = MLA_DEVICE_MIN;
		break;
	default:
		return mla_device_none(e, t, names[op]);
	}
	return mla_device_reduce(e, out, sum, t, names[op]);
}

static int reduce_lines(mla_engine *e, mla_tensor *out, mla_reduction op, const mla_tensor *t)
{
	const uint32_t last = t->ndim - 1;
	const int64_t n = t->shape[last];
	void *row;
	int error;

	if ((error = mla_engine__scratch(&row, e, (uint64_t)n, sizeof(double))) < 0)
		return error;
	for (int64_t i = 0; i < out->count; i++) {
		double value;

		mla_row_load(row, t, mla_walk_line(t, i), t->stride[last], n);
		value = reduced(op, row, n);
		if (out->dtype == MLA_I32 && !(value >= INT32_MIN && value <= INT32_MAX)) {
			error = mla_error(MLA_ELIMIT, "%s: an integer beyond 32 bits", names[op]);
			break;
		}
		mla_row_store(out, i, 1, &value, 1);
	}
	mla_engine__scratch_free(e, row, (uint64_t)n, sizeof(double));
	return error;
}

static int reduce_into(mla_tensor **out, mla_engine *e, mla_reduction op, const mla_tensor *t,
                       uint32_t set, bool keep)
{
	char text[MLA_SHAPE_TEXT];
	int64_t shape[MLA_DIMS], line = 1;
	mla_dtype d = result_dtype(e, op, t->dtype);
	mla_tensor *lines;
	uint32_t ndim = 0;
	uint64_t bytes;
	int error;

	for (uint32_t i = 0; i < t->ndim; i++) {
		bool goes = set & 1u << i;

		line *= goes ? t->shape[i] : 1;
		if (!goes || keep)
			shape[ndim++] = goes ? 1 : t->shape[i];
	}
	if (line == 0 && op != MLA_RED_SUM && op != MLA_RED_PROD && op != MLA_RED_ANY &&
	    op != MLA_RED_ALL && op != MLA_RED_MEAN)
		return mla_error(MLA_ERAISE, "%s: no elements in %s", names[op],
		                 mla_shape_text(text, t->ndim, t->shape));
	bytes = (uint64_t)t->count * mla_dtype_size(t->dtype);
	if ((error = mla_tensor_new(out, e, d, ndim, shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_REDUCE, names[op], (uint64_t)t->count, bytes)) <
	            0 ||
	    !mla_tensor_has_data(*out) || !mla_tensor_has_data(t))
		return error;
	if ((error = gathered(&lines, e, t, set)) < 0 ||
	    (error = by_kernel(e, *out, op, lines)) <= 0)
		return error;
	return reduce_lines(e, *out, op, lines);
}

int mla_reduce(mla_tensor **out, mla_engine *e, mla_reduction op, const mla_tensor *t, uint32_t n,
               const int64_t *axes, bool keep)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	uint32_t set;
	int error;

	if (op >= MLA_RED_ARGMAX && axes && n != 1)
		return mla_error(MLA_ERAISE, "%s: %u axes", names[op], n);
	if ((error = choose(&set, t, n, axes, names[op])) < 0)
		return error;
	*out = NULL;
	error = reduce_into(out, e, op, t, set, keep);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

/* What softmax and cumsum share: each line is loaded, worked on in place and stored. */
typedef int (*line_function)(double *row, int64_t n, const void *options);

static int each_line(mla_engine *e, mla_tensor *out, const mla_tensor *t, uint32_t axis,
                     line_function work, const void *options)
{
	const mla_tensor *operands[] = {out, t};
	const int64_t n = t->shape[axis];
	mla_walk w;
	void *row;
	int error;

	if (t->count == 0 || !mla_tensor_has_data(out) || !mla_tensor_has_data(t))
		return 0;
	if ((error = mla_engine__scratch(&row, e, (uint64_t)n, sizeof(double))) < 0)
		return error;
	for (mla_walk_lines(&w, axis, 2, operands); error == 0 && mla_walk_next(&w);)
		for (int64_t i = 0; error == 0 && i < w.width; i++) {
			mla_row_load(row, t, w.at[1] + i * w.step[1], t->stride[axis], n);
			error = work(row, n, options);
			mla_row_store(out, w.at[0] + i * w.step[0], out->stride[axis], row, n);
		}
	mla_engine__scratch_free(e, row, (uint64_t)n, sizeof(double));
	return error;
}

/* The result and the axis, counted from the start. */
static int lines_new(mla_tensor **out, uint32_t *at, mla_engine *e, const mla_tensor *t,
                     int64_t axis, mla_dtype d, const char *op)
{
	uint64_t bytes = (uint64_t)t->count * (mla_dtype_size(t->dtype) + mla_dtype_size(d));
	int error;

	if ((error = mla_tensor_axis(at, t, axis, op)) < 0 ||
	    (error = mla_tensor_new(out, e, d, t->ndim, t->shape)) < 0)
		return error;
	return mla_engine__spend(e, MLA_WORK_REDUCE, op, (uint64_t)t->count, bytes);
}

static int softmax_line(double *row, int64_t n, const void *options)
{
	double top = -INFINITY, sum = 0;

	(void)options;
	for (int64_t i = 0; i < n; i++)
		top = row[i] > top ? row[i] : top;
	for (int64_t i = 0; i < n; i++)
		sum += row[i] = exp(row[i] - top);
	for (int64_t i = 0; i < n; i++)
		row[i] /= sum;
	return 0;
}

int mla_softmax(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	mla_dtype d = mla_dtype_is_float(t->dtype) ? t->dtype : mla_engine_dtype(e, MLA_F32);
	uint32_t at;
	int error;

	if ((error = lines_new(out, &at, e, t, axis, d, "softmax")) < 0 ||
	    !mla_tensor_has_data(*out) || !mla_tensor_has_data(t) ||
	    (error = mla_device_softmax(e, *out, t, at)) <= 0)
		return error;
	return each_line(e, *out, t, at, softmax_line, NULL);
}

typedef struct {
	bool reverse, exclusive, whole;
} cumsum_options;

static int cumsum_line(double *row, int64_t n, const void *options)
{
	const cumsum_options *o = options;
	double sum = 0;

	for (int64_t k = 0; k < n; k++) {
		int64_t i = o->reverse ? n - 1 - k : k;
		double before = sum;

		sum += row[i];
		row[i] = o->exclusive ? before : sum;
		if (o->whole && !(sum >= INT32_MIN && sum <= INT32_MAX))
			return mla_error(MLA_ELIMIT, "cumsum: an integer beyond 32 bits");
	}
	return 0;
}

int mla_cumsum(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis, bool reverse,
               bool exclusive)
{
	mla_dtype d = mla_dtype_is_float(t->dtype) ? t->dtype : MLA_I32;
	cumsum_options o = {reverse, exclusive, d == MLA_I32};
	uint32_t at;
	int error;

	if ((error = lines_new(out, &at, e, t, axis, d, "cumsum")) < 0)
		return error;
	mla_device_none(e, t, "cumsum");
	return each_line(e, *out, t, at, cumsum_line, &o);
}

/* The two norms; only the division by the deviation is done here. */
#include "engine/norm.h"

#include "engine/device.h"
#include "engine/walk.h"

#include <math.h>

static int fits(const mla_tensor *x, const mla_tensor *parameter, const char *op)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];

	if (!parameter || (parameter->ndim == 1 && parameter->shape[0] == x->shape[x->ndim - 1]))
		return 0;
	return mla_error(MLA_ERAISE, "%s: %s with parameters of %s", op,
	                 mla_shape_text(a, x->ndim, x->shape),
	                 mla_shape_text(b, parameter->ndim, parameter->shape));
}

/* One row, centred or not, over its root mean square. */
static void normalise(double *row, int64_t n, bool centre, double epsilon)
{
	double mean = 0, square = 0, factor;

	for (int64_t i = 0; centre && i < n; i++)
		mean += row[i] / (double)n;
	for (int64_t i = 0; i < n; i++) {
		row[i] -= mean;
		square += row[i] * row[i];
	}
	factor = 1 / sqrt(square / (double)n + epsilon);
	for (int64_t i = 0; i < n; i++)
		row[i] *= factor;
}

static int normalised(mla_tensor **out, mla_engine *e, const mla_tensor *x, mla_dtype d,
                      bool centre, double epsilon, const char *op)
{
	const int64_t n = x->shape[x->ndim - 1];
	uint64_t size = mla_dtype_size(x->dtype) + mla_dtype_size(d);
	void *row;
	int error;

	if ((error = mla_tensor_new(out, e, d, x->ndim, x->shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_REDUCE, op, (uint64_t)x->count,
	                               (uint64_t)x->count * size)) < 0 ||
	    x->count == 0 || !mla_tensor_has_data(*out) || !mla_tensor_has_data(x))
		return error;
	if ((error = mla_engine__scratch(&row, e, (uint64_t)n, sizeof(double))) < 0)
		return error;
	for (int64_t i = 0; i < x->count / n; i++) {
		mla_row_load(row, x, mla_walk_line(x, i), x->stride[x->ndim - 1], n);
		normalise(row, n, centre, epsilon);
		mla_row_store(*out, i * n, 1, row, n);
	}
	mla_engine__scratch_free(e, row, (uint64_t)n, sizeof(double));
	return 0;
}

/* Both steps in one kernel; 1: there is none. */
static int by_kernel(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                     const mla_tensor *bias, mla_dtype d, double epsilon, bool centre,
                     const char *op)
{
	uint64_t size = mla_dtype_size(x->dtype) + mla_dtype_size(d);
	int error;

	if (!mla_engine__device(e) || x->count == 0 || !mla_tensor_has_data(x) ||
	    (weight && !mla_tensor_has_data(weight)) || (bias && !mla_tensor_has_data(bias)))
		return 1;
	if ((error = mla_tensor_new(out, e, d, x->ndim, x->shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_REDUCE, op, (uint64_t)x->count,
	                               (uint64_t)x->count * size)) < 0)
		return error;
	return mla_device_norm(e, *out, x, weight, bias, epsilon, centre, op);
}

static int norm(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                const mla_tensor *bias, double epsilon, bool centre)
{
	const char *op = centre ? "layer_norm" : "rms_norm";
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	mla_dtype d = x->dtype;
	int error;

	if (x->ndim == 0 || !mla_dtype_is_float(d))
		return mla_error(MLA_ERAISE, "%s: %u dimensions of %s", op, x->ndim,
		                 mla_dtype_name(d));
	if ((error = fits(x, weight, op)) < 0 || (error = fits(x, bias, op)) < 0)
		return error;
	d = weight ? mla_dtype_promote(d, weight->dtype) : d;
	d = bias ? mla_dtype_promote(d, bias->dtype) : d;
	*out = NULL;
	if ((error = by_kernel(out, e, x, weight, bias, d, epsilon, centre, op)) <= 0)
		return error;
	if ((error = normalised(out, e, x, d, centre, epsilon, op)) == 0 && weight)
		error = mla_binary_op(out, e, MLA_EW_MUL, *out, weight);
	if (error == 0 && bias)
		error = mla_binary_op(out, e, MLA_EW_ADD, *out, bias);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

int mla_rms_norm(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                 double epsilon)
{
	return norm(out, e, x, weight, NULL, epsilon, false);
}

int mla_layer_norm(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                   const mla_tensor *bias, double epsilon)
{
	return norm(out, e, x, weight, bias, epsilon, true);
}

/* Differences of two tensors. Reads both, makes none. */
#include "engine/compare.h"

#include "engine/walk.h"

#include <math.h>

static double ratio(double a, double b)
{
	return a == 0 ? 0 : a / b;
}

static bool same_shape(const mla_tensor *a, const mla_tensor *b)
{
	bool same = a->ndim == b->ndim;

	for (uint32_t i = 0; same && i < a->ndim; i++)
		same = a->shape[i] == b->shape[i];
	return same;
}

static int comparable(const mla_tensor *a, const mla_tensor *b)
{
	char x[MLA_SHAPE_TEXT], y[MLA_SHAPE_TEXT];

	if (!same_shape(a, b))
		return mla_error(MLA_ERAISE, "results of shapes %s and %s",
		                 mla_shape_text(x, a->ndim, a->shape),
		                 mla_shape_text(y, b->ndim, b->shape));
	if (!mla_tensor_has_data(a) || !mla_tensor_has_data(b))
		return mla_error(MLA_EBUG, "comparison of results without data");
	return 0;
}

int mla_compare(mla_comparison *out, const mla_tensor *a, const mla_tensor *reference, mla_dtype d)
{
	const mla_tensor *operands[] = {a, reference};
	double row[MLA_ROW], ref[MLA_ROW], difference = 0, norm = 0;
	mla_comparison c = {.finite = true};
	mla_walk w;
	int error;

	if ((error = comparable(a, reference)) < 0)
		return error;
	for (mla_walk_start(&w, a->ndim, a->shape, 2, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(row, a, w.at[0] + i * w.step[0], w.step[0], n);
			mla_row_load(ref, reference, w.at[1] + i * w.step[1], w.step[1], n);
			for (int64_t k = 0; k < n; k++) {
				double apart = fabs(row[k] - ref[k]);

				c.finite &= isfinite(row[k]) && isfinite(ref[k]);
				c.max_abs = fmax(c.max_abs, apart);
				c.max_reference = fmax(c.max_reference, fabs(ref[k]));
				difference += apart * apart;
				norm += ref[k] * ref[k];
			}
		}
	c.rms_abs = a->count ? sqrt(difference / (double)a->count) : 0;
	c.rms_reference = a->count ? sqrt(norm / (double)a->count) : 0;
	/* fmax passes over a NaN; a report must not show a small number beside one. */
	if (!c.finite)
		c.max_abs = c.rms_abs = NAN;
	c.ulp = ratio(c.max_abs, mla_dtype_ulp(d, c.max_reference));
	c.rel = ratio(c.max_abs, c.max_reference);
	c.rms_rel = ratio(c.rms_abs, c.rms_reference);
	*out = c;
	return 0;
}

bool mla_compare_agrees(const mla_comparison *c, double tolerance)
{
	return c->finite && c->max_abs <= tolerance * c->max_reference;
}

int mla_compare_rows(double *ulp, const mla_tensor *a, const mla_tensor *reference, mla_dtype d)
{
	int64_t n = reference->ndim ? reference->shape[reference->ndim - 1] : 1;
	double worst = 0;
	int error;

	if ((error = comparable(a, reference)) < 0)
		return error;
	for (int64_t first = 0; first < reference->count; first += n) {
		double apart = 0, top = 0;

		for (int64_t i = first; i < first + n; i++) {
			double x = mla_tensor_at(a, i), y = mla_tensor_at(reference, i);

			if (!isfinite(x) || !isfinite(y))
				worst = NAN;
			apart = fmax(apart, fabs(x - y));
			top = fmax(top, fabs(y));
		}
		/* Not fmax: a NaN, once there, stays. */
		if (!isnan(worst) && ratio(apart, mla_dtype_ulp(d, top)) > worst)
			worst = ratio(apart, mla_dtype_ulp(d, top));
	}
	*ulp = worst;
	return 0;
}

bool mla_compare_identical(const mla_tensor *a, const mla_tensor *b)
{
	if (!same_shape(a, b) || a->dtype != b->dtype || !mla_tensor_has_data(a) ||
	    !mla_tensor_has_data(b))
		return false;
	for (int64_t i = 0; i < a->count; i++) {
		double x = mla_tensor_at(a, i);

		if (!isfinite(x) || x != mla_tensor_at(b, i))
			return false;
	}
	return true;
}

/* New tensors of constants and progressions. */
#include "engine/make.h"

#include "engine/walk.h"

#include <math.h>

/* Element i is start + i step. */
static int progression(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                       const int64_t *shape, double start, double step, const char *op)
{
	double row[MLA_ROW];
	mla_tensor *t;
	int error;

	d = mla_engine_dtype(e, d);
	if ((error = mla_tensor_new(&t, e, d, ndim, shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_MOVE, op, (uint64_t)t->count,
	                               (uint64_t)t->count * mla_dtype_size(d))) < 0)
		return error;
	*out = t;
	if (!mla_tensor_has_data(t))
		return 0;
	for (int64_t i = 0; i < t->count; i += MLA_ROW) {
		int64_t n = t->count - i < MLA_ROW ? t->count - i : MLA_ROW;

		for (int64_t k = 0; k < n; k++)
			row[k] = start + (step == 0 ? 0 : (double)(i + k) * step);
		mla_row_store(t, i, 1, row, n);
	}
	return 0;
}

int mla_make_full(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim, const int64_t *shape,
                  double value)
{
	return progression(out, e, d, ndim, shape, value, 0, "full");
}

int mla_make_arange(mla_tensor **out, mla_engine *e, mla_dtype d, double start, double stop,
                    double step)
{
	double count = ceil((stop - start) / step);
	int64_t shape[1];

	if (step == 0 || isnan(count))
		return mla_error(MLA_ERAISE, "arange: from %g to %g by %g", start, stop, step);
	if (count > (double)MLA_ELEMENTS_MAX)
		return mla_error(MLA_ELIMIT, "arange: %.0f elements", count);
	shape[0] = count > 0 ? (int64_t)count : 0;
	return progression(out, e, d, 1, shape, start, step, "arange");
}

int mla_make_lower(mla_tensor **out, mla_engine *e, int64_t rows, int64_t columns, int64_t diagonal)
{
	int64_t shape[] = {rows, columns};
	uint8_t *data;
	int error;

	if (diagonal > MLA_ELEMENTS_MAX || diagonal < -MLA_ELEMENTS_MAX)
		return mla_error(MLA_ELIMIT, "tri: the diagonal is too far");
	if ((error = mla_tensor_new(out, e, MLA_BOOL, 2, shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_MOVE, "tri", (uint64_t)(*out)->count,
	                               (uint64_t)(*out)->count)) < 0 ||
	    !(data = mla_tensor__data(*out)))
		return error;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t k = 0; k < columns; k++)
			data[i * columns + k] = k <= i + diagonal;
	return 0;
}

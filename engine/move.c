/* Copies of strided data. Owns no arithmetic. */
#include "engine/move.h"

#include "engine/view.h"
#include "engine/walk.h"

int mla_move__into(mla_engine *e, mla_tensor *dst, const mla_tensor *src, const char *op)
{
	const mla_tensor *operands[] = {dst, src};
	uint64_t size = mla_dtype_size(dst->dtype) + mla_dtype_size(src->dtype);
	double row[MLA_ROW];
	mla_walk w;
	int error;

	if ((error = mla_engine__spend(e, MLA_WORK_MOVE, op, (uint64_t)dst->count,
	                               (uint64_t)dst->count * size)) < 0 ||
	    !mla_tensor_has_data(dst) || !mla_tensor_has_data(src))
		return error;
	for (mla_walk_start(&w, dst->ndim, dst->shape, 2, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(row, src, w.at[1] + i * w.step[1], w.step[1], n);
			mla_row_store(dst, w.at[0] + i * w.step[0], w.step[0], row, n);
		}
	return 0;
}

static int copy_as(mla_tensor **out, mla_engine *e, const mla_tensor *t, mla_dtype d,
                   const char *op)
{
	int error;

	if ((error = mla_tensor_new(out, e, d, t->ndim, t->shape)) < 0)
		return error;
	return mla_move__into(e, *out, t, op);
}

int mla_move_copy(mla_tensor **out, mla_engine *e, const mla_tensor *t)
{
	return copy_as(out, e, t, t->dtype, "copy");
}

int mla_move_cast(mla_tensor **out, mla_engine *e, const mla_tensor *t, mla_dtype d)
{
	d = mla_engine_dtype(e, d);
	if (d == t->dtype)
		return mla_tensor__view(out, e, t);
	return copy_as(out, e, t, d, "astype");
}

int mla_move_concat(mla_tensor **out, mla_engine *e, const mla_tensor *const *tensors, uint32_t n,
                    int64_t axis)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];
	int64_t shape[MLA_DIMS], from = 0;
	mla_dtype d;
	uint32_t at;
	int error;

	if (n == 0)
		return mla_error(MLA_ERAISE, "concatenate: nothing to join");
	if ((error = mla_tensor_axis(&at, tensors[0], axis, "concatenate")) < 0)
		return error;
	d = tensors[0]->dtype;
	for (uint32_t i = 0; i < tensors[0]->ndim; i++)
		shape[i] = i == at ? 0 : tensors[0]->shape[i];
	for (uint32_t k = 0; k < n; k++) {
		const mla_tensor *t = tensors[k];
		bool fits = t->ndim == tensors[0]->ndim;

		for (uint32_t i = 0; fits && i < t->ndim; i++)
			fits = i == at || t->shape[i] == shape[i];
		if (!fits)
			return mla_error(MLA_ERAISE, "concatenate: %s and %s",
			                 mla_shape_text(a, tensors[0]->ndim, tensors[0]->shape),
			                 mla_shape_text(b, t->ndim, t->shape));
		/* Counts are at most MLA_ELEMENTS_MAX and n is 32 bits, but zero-sized sums are
		 * not. */
		if (__builtin_add_overflow(shape[at], t->shape[at], &shape[at]))
			return mla_error(MLA_ELIMIT, "concatenate: the axis is too long");
		d = mla_dtype_promote(d, t->dtype);
	}
	if ((error = mla_tensor_new(out, e, d, tensors[0]->ndim, shape)) < 0)
		return error;
	for (uint32_t k = 0; k < n; k++) {
		int64_t to = from + tensors[k]->shape[at];
		mla_tensor *part;

		if ((error = mla_view_slice(&part, e, *out, at, from, to, 1)) < 0 ||
		    (error = mla_move__into(e, part, tensors[k], "concatenate")) < 0)
			return error;
		mla_tensor_drop(e, part);
		from = to;
	}
	return 0;
}

/* Copies of strided data. Owns no arithmetic. */
#include "engine/move.h"

#include "analyzer/arena.h"
#include "engine/make.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <inttypes.h>
#include <stdlib.h>

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

int mla_move_stack(mla_tensor **out, mla_engine *e, const mla_tensor *const *tensors, uint32_t n,
                   int64_t axis)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	mla_tensor *expanded = NULL;
	const mla_tensor **views;
	int error = 0;

	*out = NULL;
	if (n == 0)
		return mla_error(MLA_ERAISE, "stack: nothing to join");
	if (axis < 0)
		axis += tensors[0]->ndim + 1;
	views = mla_alloc(n * sizeof(*views));
	for (uint32_t i = 0; i < n && error == 0; i++) {
		error = mla_view_expand(&expanded, e, tensors[i], axis);
		views[i] = expanded;
	}
	if (error == 0)
		error = mla_move_concat(out, e, views, n, axis);
	free(views);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

int mla_move_repeat(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t times,
                    int64_t axis)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	int64_t shape[MLA_DIMS];
	mla_tensor *v;
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "repeat")) < 0)
		return error;
	if (times < 0)
		return mla_error(MLA_ERAISE, "repeat: %" PRId64 " times", times);
	*out = NULL;
	if ((error = mla_view_expand(&v, e, t, at + 1)) < 0)
		goto done;
	for (uint32_t i = 0; i < v->ndim; i++)
		shape[i] = i == at + 1 ? times : v->shape[i];
	if ((error = mla_view_broadcast_to(&v, e, v, v->ndim, shape)) < 0)
		goto done;
	/* Both factors are at most MLA_ELEMENTS_MAX: the view would have been refused otherwise,
	 * unless it is empty. */
	for (uint32_t i = 0; i < t->ndim; i++)
		shape[i] = t->shape[i];
	if (__builtin_mul_overflow(shape[at], times, &shape[at]))
		error = mla_error(MLA_ELIMIT, "repeat: the axis is too long");
	else
		error = mla_view_reshape(out, e, v, t->ndim, shape);
done:
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

int mla_move_pad(mla_tensor **out, mla_engine *e, const mla_tensor *t, const int64_t *before,
                 const int64_t *after, double value)
{
	int64_t shape[MLA_DIMS];
	mla_tensor *inner;
	int error;

	for (uint32_t i = 0; i < t->ndim; i++)
		if (before[i] < 0 || after[i] < 0 ||
		    __builtin_add_overflow(before[i], after[i], &shape[i]) ||
		    __builtin_add_overflow(shape[i], t->shape[i], &shape[i]))
			return mla_error(MLA_ERAISE, "pad: %" PRId64 " and %" PRId64, before[i],
			                 after[i]);
	if ((error = mla_make_full(out, e, t->dtype, t->ndim, shape, value)) < 0 ||
	    (error = mla_tensor__view(&inner, e, *out)) < 0)
		return error;
	for (uint32_t i = 0; i < t->ndim; i++) {
		inner->shape[i] = t->shape[i];
		inner->offset += before[i] * inner->stride[i];
	}
	if ((error = mla_tensor__recount(inner)) == 0)
		error = mla_move__into(e, inner, t, "pad");
	mla_tensor_drop(e, inner);
	return error;
}

static int update_part(mla_engine *e, mla_tensor *t, const mla_part *parts,
                       const mla_tensor *source)
{
	mla_tensor *part = t, *fitted;
	int error;

	for (uint32_t i = 0; i < t->ndim; i++)
		if ((error = mla_view_slice(&part, e, part, i, parts[i].start, parts[i].stop,
		                            parts[i].step)) < 0)
			return error;
	/* Leading axes of size 1 may be missing or too many, as in NumPy's assignment. */
	while (source->ndim > part->ndim && source->shape[0] == 1) {
		if ((error = mla_view_squeeze(&fitted, e, source, 0)) < 0)
			return error;
		source = fitted;
	}
	if ((error = mla_view_broadcast_to(&fitted, e, source, part->ndim, part->shape)) < 0)
		return error;
	return mla_move__into(e, part, fitted, "assignment");
}

int mla_move_update(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_part *parts,
                    const mla_tensor *source)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	int error;

	*out = NULL;
	if ((error = mla_move_copy(out, e, t)) == 0)
		error = update_part(e, *out, parts, source);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

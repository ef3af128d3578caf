/* Views. Owns the rules of axes, slices and broadcasting; copies only through mla_move_copy(). */
#include "engine/view.h"

#include "engine/move.h"

#include <inttypes.h>
#include <string.h>

int mla_view_broadcast_shape(uint32_t *ndim, int64_t *shape, const mla_tensor *const *tensors,
                             uint32_t n, const char *op)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];
	uint32_t dims = 0;

	for (uint32_t i = 0; i < n; i++)
		dims = tensors[i]->ndim > dims ? tensors[i]->ndim : dims;
	for (uint32_t axis = 0; axis < dims; axis++)
		shape[axis] = 1;
	for (uint32_t i = 0; i < n; i++) {
		const mla_tensor *t = tensors[i];

		for (uint32_t axis = 0; axis < t->ndim; axis++) {
			int64_t *have = &shape[dims - t->ndim + axis];

			if (*have != 1 && t->shape[axis] != 1 && *have != t->shape[axis])
				return mla_error(
					MLA_ERAISE, "%s: %s and %s", op,
					mla_shape_text(a, tensors[0]->ndim, tensors[0]->shape),
					mla_shape_text(b, t->ndim, t->shape));
			if (*have == 1)
				*have = t->shape[axis];
		}
	}
	*ndim = dims;
	return 0;
}

int mla_view_transpose(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t n,
                       const int64_t *axes)
{
	char text[MLA_SHAPE_TEXT];
	uint32_t from[MLA_DIMS] = {0}, seen = 0;
	int error;

	if (axes && n != t->ndim)
		return mla_error(MLA_ERAISE, "transpose: %u axes for %s", n,
		                 mla_shape_text(text, t->ndim, t->shape));
	for (uint32_t i = 0; i < t->ndim; i++) {
		from[i] = t->ndim - 1 - i;
		if (axes && (error = mla_tensor_axis(&from[i], t, axes[i], "transpose")) < 0)
			return error;
		if (seen & 1u << from[i])
			return mla_error(MLA_ERAISE, "transpose: axis %u twice", from[i]);
		seen |= 1u << from[i];
	}
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	for (uint32_t i = 0; i < t->ndim; i++) {
		(*out)->shape[i] = t->shape[from[i]];
		(*out)->stride[i] = t->stride[from[i]];
	}
	return 0;
}

int mla_view_swapaxes(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t a, int64_t b)
{
	int64_t axes[MLA_DIMS];
	uint32_t i, j;
	int error;

	if ((error = mla_tensor_axis(&i, t, a, "swapaxes")) < 0 ||
	    (error = mla_tensor_axis(&j, t, b, "swapaxes")) < 0)
		return error;
	for (uint32_t k = 0; k < t->ndim; k++)
		axes[k] = k == i ? j : k == j ? i : k;
	return mla_view_transpose(out, e, t, t->ndim, axes);
}

int mla_view_moveaxis(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t from,
                      int64_t to)
{
	int64_t axes[MLA_DIMS];
	uint32_t source, target, k = 0;
	int error;

	if ((error = mla_tensor_axis(&source, t, from, "moveaxis")) < 0 ||
	    (error = mla_tensor_axis(&target, t, to, "moveaxis")) < 0)
		return error;
	for (uint32_t i = 0; i < t->ndim; i++) {
		if (k == source)
			k++;
		axes[i] = i == target ? source : k++;
	}
	return mla_view_transpose(out, e, t, t->ndim, axes);
}

/* A bound of a slice brought into [low, high]. */
static int64_t clip(int64_t bound, int64_t size, int64_t low, int64_t high)
{
	if (bound < 0)
		bound = bound < -size ? low : bound + size;
	return bound < low ? low : bound > high ? high : bound;
}

int mla_view_slice(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis,
                   int64_t start, int64_t stop, int64_t step)
{
	int64_t size, length;
	uint32_t i;
	int error;

	if ((error = mla_tensor_axis(&i, t, axis, "slice")) < 0)
		return error;
	if (step == 0)
		return mla_error(MLA_ERAISE, "slice: step 0");
	size = t->shape[i];
	if (step > 0) {
		start = clip(start, size, 0, size);
		stop = clip(stop, size, 0, size);
		length = stop > start ? (stop - start - 1) / step + 1 : 0;
	} else {
		/* Going down, the position before the first element is a legal end. */
		start = clip(start, size, -1, size - 1);
		stop = clip(stop, size, -1, size - 1);
		length = start > stop ? (start - stop - 1) / -(step < -size ? -size : step) + 1 : 0;
	}
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	(*out)->shape[i] = length;
	if (length > 0)
		(*out)->offset += start * t->stride[i];
	if (length > 1)
		(*out)->stride[i] = step * t->stride[i];
	return mla_tensor__recount(*out);
}

static void remove_axis(mla_tensor *t, uint32_t axis)
{
	for (uint32_t i = axis; i + 1 < t->ndim; i++) {
		t->shape[i] = t->shape[i + 1];
		t->stride[i] = t->stride[i + 1];
	}
	t->ndim--;
}

int mla_view_index(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis,
                   int64_t index)
{
	char text[MLA_SHAPE_TEXT];
	uint32_t i;
	int error;

	if ((error = mla_tensor_axis(&i, t, axis, "index")) < 0)
		return error;
	if (index < -t->shape[i] || index >= t->shape[i])
		return mla_error(MLA_ERAISE, "index: %" PRId64 " on axis %u of %s", index, i,
		                 mla_shape_text(text, t->ndim, t->shape));
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	(*out)->offset += (index < 0 ? index + t->shape[i] : index) * t->stride[i];
	remove_axis(*out, i);
	return mla_tensor__recount(*out);
}

int mla_view_broadcast_to(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t ndim,
                          const int64_t *shape)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];
	bool fits = ndim >= t->ndim && ndim <= MLA_DIMS;
	mla_tensor *v;
	int error;

	for (uint32_t i = 0; fits && i < t->ndim; i++) {
		int64_t want = shape[ndim - t->ndim + i];

		fits = want == t->shape[i] || (t->shape[i] == 1 && want >= 0);
	}
	if (!fits)
		return mla_error(MLA_ERAISE, "broadcast_to: %s to %s",
		                 mla_shape_text(a, t->ndim, t->shape),
		                 mla_shape_text(b, ndim > MLA_DIMS ? MLA_DIMS : ndim, shape));
	if ((error = mla_tensor__view(&v, e, t)) < 0)
		return error;
	v->ndim = ndim;
	for (uint32_t i = 0; i < ndim; i++) {
		uint32_t missing = ndim - t->ndim;
		bool repeats = i < missing || t->shape[i - missing] == 1;

		v->shape[i] = shape[i];
		v->stride[i] = repeats ? 0 : t->stride[i - missing];
	}
	*out = v;
	return mla_tensor__recount(v);
}

int mla_view_expand(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	char text[MLA_SHAPE_TEXT];
	int64_t at = axis < 0 ? axis + t->ndim + 1 : axis;
	int error;

	if (at < 0 || at > t->ndim)
		return mla_error(MLA_ERAISE, "expand_dims: axis %" PRId64 " of %s", axis,
		                 mla_shape_text(text, t->ndim, t->shape));
	if (t->ndim == MLA_DIMS)
		return mla_error(MLA_ELIMIT, "expand_dims: more than %d dimensions", MLA_DIMS);
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	for (uint32_t i = (*out)->ndim++; i > at; i--) {
		(*out)->shape[i] = (*out)->shape[i - 1];
		(*out)->stride[i] = (*out)->stride[i - 1];
	}
	(*out)->shape[at] = 1;
	(*out)->stride[at] = 0;
	return 0;
}

int mla_view_squeeze(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	char text[MLA_SHAPE_TEXT];
	uint32_t i;
	int error;

	if ((error = mla_tensor_axis(&i, t, axis, "squeeze")) < 0)
		return error;
	if (t->shape[i] != 1)
		return mla_error(MLA_ERAISE, "squeeze: axis %u of %s", i,
		                 mla_shape_text(text, t->ndim, t->shape));
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	remove_axis(*out, i);
	return 0;
}

bool mla_view_contiguous(const mla_tensor *t)
{
	int64_t stride = 1;

	for (uint32_t i = t->ndim; i-- > 0;) {
		if (t->shape[i] != 1 && t->stride[i] != stride)
			return false;
		stride *= t->shape[i];
	}
	return true;
}

/* The target with its -1 worked out, or MLA_ERAISE. */
static int resolve(int64_t *full, const mla_tensor *t, uint32_t ndim, const int64_t *shape)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];
	uint32_t open = MLA_DIMS;
	int64_t known = 1;
	bool fits = ndim <= MLA_DIMS;

	for (uint32_t i = 0; fits && i < ndim; i++) {
		full[i] = shape[i];
		if (shape[i] == -1) {
			fits = open == MLA_DIMS;
			open = i;
		} else {
			fits = shape[i] >= 0 && !__builtin_mul_overflow(known, shape[i], &known);
		}
	}
	if (fits && open < MLA_DIMS) {
		fits = known != 0 && t->count % known == 0;
		full[open] = fits ? t->count / known : 0;
	} else {
		fits = fits && known == t->count;
	}
	if (!fits)
		return mla_error(MLA_ERAISE, "reshape: %s to %s",
		                 mla_shape_text(a, t->ndim, t->shape),
		                 mla_shape_text(b, ndim > MLA_DIMS ? MLA_DIMS : ndim, shape));
	return 0;
}

int mla_view_reshape(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t ndim,
                     const int64_t *shape)
{
	int64_t full[MLA_DIMS] = {0}, stride = 1;
	mla_tensor *copy;
	int error;

	if ((error = resolve(full, t, ndim, shape)) < 0)
		return error;
	/* Strides that would allow a view of a transposed tensor are rare; a copy is always right.
	 */
	if (!mla_view_contiguous(t)) {
		if ((error = mla_move_copy(&copy, e, t)) < 0)
			return error;
		t = copy;
	}
	if ((error = mla_tensor__view(out, e, t)) < 0)
		return error;
	(*out)->ndim = ndim;
	for (uint32_t i = ndim; i-- > 0;) {
		(*out)->shape[i] = full[i];
		(*out)->stride[i] = stride;
		stride *= full[i];
	}
	return 0;
}

int mla_view_split(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis, uint32_t n,
                   const int64_t *cuts)
{
	int64_t from = 0;
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "split")) < 0)
		return error;
	for (uint32_t i = 0; i <= n; i++) {
		int64_t to = i < n ? cuts[i] : t->shape[at];

		if ((error = mla_view_slice(&out[i], e, t, at, from, to, 1)) < 0)
			return error;
		from = to;
	}
	return 0;
}

/* Gather and scatter, line by line. */
#include "engine/gather.h"

#include "engine/device.h"
#include "engine/move.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <inttypes.h>

static int positions_only(const mla_tensor *at, const char *op)
{
	if (mla_dtype_is_float(at->dtype))
		return mla_error(MLA_ERAISE, "%s: positions of type %s", op,
		                 mla_dtype_name(at->dtype));
	return 0;
}

/* One position, checked against an axis of `size`. */
static int position(int64_t *out, const mla_tensor *at, int64_t element, int64_t size,
                    const char *op)
{
	double value;
	int64_t i;

	mla_row_load(&value, at, element, 1, 1);
	i = (int64_t)value;
	if (i < -size || i >= size)
		return mla_error(MLA_ERAISE, "%s: position %" PRId64 " of %" PRId64, op, i, size);
	*out = i < 0 ? i + size : i;
	return 0;
}

static int spend(mla_engine *e, const mla_tensor *out, const mla_tensor *at, const char *op)
{
	uint64_t size = 2 * mla_dtype_size(out->dtype) + mla_dtype_size(at->dtype);

	return mla_engine__spend(e, MLA_WORK_MOVE, op, (uint64_t)out->count,
	                         (uint64_t)out->count * size);
}

/* The line of `out` at out_at from the line of `t` at t_at, positions from the line of `at`. */
typedef struct {
	mla_tensor *out;
	const mla_tensor *t, *at;
	uint32_t axis;
	const char *op;
} gather;

static int gather_line(const gather *g, int64_t out_at, int64_t t_at, int64_t at_at)
{
	const uint32_t axis = g->axis;
	double value;
	int error;

	for (int64_t i = 0; i < g->out->shape[axis]; i++) {
		int64_t from;

		if ((error = position(&from, g->at, at_at + i * g->at->stride[axis],
		                      g->t->shape[axis], g->op)) < 0)
			return error;
		mla_row_load(&value, g->t, t_at + from * g->t->stride[axis], 1, 1);
		mla_row_store(g->out, out_at + i * g->out->stride[axis], 1, &value, 1);
	}
	return 0;
}

/* The shape in which t and at meet on all axes but one, where `at` decides. */
static int meeting_shape(int64_t *shape, const mla_tensor *t, const mla_tensor *at, uint32_t axis,
                         const char *op)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT];
	bool fits = t->ndim == at->ndim;

	for (uint32_t i = 0; fits && i < t->ndim; i++) {
		fits = i == axis || t->shape[i] == at->shape[i] || t->shape[i] == 1 ||
		       at->shape[i] == 1;
		shape[i] = i == axis || t->shape[i] == 1 ? at->shape[i] : t->shape[i];
	}
	if (!fits)
		return mla_error(MLA_ERAISE, "%s: %s at %s", op,
		                 mla_shape_text(a, t->ndim, t->shape),
		                 mla_shape_text(b, at->ndim, at->shape));
	return 0;
}

int mla_take_along_axis(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
                        int64_t axis)
{
	const char *op = "take_along_axis";
	const mla_tensor *operands[3];
	int64_t shape[MLA_DIMS];
	mla_walk w;
	gather g;
	int error;

	g = (gather){.t = t, .at = at, .op = op};
	if ((error = positions_only(at, op)) < 0 ||
	    (error = mla_tensor_axis(&g.axis, t, axis, op)) < 0 ||
	    (error = meeting_shape(shape, t, at, g.axis, op)) < 0 ||
	    (error = mla_tensor_new(&g.out, e, t->dtype, t->ndim, shape)) < 0 ||
	    (error = spend(e, g.out, at, op)) < 0)
		return error;
	*out = g.out;
	if (!mla_tensor_has_data(g.out) || !mla_tensor_has_data(t) || !mla_tensor_has_data(at) ||
	    (error = mla_device_take(e, g.out, t, at, g.axis)) <= 0)
		return error;
	error = 0;
	operands[0] = g.out;
	operands[1] = t;
	operands[2] = at;
	for (mla_walk_lines(&w, g.axis, 3, operands); error == 0 && mla_walk_next(&w);)
		for (int64_t i = 0; error == 0 && i < w.width; i++)
			error = gather_line(&g, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1],
			                    w.at[2] + i * w.step[2]);
	return error;
}

/* As take_along_axis with the positions as one axis, repeated over all others. */
static int take_lines(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
                      uint32_t axis)
{
	int64_t line[MLA_DIMS], shape[MLA_DIMS];
	mla_tensor *flat, *taken;
	uint32_t n = 0;
	int error;

	for (uint32_t i = 0; i < t->ndim; i++)
		line[i] = i == axis ? at->count : 1;
	for (uint32_t i = 0; i < axis; i++)
		shape[n++] = t->shape[i];
	for (uint32_t i = 0; i < at->ndim; i++)
		shape[n++] = at->shape[i];
	for (uint32_t i = axis + 1; i < t->ndim; i++)
		shape[n++] = t->shape[i];
	if ((error = mla_view_reshape(&flat, e, at, t->ndim, line)) < 0 ||
	    (error = mla_take_along_axis(&taken, e, t, flat, axis)) < 0)
		return error;
	return mla_view_reshape(out, e, taken, n, shape);
}

int mla_take(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
             int64_t axis)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	uint32_t i;
	int error;

	if ((error = positions_only(at, "take")) < 0 ||
	    (error = mla_tensor_axis(&i, t, axis, "take")) < 0)
		return error;
	if (t->ndim - 1 + at->ndim > MLA_DIMS)
		return mla_error(MLA_ELIMIT, "take: %u dimensions, %d allowed",
		                 t->ndim - 1 + at->ndim, MLA_DIMS);
	*out = NULL;
	error = take_lines(out, e, t, at, i);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

typedef struct {
	mla_tensor *out;
	const mla_tensor *at, *values;
	uint32_t axis;
} scatter;

static int scatter_line(const scatter *s, int64_t out_at, int64_t at_at, int64_t values_at)
{
	const uint32_t axis = s->axis;
	double value;
	int error;

	for (int64_t i = 0; i < s->at->shape[axis]; i++) {
		int64_t to;

		if ((error = position(&to, s->at, at_at + i * s->at->stride[axis],
		                      s->out->shape[axis], "put_along_axis")) < 0)
			return error;
		mla_row_load(&value, s->values, values_at + i * s->values->stride[axis], 1, 1);
		mla_row_store(s->out, out_at + to * s->out->stride[axis], 1, &value, 1);
	}
	return 0;
}

/* Both views cover every line of `out`. */
static int put_lines(mla_engine *e, mla_tensor *out, const mla_tensor *at, const mla_tensor *values,
                     uint32_t axis)
{
	int64_t shape[MLA_DIMS];
	mla_tensor *wide_at, *wide_values;
	const mla_tensor *operands[3];
	scatter s;
	mla_walk w;
	int error;

	if ((error = meeting_shape(shape, out, at, axis, "put_along_axis")) < 0)
		return error;
	for (uint32_t i = 0; i < out->ndim; i++)
		if (i != axis)
			shape[i] = out->shape[i];
	if ((error = mla_view_broadcast_to(&wide_at, e, at, out->ndim, shape)) < 0 ||
	    (error = mla_view_broadcast_to(&wide_values, e, values, out->ndim, shape)) < 0 ||
	    !mla_tensor_has_data(out) || !mla_tensor_has_data(at) || !mla_tensor_has_data(values) ||
	    (error = mla_device_put(e, out, wide_at, wide_values, axis)) <= 0)
		return error;
	error = 0;
	s = (scatter){out, wide_at, wide_values, axis};
	operands[0] = out;
	operands[1] = wide_at;
	operands[2] = wide_values;
	for (mla_walk_lines(&w, axis, 3, operands); error == 0 && mla_walk_next(&w);)
		for (int64_t i = 0; error == 0 && i < w.width; i++)
			error = scatter_line(&s, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1],
			                     w.at[2] + i * w.step[2]);
	return error;
}

int mla_put_along_axis(mla_tensor **out, mla_engine *e, const mla_tensor *t, const mla_tensor *at,
                       const mla_tensor *values, int64_t axis)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	uint32_t i;
	int error;

	*out = NULL;
	if ((error = positions_only(at, "put_along_axis")) < 0 ||
	    (error = mla_tensor_axis(&i, t, axis, "put_along_axis")) < 0 ||
	    (error = mla_move_copy(out, e, t)) < 0)
		return error;
	error = put_lines(e, *out, at, values, i);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

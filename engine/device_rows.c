/* Softmax, norms, sums and rotation of rows. */
#include "engine/backend_ops.h"
#include "engine/device_stage.h"

#include <math.h>

/* Rows of `n` in row-major order; false: more than a launch can number. */
static bool rows_of(uint32_t *rows, uint32_t *n, const mla_tensor *t)
{
	int64_t width = t->ndim ? t->shape[t->ndim - 1] : 0;

	if (width < 1 || t->count < 1 || t->count > UINT32_MAX)
		return false;
	*n = (uint32_t)width;
	*rows = (uint32_t)(t->count / width);
	return true;
}

int mla_device_softmax(mla_engine *e, mla_tensor *out, const mla_tensor *t, uint32_t axis)
{
	mla_softmax s = {.batch = 1, .heads = 1, .scale = 1};
	mla_backend *be;
	int error;

	if (out->count == 0)
		return 1;
	be = mla_device__begin(e, "softmax",
	                       mla_device__format(t->dtype) && axis + 1 == t->ndim &&
	                               rows_of(&s.queries, &s.n, t));
	if (!be)
		return 1;
	s.x.row = s.y.row = s.n;
	s.store = mla_device__store(out->dtype);
	if ((error = mla_device__stage_dense(&s.x.buf, e, MLA_SLOT_A, t)) < 0 ||
	    (error = mla_device__room(&s.y.buf, e, MLA_SLOT_OUT, (uint64_t)t->count)) < 0 ||
	    (error = mla_softmax_run(be, &s)) < 0 ||
	    (error = mla_device__fetch(e, out, s.y.buf)) < 0)
		return error;
	mla_device__done(e, "softmax");
	return 0;
}

int mla_device_norm(mla_engine *e, mla_tensor *out, const mla_tensor *x, const mla_tensor *weight,
                    const mla_tensor *bias, double epsilon, bool centre, const char *name)
{
	mla_buffer *w = NULL, *b = NULL;
	mla_rows from = {0}, to = {0};
	uint32_t rows = 0, n = 0, store = mla_device__store(out->dtype);
	mla_backend *be;
	int error;

	if (out->count == 0)
		return 1;
	if (!(be = mla_device__begin(e, name,
	                             mla_device__format(out->dtype) && rows_of(&rows, &n, x))))
		return 1;
	if ((error = mla_device__stage_dense(&from.buf, e, MLA_SLOT_A, x)) < 0 ||
	    (weight && (error = mla_device__stage_dense(&w, e, MLA_SLOT_B, weight)) < 0) ||
	    (bias && (error = mla_device__stage_dense(&b, e, MLA_SLOT_C, bias)) < 0) ||
	    (error = mla_device__room(&to.buf, e, MLA_SLOT_OUT, (uint64_t)x->count)) < 0)
		return error;
	from.row = to.row = n;
	error = centre ? mla_layer_norm_run(be, to, from, w, b, rows, n, (float)epsilon, store)
	               : mla_rms_norm_run(be, to, from, w, rows, n, (float)epsilon, store);
	if (error < 0 || (error = mla_device__fetch(e, out, to.buf)) < 0)
		return error;
	mla_device__done(e, name);
	return 0;
}

int mla_device_reduce(mla_engine *e, mla_tensor *out, mla_device_sum op, const mla_tensor *lines,
                      const char *name)
{
	static const uint32_t kernel[] = {
		[MLA_DEVICE_SUM] = MLA_REDUCE_SUM,
		[MLA_DEVICE_MEAN] = MLA_REDUCE_MEAN,
		[MLA_DEVICE_MAX] = MLA_REDUCE_MAX,
		[MLA_DEVICE_MIN] = MLA_REDUCE_MIN,
	};
	mla_view x = {0}, y = {.step = {1, 1, 0}};
	uint32_t rows = 0, n = 0;
	mla_backend *be;
	int error;

	if (out->count == 0 || !mla_device__format(lines->dtype))
		return 1;
	be = mla_device__begin(e, name, rows_of(&rows, &n, lines));
	if (!be)
		return 1;
	x.step[0] = n;
	x.step[1] = 1;
	if ((error = mla_device__stage_dense(&x.buf, e, MLA_SLOT_A, lines)) < 0 ||
	    (error = mla_device__room(&y.buf, e, MLA_SLOT_OUT, rows)) < 0 ||
	    (error = mla_reduce_run(be, y, x, kernel[op], rows, n, 1,
	                            mla_device__store(out->dtype))) < 0 ||
	    (error = mla_device__fetch(e, out, y.buf)) < 0)
		return error;
	mla_device__done(e, name);
	return 0;
}

enum { POSITIONS = 1 << 24 }; /* whole numbers of an f32 */

/* Whole positions that an f32 holds, for all the rows that start there. */
static bool whole_positions(const mla_tensor *x, const mla_tensor *offset)
{
	const double last = (double)x->shape[x->ndim - 2];

	for (int64_t i = 0; offset && i < offset->count; i++) {
		double at = mla_tensor_at(offset, i);

		if (at != floor(at) || at < -POSITIONS || at + last > POSITIONS)
			return false;
	}
	return last <= POSITIONS;
}

/* Each batch from its own position; one launch where they all have the same. */
static int rotate(mla_backend *be, mla_rope *r, const mla_tensor *offset)
{
	uint32_t launches = offset && offset->count > 1 ? (uint32_t)offset->count : 1;
	uint32_t rows = r->rows;
	int error = 0;

	r->rows = rows / launches;
	for (uint32_t i = 0; i < launches && error == 0; i++) {
		r->x.offset = r->y.offset = (uint64_t)i * r->rows * r->width;
		r->offset = offset ? (int32_t)mla_tensor_at(offset, i) : 0;
		error = mla_rope_run(be, r);
	}
	return error;
}

int mla_device_rope(mla_engine *e, mla_tensor *out, const mla_tensor *x,
                    const mla_device_rotation *d)
{
	mla_rope r = {
		.dims = (uint32_t)d->dims,
		.interleaved = d->interleaved,
		.speed = d->speed,
		.scale = d->scale,
		.store = mla_device__store(out->dtype),
	};
	mla_backend *be;
	int error;

	be = mla_device__begin(e, "rope",
	                       mla_device__format(x->dtype) && rows_of(&r.rows, &r.width, x) &&
	                               whole_positions(x, d->offset));
	if (!be)
		return 1;
	r.queries = (uint32_t)x->shape[x->ndim - 2];
	r.x.row = r.y.row = r.width;
	if ((error = mla_device__stage_dense(&r.x.buf, e, MLA_SLOT_A, x)) < 0 ||
	    (error = mla_device__room(&r.y.buf, e, MLA_SLOT_OUT, (uint64_t)x->count)) < 0 ||
	    (error = rotate(be, &r, d->offset)) < 0 ||
	    (error = mla_device__fetch(e, out, r.y.buf)) < 0)
		return error;
	mla_device__done(e, "rope");
	return 0;
}

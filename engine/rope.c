/* Rotation of pairs. Owns the angles; the rest of the width is copied. */
#include "engine/rope.h"

#include "engine/device.h"
#include "engine/walk.h"

#include <math.h>

/* Through f32, unless this engine keeps everything. */
static double rounded(const mla_engine *e, double x)
{
	return mla_dtype_round(mla_engine_dtype(e, MLA_F32), x);
}

static int check(const mla_tensor *x, const mla_rope_options *o)
{
	char text[MLA_SHAPE_TEXT];
	const mla_tensor *f = o->frequencies, *at = o->offset;

	if (x->ndim < 2 || !mla_dtype_is_float(x->dtype) || o->dims < 0 || o->dims % 2 ||
	    o->dims > x->shape[x->ndim - 1])
		return mla_error(MLA_ERAISE, "rope: %lld dimensions of %s", (long long)o->dims,
		                 mla_shape_text(text, x->ndim, x->shape));
	if (f && (f->ndim != 1 || f->shape[0] != o->dims / 2))
		return mla_error(MLA_ERAISE, "rope: frequencies of %s for %lld dimensions",
		                 mla_shape_text(text, f->ndim, f->shape), (long long)o->dims);
	if (at && at->count != 1 && (at->ndim != 1 || at->shape[0] != x->shape[0]))
		return mla_error(MLA_ERAISE, "rope: offsets of %s for a batch of %lld",
		                 mla_shape_text(text, at->ndim, at->shape), (long long)x->shape[0]);
	return 0;
}

/* The angle of each pair at position 1. */
static void speeds(double *speed, const mla_engine *e, const mla_rope_options *o)
{
	int64_t pairs = o->dims / 2;
	double step = o->frequencies ? 0 : rounded(e, log(o->base) / (double)pairs);

	for (int64_t i = 0; i < pairs; i++)
		speed[i] = rounded(e, o->frequencies ? 1 / mla_tensor_at(o->frequencies, i)
		                                     : exp(rounded(e, -(double)i * step)));
}

static void rotate(double *row, const double *speed, const mla_engine *e, const mla_rope_options *o,
                   double position)
{
	int64_t pairs = o->dims / 2;

	for (int64_t i = 0; i < pairs; i++) {
		double angle = rounded(e, position * speed[i]);
		double c = rounded(e, cos(angle)), s = rounded(e, sin(angle));
		double *a = &row[o->interleaved ? 2 * i : i];
		double *b = &row[o->interleaved ? 2 * i + 1 : i + pairs];
		double first = *a, second = *b;

		*a = first * c - second * s;
		*b = first * s + second * c;
	}
}

static int rotate_all(mla_engine *e, mla_tensor *out, const mla_tensor *x,
                      const mla_rope_options *o)
{
	const int64_t width = x->shape[x->ndim - 1], length = x->shape[x->ndim - 2];
	const int64_t rows = x->count / width, per_batch = rows / x->shape[0];
	double *row, *speed;
	void *room;
	int error;

	if ((error = mla_engine__scratch(&room, e, 2 * (uint64_t)width, sizeof(double))) < 0)
		return error;
	row = room;
	speed = row + width;
	speeds(speed, e, o);
	error = mla_device_rope(e, out, x,
	                        &(mla_device_rotation){.dims = o->dims,
	                                               .interleaved = o->interleaved,
	                                               .scale = o->scale,
	                                               .speed = speed,
	                                               .offset = o->offset});
	if (error <= 0) {
		mla_engine__scratch_free(e, room, 2 * (uint64_t)width, sizeof(double));
		return error;
	}
	for (int64_t i = 0; i < rows; i++) {
		double position = (double)(i % length);

		if (o->offset)
			position +=
				mla_tensor_at(o->offset, o->offset->count == 1 ? 0 : i / per_batch);
		mla_row_load(row, x, mla_walk_line(x, i), x->stride[x->ndim - 1], width);
		rotate(row, speed, e, o, rounded(e, position * o->scale));
		mla_row_store(out, i * width, 1, row, width);
	}
	mla_engine__scratch_free(e, room, 2 * (uint64_t)width, sizeof(double));
	return 0;
}

int mla_rope(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_rope_options *options)
{
	const mla_tensor *f = options->frequencies, *at = options->offset;
	uint64_t bytes = 2 * (uint64_t)x->count * mla_dtype_size(x->dtype);
	int error;

	if ((error = check(x, options)) < 0 ||
	    (error = mla_tensor_new(out, e, x->dtype, x->ndim, x->shape)) < 0 ||
	    (error = mla_engine__spend(e, MLA_WORK_ELEMENTWISE, "rope", (uint64_t)x->count,
	                               bytes)) < 0)
		return error;
	if (x->count == 0 || !mla_tensor_has_data(*out) || !mla_tensor_has_data(x) ||
	    (f && !mla_tensor_has_data(f)) || (at && !mla_tensor_has_data(at)))
		return 0;
	return rotate_all(e, *out, x, options);
}

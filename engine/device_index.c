/* Gather, scatter and partition along an axis. Positions are checked here, moved by kernels. */
#include "engine/backend_ops.h"
#include "engine/device_stage.h"
#include "engine/walk.h"

#include <math.h>
#include <string.h>

/* [outer][n][inner] of a shape around an axis; false: past 32 bits. */
typedef struct {
	uint32_t outer, inner;
} around;

static bool split(around *out, const mla_tensor *t, uint32_t axis)
{
	int64_t outer = 1, inner = 1;

	if (t->count < 1 || t->count > UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < t->ndim; i++) {
		outer *= i < axis ? t->shape[i] : 1;
		inner *= i > axis ? t->shape[i] : 1;
	}
	*out = (around){(uint32_t)outer, (uint32_t)inner};
	return true;
}

/* `t` repeated over the other axes of `shape`. */
static bool repeated(mla_tensor *out, const mla_tensor *t, const mla_tensor *shape, uint32_t axis)
{
	int64_t count = 1;

	*out = *t;
	for (uint32_t i = 0; i < t->ndim; i++) {
		if (i != axis && t->shape[i] == 1) {
			out->shape[i] = shape->shape[i];
			out->stride[i] = 0;
		}
		if (__builtin_mul_overflow(count, out->shape[i], &count))
			return false;
	}
	out->count = count;
	return count > 0 && count <= UINT32_MAX;
}

/* Whole numbers, all of them positions of an axis of `size`. */
static bool positions(const mla_tensor *at, int64_t size)
{
	double row[MLA_ROW];
	mla_walk w;

	if (at->dtype != MLA_I32)
		return false;
	for (mla_walk_start(&w, at->ndim, at->shape, 1, &at); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(row, at, w.at[0] + i * w.step[0], w.step[0], n);
			for (int64_t k = 0; k < n; k++)
				if (row[k] < (double)-size || row[k] >= (double)size)
					return false;
		}
	return true;
}

static mla_view dense(mla_buffer *buf, uint32_t n, uint32_t inner)
{
	return (mla_view){.buf = buf, .step = {n * inner, inner, 1}};
}

int mla_device_take(mla_engine *e, mla_tensor *out, const mla_tensor *t, const mla_tensor *at,
                    uint32_t axis)
{
	const char *op = "take_along_axis";
	mla_buffer *x, *index, *y;
	mla_tensor from, where;
	mla_backend *be;
	uint32_t n, size;
	around a = {0};
	int error;

	if (out->count == 0 || !mla_device__format(t->dtype))
		return 1;
	be = mla_device__begin(e, op,
	                       split(&a, out, axis) && repeated(&from, t, out, axis) &&
	                               repeated(&where, at, out, axis) &&
	                               positions(at, t->shape[axis]));
	if (!be)
		return 1;
	n = (uint32_t)out->shape[axis];
	size = (uint32_t)t->shape[axis];
	if ((error = mla_device__stage_dense(&x, e, MLA_SLOT_A, &from)) < 0 ||
	    (error = mla_device__stage_words(&index, e, MLA_SLOT_B, &where)) < 0 ||
	    (error = mla_device__room(&y, e, MLA_SLOT_OUT, (uint64_t)out->count)) < 0 ||
	    (error = mla_take_run(be, dense(y, n, a.inner), dense(x, size, a.inner),
	                          dense(index, n, a.inner), a.outer, n, a.inner, size)) < 0 ||
	    (error = mla_device__fetch(e, out, y)) < 0)
		return error;
	mla_device__done(e, op);
	return 0;
}

int mla_device_put(mla_engine *e, mla_tensor *out, const mla_tensor *at, const mla_tensor *values,
                   uint32_t axis)
{
	const char *op = "put_along_axis";
	mla_buffer *x, *index, *y;
	mla_backend *be;
	uint32_t n, size;
	around a = {0};
	int error;

	if (out->count == 0 || at->count == 0 || !mla_device__format(out->dtype))
		return 1;
	be = mla_device__begin(e, op,
	                       mla_device__format(values->dtype) && split(&a, out, axis) &&
	                               at->count <= UINT32_MAX && positions(at, out->shape[axis]));
	if (!be)
		return 1;
	n = (uint32_t)at->shape[axis];
	size = (uint32_t)out->shape[axis];
	if ((error = mla_device__stage_dense(&x, e, MLA_SLOT_A, values)) < 0 ||
	    (error = mla_device__stage_words(&index, e, MLA_SLOT_B, at)) < 0 ||
	    (error = mla_device__stage_dense(&y, e, MLA_SLOT_OUT, out)) < 0 ||
	    (error = mla_put_run(be, dense(y, size, a.inner), dense(x, n, a.inner),
	                         dense(index, n, a.inner), a.outer, n, a.inner, size)) < 0 ||
	    (error = mla_device__fetch(e, out, y)) < 0)
		return error;
	mla_device__done(e, op);
	return 0;
}

/*
 * A row of positions from the set of the largest ones (ascending): the others, the smallest of the
 * set, the rest of it. Nothing is promised within a part, so each is in descending order.
 */
static void arrange(int32_t *to, const float *x, uint32_t n, const int32_t *set, uint32_t k)
{
	uint32_t least = 0, at = k, others = 0, rest = n - k + 1;

	for (uint32_t i = 1; i < k; i++)
		if (x[set[i]] < x[set[least]])
			least = i;
	for (uint32_t i = n; i-- > 0;) {
		bool in = at > 0 && (uint32_t)set[at - 1] == i;

		if (!in)
			to[others++] = (int32_t)i;
		else if (--at != least)
			to[rest++] = (int32_t)i;
	}
	to[n - k] = set[least];
}

int mla_device_partition(mla_engine *e, mla_tensor *out, const mla_tensor *t, uint32_t axis,
                         int64_t kth)
{
	const char *op = "argpartition";
	int64_t n = t->shape[axis];
	int32_t *to = mla_tensor__data(out);
	mla_rows x = {.row = (uint32_t)n};
	mla_buffer *set;
	mla_backend *be;
	uint32_t k = (uint32_t)(n - kth);
	int64_t rows;
	int error;

	if (out->count == 0 || !mla_device__format(t->dtype))
		return 1;
	rows = out->count / n;
	be = mla_device__begin(e, op,
	                       axis + 1 == t->ndim && n < 1 << 24 && out->count <= UINT32_MAX);
	if (!be)
		return 1;
	if ((error = mla_device__stage_dense(&x.buf, e, MLA_SLOT_A, t)) < 0 ||
	    (error = mla_device__room(&set, e, MLA_SLOT_OUT, (uint64_t)rows * k)) < 0 ||
	    (error = mla_topk_run(be, set, x, (uint32_t)rows, (uint32_t)n, k)) < 0 ||
	    (error = mla_backend_sync(be)) < 0)
		return error;
	for (int64_t i = 0; i < rows; i++)
		arrange(to + i * n, (const float *)mla_buffer_data(x.buf) + i * n, (uint32_t)n,
		        (const int32_t *)mla_buffer_data(set) + i * k, k);
	mla_device__done(e, op);
	return 0;
}

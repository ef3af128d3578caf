/* A merge sort of pairs, and what is built on it. Stable, no recursion, n log n at worst. */
#include "engine/sort.h"

#include "engine/device.h"
#include "engine/walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
	double value;
	int64_t at;
} item;

static bool before(const item *a, const item *b)
{
	return isnan(b->value) ? !isnan(a->value) : a->value < b->value;
}

static void merge(item *to, const item *from, int64_t low, int64_t middle, int64_t high)
{
	int64_t a = low, b = middle;

	for (int64_t i = low; i < high; i++)
		to[i] = a < middle && (b >= high || !before(&from[b], &from[a])) ? from[a++]
		                                                                 : from[b++];
}

/* `items` and `other` have room for n; the result is in the one returned. */
static item *merge_sort(item *items, item *other, int64_t n)
{
	for (int64_t width = 1; width < n; width *= 2) {
		item *swap = items;

		for (int64_t low = 0; low < n; low += 2 * width) {
			int64_t middle = low + width < n ? low + width : n;
			int64_t high = middle + width < n ? middle + width : n;

			merge(other, items, low, middle, high);
		}
		items = other;
		other = swap;
	}
	return items;
}

static void reverse(item *items, int64_t n)
{
	for (int64_t i = 0; i < n / 2; i++) {
		item aside = items[i];

		items[i] = items[n - 1 - i];
		items[n - 1 - i] = aside;
	}
}

typedef struct {
	int64_t kth;    /* -1: sorted throughout */
	bool positions; /* or values */
} order;

static void sort_line(mla_tensor *out, int64_t out_at, int64_t out_step, const mla_tensor *t,
                      int64_t at, int64_t step, int64_t n, item *room, const order *o)
{
	item *sorted;

	for (int64_t i = 0; i < n; i++) {
		mla_row_load(&room[i].value, t, at + i * step, step, 1);
		room[i].at = i;
	}
	sorted = merge_sort(room, room + n, n);
	if (o->kth >= 0) {
		reverse(sorted, o->kth);
		reverse(sorted + o->kth + 1, n - o->kth - 1);
	}
	for (int64_t i = 0; i < n; i++) {
		double value = o->positions ? (double)sorted[i].at : sorted[i].value;

		mla_row_store(out, out_at + i * out_step, out_step, &value, 1);
	}
}

static int ordered(mla_tensor **out, mla_engine *e, const mla_tensor *t, uint32_t axis,
                   const order *o, const char *op)
{
	const int64_t n = t->shape[axis];
	const mla_tensor *operands[2];
	uint64_t size = mla_dtype_size(t->dtype) + mla_dtype_size(MLA_I32);
	mla_walk w;
	void *room;
	int error;

	if ((error = mla_tensor_new(out, e, o->positions ? MLA_I32 : t->dtype, t->ndim, t->shape)) <
	            0 ||
	    (error = mla_engine__spend(e, MLA_WORK_REDUCE, op, (uint64_t)t->count,
	                               (uint64_t)t->count * size)) < 0 ||
	    t->count == 0 || !mla_tensor_has_data(*out) || !mla_tensor_has_data(t))
		return error;
	error = o->kth >= 0 ? mla_device_partition(e, *out, t, axis, o->kth)
	                    : mla_device_none(e, t, op);
	if (error <= 0)
		return error;
	if ((error = mla_engine__scratch(&room, e, 2 * (uint64_t)n, sizeof(item))) < 0)
		return error;
	operands[0] = *out;
	operands[1] = t;
	for (mla_walk_lines(&w, axis, 2, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i++)
			sort_line(*out, w.at[0] + i * w.step[0], (*out)->stride[axis], t,
			          w.at[1] + i * w.step[1], t->stride[axis], n, room, o);
	mla_engine__scratch_free(e, room, 2 * (uint64_t)n, sizeof(item));
	return 0;
}

int mla_sort(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "sort")) < 0)
		return error;
	return ordered(out, e, t, at, &(order){-1, false}, "sort");
}

int mla_argsort(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis)
{
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "argsort")) < 0)
		return error;
	return ordered(out, e, t, at, &(order){-1, true}, "argsort");
}

int mla_argpartition(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t kth,
                     int64_t axis)
{
	char text[MLA_SHAPE_TEXT];
	uint32_t at;
	int error;

	if ((error = mla_tensor_axis(&at, t, axis, "argpartition")) < 0)
		return error;
	if (kth < -t->shape[at] || kth >= t->shape[at])
		return mla_error(MLA_ERAISE, "argpartition: kth %" PRId64 " on axis %u of %s", kth,
		                 at, mla_shape_text(text, t->ndim, t->shape));
	return ordered(out, e, t, at, &(order){kth < 0 ? kth + t->shape[at] : kth, true},
	               "argpartition");
}

int mla_same_sets(bool *out, mla_engine *e, const mla_tensor *a, const mla_tensor *b)
{
	char x[MLA_SHAPE_TEXT], y[MLA_SHAPE_TEXT];
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	mla_tensor *p, *q;
	int error;

	if (a->ndim == 0 || a->ndim != b->ndim ||
	    memcmp(a->shape, b->shape, a->ndim * sizeof(a->shape[0])) != 0)
		return mla_error(MLA_ERAISE, "positions of shapes %s and %s",
		                 mla_shape_text(x, a->ndim, a->shape),
		                 mla_shape_text(y, b->ndim, b->shape));
	*out = true;
	if ((error = mla_sort(&p, e, a, -1)) == 0 && (error = mla_sort(&q, e, b, -1)) == 0)
		for (int64_t i = 0; i < p->count && *out; i++)
			*out = mla_tensor_at(p, i) == mla_tensor_at(q, i);
	mla_tensor_scope_close(e, scope, NULL, 0);
	return error;
}

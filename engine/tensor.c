/* Buffers, tensors, scopes, the budget. Owns every allocation of the engine; computes nothing. */
#include "engine/tensor.h"

#include "analyzer/arena.h"
#include "engine/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mla_storage {
	uint64_t bytes;
	uint32_t views;
	max_align_t data[];
};

struct mla_engine {
	mla_engine_options mode;
	mla_tensor *first, *last;
	uint64_t births;
	uint64_t bytes; /* live */
	uint64_t spent; /* of max_work */
	mla_work work[MLA_WORK_KINDS];
	mla_device *device;
};

mla_engine *mla_engine_new(const mla_engine_options *options)
{
	mla_engine *e = mla_alloc(sizeof(*e));

	if (options)
		e->mode = *options;
	if (!e->mode.max_bytes)
		e->mode.max_bytes = MLA_ENGINE_BYTES;
	if (e->mode.backend && !e->mode.oracle && !e->mode.shapes_only)
		e->device = mla_device_new(e->mode.backend);
	return e;
}

void mla_engine_free(mla_engine *e)
{
	if (!e)
		return;
	mla_tensor_scope_close(e, 0, NULL, 0);
	mla_device_free(e->device);
	free(e);
}

mla_dtype mla_engine_dtype(const mla_engine *e, mla_dtype d)
{
	return e->mode.oracle && mla_dtype_is_float(d) ? MLA_F64 : d;
}

mla_tensor_scope mla_tensor_scope_open(const mla_engine *e)
{
	return e->births;
}

void mla_tensor_scope_close(mla_engine *e, mla_tensor_scope scope, mla_tensor *const *keep,
                            uint32_t n)
{
	mla_tensor *t = e->last;

	while (t && t->born > scope) {
		mla_tensor *prev = t->prev;
		uint32_t i = 0;

		while (i < n && keep[i] != t)
			i++;
		if (i == n)
			mla_tensor_drop(e, t);
		t = prev;
	}
}

static void release(mla_engine *e, mla_storage *b)
{
	if (!b || --b->views)
		return;
	e->bytes -= b->bytes;
	free(b);
}

void mla_tensor_drop(mla_engine *e, mla_tensor *t)
{
	if (!t)
		return;
	release(e, t->storage);
	e->bytes -= sizeof(*t);
	*(t->prev ? &t->prev->next : &e->first) = t->next;
	*(t->next ? &t->next->prev : &e->last) = t->prev;
	free(t);
}

static void enlist(mla_engine *e, mla_tensor *t)
{
	t->born = ++e->births;
	t->prev = e->last;
	t->next = NULL;
	*(e->last ? &e->last->next : &e->first) = t;
	e->last = t;
}

const char *mla_shape_text(char text[MLA_SHAPE_TEXT], uint32_t ndim, const int64_t *shape)
{
	size_t n = 0;

	text[n++] = '(';
	for (uint32_t i = 0; i < ndim; i++)
		n += (size_t)snprintf(text + n, MLA_SHAPE_TEXT - n, "%s%" PRId64, i ? ", " : "",
		                      shape[i]);
	snprintf(text + n, MLA_SHAPE_TEXT - n, ndim == 1 ? ",)" : ")");
	return text;
}

static int count_elements(int64_t *out, uint32_t ndim, const int64_t *shape)
{
	char text[MLA_SHAPE_TEXT];
	int64_t count = 1;
	bool empty = false, huge = false;

	if (ndim > MLA_DIMS)
		return mla_error(MLA_ELIMIT, "a tensor of %u dimensions, %d allowed", ndim,
		                 MLA_DIMS);
	for (uint32_t i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return mla_error(MLA_ERAISE, "negative size in shape %s",
			                 mla_shape_text(text, ndim, shape));
		empty |= shape[i] == 0;
	}
	for (uint32_t i = 0; i < ndim && !empty && !huge; i++) {
		huge = shape[i] > MLA_ELEMENTS_MAX / count;
		count = huge ? count : count * shape[i];
	}
	if (huge)
		return mla_error(MLA_ELIMIT, "a tensor of shape %s, %" PRId64 " elements allowed",
		                 mla_shape_text(text, ndim, shape), MLA_ELEMENTS_MAX);
	*out = empty ? 0 : count;
	return 0;
}

static int take(mla_engine *e, uint64_t bytes, const char *what)
{
	uint64_t left = e->mode.max_bytes - e->bytes;

	if (bytes > left)
		return mla_error(MLA_ELIMIT,
		                 "%s: %" PRIu64 " bytes beside %" PRIu64 " in use, %zu allowed",
		                 what, bytes, e->bytes, e->mode.max_bytes);
	e->bytes += bytes;
	return 0;
}

/* Unlike the rest of the program a failed allocation of data is an error: its size is a guest's. */
static int new_buffer(mla_storage **out, mla_engine *e, uint64_t bytes, const char *what)
{
	mla_storage *b;
	int error;

	if ((error = take(e, bytes, what)) < 0)
		return error;
	if (!(b = calloc(1, sizeof(*b) + (size_t)bytes))) {
		e->bytes -= bytes;
		return mla_error(MLA_ELIMIT, "%s: no memory for %" PRIu64 " bytes", what, bytes);
	}
	b->bytes = bytes;
	*out = b;
	return 0;
}

static int new_tensor(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                      const int64_t *shape, bool with_data)
{
	mla_storage *storage = NULL;
	char text[MLA_SHAPE_TEXT], what[MLA_SHAPE_TEXT + 32];
	int64_t count, stride = 1;
	mla_tensor *t;
	int error;

	if ((error = count_elements(&count, ndim, shape)) < 0)
		return error;
	snprintf(what, sizeof(what), "%s tensor %s", mla_dtype_name(d),
	         mla_shape_text(text, ndim, shape));
	/* The tensor itself is counted as well: a million views are memory too. */
	if ((error = take(e, sizeof(*t), what)) < 0)
		return error;
	if (with_data) {
		if ((error = new_buffer(&storage, e, (uint64_t)count * mla_dtype_size(d), what)) <
		    0) {
			e->bytes -= sizeof(*t);
			return error;
		}
		storage->views = 1;
	}
	t = mla_alloc(sizeof(*t));
	t->dtype = d;
	t->ndim = ndim;
	t->count = count;
	t->storage = storage;
	for (uint32_t i = ndim; i-- > 0;) {
		t->shape[i] = shape[i];
		t->stride[i] = stride;
		stride *= shape[i];
	}
	enlist(e, t);
	*out = t;
	return 0;
}

int mla_tensor_new(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                   const int64_t *shape)
{
	return new_tensor(out, e, d, ndim, shape, !e->mode.shapes_only);
}

static void put(mla_tensor *t, int64_t i, double x)
{
	void *data = t->storage->data;

	x = mla_dtype_round(t->dtype, x);
	switch (t->dtype) {
	case MLA_BOOL:
		((uint8_t *)data)[i] = (uint8_t)x;
		break;
	case MLA_I32:
		((int32_t *)data)[i] = (int32_t)x;
		break;
	case MLA_F16:
		((uint16_t *)data)[i] = mla_f16_from_f32((float)x);
		break;
	case MLA_BF16:
		((uint16_t *)data)[i] = mla_bf16_from_f32((float)x);
		break;
	case MLA_F32:
		((float *)data)[i] = (float)x;
		break;
	case MLA_F64:
		((double *)data)[i] = x;
		break;
	}
}

int mla_tensor_from(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                    const int64_t *shape, const double *values)
{
	int error;

	if ((error = new_tensor(out, e, d, ndim, shape, true)) < 0)
		return error;
	for (int64_t i = 0; i < (*out)->count; i++)
		put(*out, i, values[i]);
	return 0;
}

int mla_tensor_number(mla_tensor **out, mla_engine *e, mla_dtype d, double value)
{
	int error;

	/* A float keeps all its digits until it takes the format of the array it meets. */
	if (mla_dtype_is_float(d))
		d = MLA_F64;
	if ((error = mla_tensor_from(out, e, d, 0, NULL, &value)) < 0)
		return error;
	(*out)->weak = true;
	return 0;
}

bool mla_tensor_has_data(const mla_tensor *t)
{
	return t->storage != NULL;
}

double mla_tensor_at(const mla_tensor *t, int64_t position)
{
	int64_t i = t->offset;
	const void *data;

	if (!t->storage)
		return NAN;
	data = t->storage->data;
	for (uint32_t axis = t->ndim; axis-- > 0;) {
		i += position % t->shape[axis] * t->stride[axis];
		position /= t->shape[axis];
	}
	switch (t->dtype) {
	case MLA_BOOL:
		return ((const uint8_t *)data)[i];
	case MLA_I32:
		return ((const int32_t *)data)[i];
	case MLA_F16:
		return mla_f16_to_f32(((const uint16_t *)data)[i]);
	case MLA_BF16:
		return mla_bf16_to_f32(((const uint16_t *)data)[i]);
	case MLA_F32:
		return ((const float *)data)[i];
	case MLA_F64:
		break;
	}
	return ((const double *)data)[i];
}

int mla_tensor_axis(uint32_t *out, const mla_tensor *t, int64_t axis, const char *op)
{
	char text[MLA_SHAPE_TEXT];

	if (axis < -(int64_t)t->ndim || axis >= (int64_t)t->ndim)
		return mla_error(MLA_ERAISE, "%s: axis %" PRId64 " of %s", op, axis,
		                 mla_shape_text(text, t->ndim, t->shape));
	*out = (uint32_t)(axis < 0 ? axis + t->ndim : axis);
	return 0;
}

mla_work mla_engine_work(const mla_engine *e, mla_work_kind kind)
{
	return e->work[kind];
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_capped(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

int mla_engine__spend(mla_engine *e, mla_work_kind kind, const char *op, uint64_t operations,
                      uint64_t bytes)
{
	static const uint64_t weight[MLA_WORK_KINDS] = {
		[MLA_WORK_MATMUL] = 1,
		[MLA_WORK_ELEMENTWISE] = 32,
		[MLA_WORK_REDUCE] = 64,
		[MLA_WORK_MOVE] = 32,
	};
	mla_work *w = &e->work[kind];

	e->spent = add_capped(e->spent, multiply_capped(operations, weight[kind]));
	w->calls++;
	w->operations = add_capped(w->operations, operations);
	w->bytes = add_capped(w->bytes, bytes);
	if (e->mode.max_work && e->spent > e->mode.max_work)
		return mla_error(MLA_ELIMIT,
		                 "%s: %" PRIu64 " operations end the work allowed, %" PRIu64
		                 " multiply-adds",
		                 op, operations, e->mode.max_work);
	return 0;
}

int mla_engine__charge(mla_engine *e, uint64_t bytes, const char *what)
{
	return take(e, bytes, what);
}

const mla_uses *mla_engine_uses(const mla_engine *e)
{
	return mla_device_uses(e->device);
}

mla_device *mla_engine__device(const mla_engine *e)
{
	return e->device;
}

int mla_engine__scratch(void **out, mla_engine *e, uint64_t count, size_t size)
{
	int error;

	*out = NULL;
	if (count > SIZE_MAX / size)
		return mla_error(MLA_ELIMIT, "scratch of %" PRIu64 " elements", count);
	if ((error = take(e, count * size, "scratch")) < 0)
		return error;
	if (!(*out = malloc(count ? (size_t)count * size : 1))) {
		e->bytes -= count * size;
		return mla_error(MLA_ELIMIT, "no memory for a scratch of %" PRIu64 " elements",
		                 count);
	}
	return 0;
}

void mla_engine__scratch_free(mla_engine *e, void *scratch, uint64_t count, size_t size)
{
	if (!scratch)
		return;
	e->bytes -= count * size;
	free(scratch);
}

int mla_tensor__view(mla_tensor **out, mla_engine *e, const mla_tensor *base)
{
	mla_tensor *t;
	int error;

	if ((error = take(e, sizeof(*t), "view")) < 0)
		return error;
	t = mla_alloc(sizeof(*t));
	*t = *base;
	t->weak = false;
	if (t->storage)
		t->storage->views++;
	enlist(e, t);
	*out = t;
	return 0;
}

int mla_tensor__recount(mla_tensor *t)
{
	return count_elements(&t->count, t->ndim, t->shape);
}

void *mla_tensor__data(const mla_tensor *t)
{
	return t->storage ? t->storage->data : NULL;
}

/* Buffers and counts of an engine that computes on a backend. Launches nothing. */
#include "engine/device_stage.h"

#include "analyzer/arena.h"
#include "engine/kernels/args.h"
#include "engine/walk.h"

#include <stdlib.h>
#include <string.h>

struct mla_device {
	mla_backend *backend;
	mla_buffer *slot[MLA_DEVICE_SLOTS];
	mla_uses uses;
};

mla_device *mla_device_new(mla_backend *backend)
{
	mla_device *d = mla_alloc(sizeof(*d));

	d->backend = backend;
	return d;
}

void mla_device_free(mla_device *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < MLA_DEVICE_SLOTS; i++)
		mla_buffer_free(d->slot[i]);
	free(d);
}

const mla_uses *mla_device_uses(const mla_device *d)
{
	return d ? &d->uses : NULL;
}

/* The entry of `op`, made in order of name; the last one takes what has no room. */
static mla_use *entry(mla_uses *u, const char *op)
{
	uint32_t at = 0;

	while (at < u->n && strcmp(u->v[at].op, op) < 0)
		at++;
	if (at < u->n && strcmp(u->v[at].op, op) == 0)
		return &u->v[at];
	if (u->n == MLA_USE_OPS)
		return &u->v[MLA_USE_OPS - 1];
	memmove(&u->v[at + 1], &u->v[at], (u->n - at) * sizeof(u->v[0]));
	u->n++;
	u->v[at] = (mla_use){.op = op};
	return &u->v[at];
}

void mla_uses_add(mla_uses *to, const mla_uses *more)
{
	for (uint32_t i = 0; more && i < more->n; i++) {
		mla_use *u = entry(to, more->v[i].op);

		u->kernel += more->v[i].kernel;
		u->host += more->v[i].host;
	}
}

mla_backend *mla_device__begin(mla_engine *e, const char *op, bool takes)
{
	mla_device *d = mla_engine__device(e);

	if (!d)
		return NULL;
	if (takes)
		return d->backend;
	entry(&d->uses, op)->host++;
	return NULL;
}

int mla_device_none(mla_engine *e, const mla_tensor *t, const char *op)
{
	if (t->count && mla_device__format(t->dtype))
		mla_device__begin(e, op, false);
	return 1;
}

void mla_device__done(mla_engine *e, const char *op)
{
	entry(&mla_engine__device(e)->uses, op)->kernel++;
}

uint32_t mla_device__store(mla_dtype d)
{
	return d == MLA_BF16 ? MLA_STORE_BF16 : d == MLA_F16 ? MLA_STORE_F16 : MLA_STORE_F32;
}

/* Grows by doubling: shapes grow from case to case. */
int mla_device__room(mla_buffer **out, mla_engine *e, mla_device_slot slot, uint64_t elements)
{
	mla_device *d = mla_engine__device(e);
	uint64_t have = d->slot[slot] ? mla_buffer_size(d->slot[slot]) : 0, want = 4096;
	int error;

	*out = d->slot[slot];
	if (*out && elements <= have / 4)
		return 0;
	if (elements > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "an operand is past 32-bit indexing");
	while (want < elements)
		want *= 2;
	want = want > UINT32_MAX ? UINT32_MAX : want;
	if ((error = mla_engine__charge(e, want * 4 - have, "operands of kernels")) < 0)
		return error;
	mla_buffer_free(d->slot[slot]);
	d->slot[slot] = NULL;
	error = mla_buffer_new(&d->slot[slot], d->backend, want * 4);
	*out = d->slot[slot];
	return error;
}

/* All of `v` in row-major order. */
static void copy_rows(float *to, const mla_tensor *v, mla_dtype as)
{
	double row[MLA_ROW];
	mla_walk w;

	for (mla_walk_start(&w, v->ndim, v->shape, 1, &v); mla_walk_next(&w); to += w.width) {
		/* f32 holds every smaller format; the rounding to it is the conversion itself. */
		if (as == MLA_F32 || as == v->dtype) {
			mla_row_load_f32(to, v, w.at[0], w.step[0], w.width);
			continue;
		}
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(row, v, w.at[0] + i * w.step[0], w.step[0], n);
			mla_row_convert(row, v->dtype, as, n);
			for (int64_t k = 0; k < n; k++)
				to[i + k] = (float)row[k];
		}
	}
}

/* Axes by their stride, the longest first. */
static void memory_order(uint32_t order[MLA_DIMS], const mla_tensor *t)
{
	for (uint32_t i = 0; i < t->ndim; i++) {
		uint32_t at = i;

		for (; at > 0 && llabs(t->stride[order[at - 1]]) < llabs(t->stride[i]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

int mla_device__stage(mla_staged *out, mla_engine *e, mla_device_slot slot, const mla_tensor *t,
                      mla_dtype as)
{
	uint32_t order[MLA_DIMS];
	mla_tensor v = *t;
	uint64_t count = 1;
	int error;

	*out = (mla_staged){0};
	memory_order(order, t);
	for (uint32_t i = t->ndim; i-- > 0;) {
		uint32_t axis = order[i];
		bool once = t->shape[axis] == 1 || t->stride[axis] == 0;

		v.shape[i] = once ? 1 : t->shape[axis];
		v.stride[i] = t->stride[axis];
		out->step[axis] = once ? 0 : (uint32_t)count;
		count *= (uint64_t)v.shape[i];
		if (count > UINT32_MAX)
			return mla_error(MLA_ELIMIT, "an operand is past 32-bit indexing");
	}
	if ((error = mla_device__room(&out->buf, e, slot, count)) < 0 ||
	    (error = mla_backend_sync(mla_engine__device(e)->backend)) < 0)
		return error;
	copy_rows(mla_buffer_data(out->buf), &v, as);
	return 0;
}

int mla_device__stage_dense(mla_buffer **out, mla_engine *e, mla_device_slot slot,
                            const mla_tensor *t)
{
	int error;

	if ((error = mla_device__room(out, e, slot, (uint64_t)t->count)) < 0 ||
	    (error = mla_backend_sync(mla_engine__device(e)->backend)) < 0)
		return error;
	copy_rows(mla_buffer_data(*out), t, t->dtype);
	return 0;
}

int mla_device__stage_words(mla_buffer **out, mla_engine *e, mla_device_slot slot,
                            const mla_tensor *t)
{
	const int32_t *from = mla_tensor__data(t);
	int32_t *to;
	mla_walk w;
	int error;

	if ((error = mla_device__room(out, e, slot, (uint64_t)t->count)) < 0 ||
	    (error = mla_backend_sync(mla_engine__device(e)->backend)) < 0)
		return error;
	to = mla_buffer_data(*out);
	for (mla_walk_start(&w, t->ndim, t->shape, 1, &t); mla_walk_next(&w); to += w.width)
		for (int64_t i = 0; i < w.width; i++)
			to[i] = from[w.at[0] + i * w.step[0]];
	return 0;
}

int mla_device__fetch(mla_engine *e, mla_tensor *out, mla_buffer *from)
{
	int error;

	if ((error = mla_backend_sync(mla_engine__device(e)->backend)) < 0)
		return error;
	mla_row_store_f32(out, out->offset, 1, mla_buffer_data(from), out->count);
	return 0;
}

static uint32_t step_of(const mla_staged *s, const mla_tensor *t, uint32_t ndim, uint32_t axis,
                        uint32_t dense)
{
	uint32_t missing;

	if (!s)
		return dense;
	missing = ndim - t->ndim;
	return axis < missing ? 0 : s->step[axis - missing];
}

void mla_device__axes(mla_device_axes *out, uint32_t axes, uint32_t ndim, const int64_t *shape,
                      uint32_t operands, const mla_tensor *const *tensors,
                      const mla_staged *const *staged)
{
	uint32_t dense[MLA_DIMS], next = 1;

	*out = (mla_device_axes){0};
	for (uint32_t i = ndim; i-- > 0;) {
		dense[i] = next;
		next *= (uint32_t)shape[i];
	}
	for (uint32_t axis = 0; axis < axes; axis++) {
		uint32_t step[MLA_DEVICE_OPERANDS] = {0}, size = (uint32_t)shape[axis];
		bool joins = out->n > 0;

		if (size == 1)
			continue;
		for (uint32_t i = 0; i < operands; i++) {
			step[i] = step_of(staged[i], tensors[i], ndim, axis, dense[axis]);
			joins = joins && out->step[i][out->n - 1] == step[i] * size;
		}
		if (joins)
			out->size[out->n - 1] *= size;
		else
			out->size[out->n++] = size;
		for (uint32_t i = 0; i < operands; i++)
			out->step[i][out->n - 1] = step[i];
	}
}

void mla_device__at(uint64_t at[MLA_DEVICE_OPERANDS], const mla_device_axes *x, uint32_t n,
                    uint64_t i)
{
	memset(at, 0, MLA_DEVICE_OPERANDS * sizeof(at[0]));
	while (n-- > 0) {
		for (uint32_t o = 0; o < MLA_DEVICE_OPERANDS; o++)
			at[o] += i % x->size[n] * x->step[o][n];
		i /= x->size[n];
	}
}

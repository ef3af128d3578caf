/* Scaled dot-product attention as one kernel, where its masks allow it. */
#include "engine/backend_mla.h"
#include "engine/device_stage.h"
#include "engine/walk.h"

static uint32_t size(const mla_tensor *t, uint32_t axis)
{
	return (uint32_t)t->shape[axis];
}

/*
 * The mask as numbers to add. A boolean one adds the lowest number of the scores' format: it
 * swallows every score, so that a row without a visible position is uniform, as it is where that
 * number replaces the scores.
 */
static int stage_mask(mla_mask *out, mla_engine *e, const mla_tensor *mask, mla_dtype scores)
{
	uint32_t missing = 4 - mask->ndim;
	mla_staged s;
	uint64_t n = 1;
	int error;

	if ((error = mla_device__stage(&s, e, MLA_SLOT_D, mask, MLA_F32)) < 0)
		return error;
	for (uint32_t i = 0; i < mask->ndim; i++) {
		out->step[missing + i] = s.step[i];
		n *= s.step[i] ? (uint64_t)mask->shape[i] : 1;
	}
	out->kind = MLA_MASK_ADDITIVE;
	out->buf = s.buf;
	if (mask->dtype == MLA_BOOL) {
		float *m = mla_buffer_data(s.buf), lowest = (float)mla_dtype_lowest(scores);

		for (uint64_t i = 0; i < n; i++)
			m[i] = m[i] != 0 ? 0 : lowest;
	}
	return 0;
}

/* Does it broadcast to the scores without widening them? */
static bool mask_fits(const mla_tensor *mask, const int64_t scores[4])
{
	bool fits = mask->ndim <= 4 && mask->count > 0 &&
	            (mask->dtype == MLA_BOOL || mla_device__format(mask->dtype));

	for (uint32_t i = 0; fits && i < mask->ndim; i++)
		fits = mask->shape[i] == 1 || mask->shape[i] == scores[4 - mask->ndim + i];
	return fits;
}

static bool takes(const mla_tensor *out, const mla_tensor *q, const mla_tensor *k,
                  const mla_tensor *v, const mla_tensor *mask)
{
	int64_t scores[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
	bool grouped = k->shape[1] != 1 && k->shape[1] != q->shape[1];

	/* The store of the result is that of the scores unless a mask is wider. */
	return mla_device__format(out->dtype) && k->count > 0 && v->count > 0 && q->count > 0 &&
	       mla_device__format(q->dtype) && mla_device__format(k->dtype) &&
	       mla_device__format(v->dtype) && k->count <= UINT32_MAX && v->count <= UINT32_MAX &&
	       q->count <= UINT32_MAX &&
	       (!mask || (mask_fits(mask, scores) &&
	                  (!grouped || mask->ndim < 3 || mask->shape[mask->ndim - 3] == 1)));
}

/* Keys or values; the kernel reads rows of neighbouring numbers. */
static int stage_rows(mla_attend_rows *out, mla_engine *e, mla_device_slot slot,
                      const mla_tensor *t)
{
	mla_staged s;
	int error;

	if (t->shape[3] == 1 || t->stride[3] == 1) {
		if ((error = mla_device__stage(&s, e, slot, t, MLA_F32)) < 0)
			return error;
		*out = (mla_attend_rows){s.buf, s.step[0], s.step[1], s.step[2]};
		if (t->shape[3] == 1 || s.step[3] == 1)
			return 0;
	}
	*out = (mla_attend_rows){.row = size(t, 3), .head = size(t, 2) * size(t, 3)};
	out->batch = out->head * size(t, 1);
	return mla_device__stage_dense(&out->buf, e, slot, t);
}

int mla_device_attention(mla_engine *e, mla_tensor *out, const mla_tensor *q, const mla_tensor *k,
                         const mla_tensor *v, double scale, const mla_tensor *mask)
{
	const char *op = "scaled_dot_product_attention";
	mla_attend a = {
		.batch = size(q, 0),
		.heads = size(q, 1),
		.kv_heads = size(k, 1),
		.queries = size(q, 2),
		.total = size(k, 2),
		.k_dim = size(q, 3),
		.v_dim = size(v, 3),
		/* A number of q's format, as it is where it multiplies q. */
		.scale = (float)mla_dtype_round(q->dtype, scale),
		.store = mla_device__store(out->dtype),
	};
	mla_backend *be;
	int error;

	if (out->count == 0)
		return 1;
	if (!(be = mla_device__begin(e, op, takes(out, q, k, v, mask))))
		return 1;
	if ((error = mla_engine__spend(e, MLA_WORK_MATMUL, op,
	                               (uint64_t)(out->count / v->shape[3] * k->shape[2]) *
	                                       (uint64_t)(q->shape[3] + v->shape[3]),
	                               (uint64_t)(q->count + k->count + v->count + out->count) *
	                                       mla_dtype_size(out->dtype))) < 0 ||
	    (error = mla_device__stage_dense(&a.q, e, MLA_SLOT_A, q)) < 0 ||
	    (error = stage_rows(&a.k, e, MLA_SLOT_B, k)) < 0 ||
	    (error = stage_rows(&a.v, e, MLA_SLOT_C, v)) < 0 ||
	    (mask && (error = stage_mask(&a.mask, e, mask, q->dtype)) < 0) ||
	    (error = mla_device__room(&a.out, e, MLA_SLOT_OUT, (uint64_t)out->count)) < 0 ||
	    (error = mla_attend_run(be, &a)) < 0 || (error = mla_device__fetch(e, out, a.out)) < 0)
		return error;
	mla_device__done(e, op);
	return 0;
}

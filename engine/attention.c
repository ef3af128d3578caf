/* Attention as a composition; nothing here touches elements but the causal mask. */
#include "engine/attention.h"

#include "engine/device.h"
#include "engine/matmul.h"
#include "engine/move.h"
#include "engine/reduce.h"
#include "engine/view.h"

#include <inttypes.h>

static int refuse(const mla_tensor *q, const mla_tensor *k, const mla_tensor *v)
{
	char a[MLA_SHAPE_TEXT], b[MLA_SHAPE_TEXT], c[MLA_SHAPE_TEXT];

	return mla_error(MLA_ERAISE, "scaled_dot_product_attention: %s, %s and %s",
	                 mla_shape_text(a, q->ndim, q->shape), mla_shape_text(b, k->ndim, k->shape),
	                 mla_shape_text(c, v->ndim, v->shape));
}

/* [batch, kv, keys, d] to [batch, kv, 1, keys, d]: one of the kv heads for each group of queries.
 */
static int grouped(mla_tensor **out, mla_engine *e, const mla_tensor *t)
{
	return mla_view_expand(out, e, t, 2);
}

static int ungrouped(mla_tensor **out, mla_engine *e, const mla_tensor *t)
{
	int64_t shape[] = {t->shape[0], t->shape[1] * t->shape[2], t->shape[3], t->shape[4]};

	return mla_view_reshape(out, e, t, 4, shape);
}

static int apply_mask(mla_tensor **scores, mla_engine *e, const mla_tensor *mask)
{
	mla_tensor *lowest;
	int error;

	if (!mask)
		return 0;
	if (mask->dtype != MLA_BOOL)
		return mla_binary_op(scores, e, MLA_EW_ADD, *scores, mask);
	if ((error = mla_tensor_number(&lowest, e, MLA_F64, mla_dtype_lowest((*scores)->dtype))) <
	    0)
		return error;
	return mla_where(scores, e, mask, *scores, lowest);
}

/* The softmax of [sink, scores] without its first column. */
static int weigh(mla_tensor **scores, mla_engine *e, const mla_tensor *sinks)
{
	const mla_tensor *s = *scores;
	int64_t shape[] = {1, s->shape[1], 1, 1};
	int64_t column[] = {s->shape[0], s->shape[1], s->shape[2], 1};
	mla_tensor *sink;
	int error;

	if (!sinks)
		return mla_softmax(scores, e, s, -1);
	if ((error = mla_move_cast(&sink, e, sinks, s->dtype)) < 0 ||
	    (error = mla_view_reshape(&sink, e, sink, 4, shape)) < 0 ||
	    (error = mla_view_broadcast_to(&sink, e, sink, 4, column)) < 0 ||
	    (error = mla_move_concat(scores, e, (const mla_tensor *[]){sink, s}, 2, -1)) < 0 ||
	    (error = mla_softmax(scores, e, *scores, -1)) < 0)
		return error;
	return mla_view_slice(scores, e, *scores, -1, 1, (*scores)->shape[3], 1);
}

static int attend(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                  const mla_tensor *v, double scale, const mla_tensor *mask,
                  const mla_tensor *sinks)
{
	int64_t heads = q->shape[1], kv = k->shape[1];
	int64_t split[] = {q->shape[0], kv, heads / kv, q->shape[2], q->shape[3]};
	bool group = kv != 1 && kv != heads;
	mla_tensor *scaled, *keys, *values, *turned, *scores;
	int error;

	if ((error = mla_binary_number(&scaled, e, MLA_EW_MUL, q, scale)) < 0 ||
	    (error = mla_tensor__view(&keys, e, k)) < 0 ||
	    (error = mla_tensor__view(&values, e, v)) < 0)
		return error;
	if (group && ((error = mla_view_reshape(&scaled, e, scaled, 5, split)) < 0 ||
	              (error = grouped(&keys, e, k)) < 0 || (error = grouped(&values, e, v)) < 0))
		return error;
	if ((error = mla_view_swapaxes(&turned, e, keys, -1, -2)) < 0 ||
	    (error = mla_matmul(&scores, e, scaled, turned)) < 0 ||
	    (group && (error = ungrouped(&scores, e, scores)) < 0) ||
	    (error = apply_mask(&scores, e, mask)) < 0 || (error = weigh(&scores, e, sinks)) < 0)
		return error;
	split[3] = scores->shape[2];
	split[4] = scores->shape[3];
	if (group && (error = mla_view_reshape(&scores, e, scores, 5, split)) < 0)
		return error;
	if ((error = mla_matmul(out, e, scores, values)) < 0)
		return error;
	return group ? ungrouped(out, e, *out) : 0;
}

/* All of it in one kernel; 1: there is none. */
static int by_kernel(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                     const mla_tensor *v, double scale, const mla_tensor *mask)
{
	int64_t shape[] = {q->shape[0], q->shape[1], q->shape[2], v->shape[3]};
	mla_tensor scores = {.dtype = mla_dtype_promote(q->dtype, k->dtype), .ndim = 4};
	mla_dtype d = scores.dtype;
	int error;

	if (!mla_engine__device(e) || !mla_tensor_has_data(q) || !mla_tensor_has_data(k) ||
	    !mla_tensor_has_data(v) || (mask && !mla_tensor_has_data(mask)))
		return 1;
	if (mask && mask->dtype != MLA_BOOL)
		d = mla_operands_dtype(e, &scores, mask);
	if ((error = mla_tensor_new(out, e, mla_dtype_promote(d, v->dtype), 4, shape)) < 0)
		return error;
	return mla_device_attention(e, *out, q, k, v, scale, mask);
}

int mla_attention_sinks(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                        const mla_tensor *v, double scale, const mla_tensor *mask,
                        const mla_tensor *sinks)
{
	mla_tensor_scope scope;
	int error;

	if (q->ndim != 4 || k->ndim != 4 || v->ndim != 4 || k->shape[1] < 1 ||
	    q->shape[1] % k->shape[1] || k->shape[1] != v->shape[1] || q->shape[0] != k->shape[0] ||
	    q->shape[0] != v->shape[0] || q->shape[3] != k->shape[3] || k->shape[2] != v->shape[2])
		return refuse(q, k, v);
	if (sinks && (sinks->ndim != 1 || sinks->shape[0] != q->shape[1]))
		return mla_error(MLA_ERAISE,
		                 "scaled_dot_product_attention: sinks of %" PRId64
		                 " numbers for %" PRId64 " heads",
		                 sinks->count, q->shape[1]);
	scope = mla_tensor_scope_open(e);
	*out = NULL;
	if (sinks || (error = by_kernel(out, e, q, k, v, scale, mask)) > 0)
		error = attend(out, e, q, k, v, scale, mask, sinks);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

int mla_attention(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                  const mla_tensor *v, double scale, const mla_tensor *mask)
{
	return mla_attention_sinks(out, e, q, k, v, scale, mask, NULL);
}

int mla_causal_mask(mla_tensor **out, mla_engine *e, int64_t queries, int64_t keys)
{
	int64_t shape[] = {queries, keys};
	uint8_t *seen;
	int error;

	if ((error = mla_tensor_new(out, e, MLA_BOOL, 2, shape)) < 0 ||
	    !(seen = mla_tensor__data(*out)))
		return error;
	for (int64_t i = 0; i < queries; i++)
		for (int64_t k = 0; k < keys; k++)
			seen[i * keys + k] = k <= keys - queries + i;
	return 0;
}

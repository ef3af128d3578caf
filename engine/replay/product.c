/* Functions built on matrix products: matmul, einsum, linear, attention, quantised weights, rope.
 */
#include "engine/attention.h"
#include "engine/einsum.h"
#include "engine/elementwise.h"
#include "engine/matmul.h"
#include "engine/move.h"
#include "engine/quant.h"
#include "engine/replay/functions.h"
#include "engine/rope.h"
#include "engine/view.h"

#include <math.h>

MLA_FN(matmul)
{
	mla_value a, b;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&a, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_tensor(&b, m, c, 1, "b|other|mat2")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	return mla_tensor_product(out, m, a, b);
}

/* A quantised operand is f32 here: the result is stored in the format of the other one. */
MLA_FN(einsum)
{
	const mla_tensor *t[2];
	mla_tensor *made = NULL;
	mla_value equation, v[2] = {{0}};
	mla_dtype store = MLA_F32;
	bool quantised = false;
	unsigned from;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_required(&equation, m, c, 0, "subscripts|equation")) < 0)
		return error;
	if (equation.kind != MLA_V_STR || c->n < 2 || c->n > 3)
		return mla_unsupported(m, "einsum of this form");
	n = c->n - 1;
	for (uint32_t i = 0; i < n; i++) {
		if ((error = mla_arg_tensor(&v[i], m, c, i + 1, "")) < 0)
			return error;
		t[i] = v[i].t;
		if (v[i].from & MLA_QUANTISED)
			quantised = true;
		else
			store = v[i].t->dtype;
	}
	if ((error = mla_call_done(m, c)) < 0 ||
	    (error = mla_engine_fault(m, mla_einsum(&made, m->engine, equation.s, t, n))) < 0)
		return error;
	if (quantised && n == 2 &&
	    (error = mla_engine_fault(m, mla_move_cast(&made, m->engine, made, store))) < 0)
		return error;
	from = v[0].from;
	if (n == 2)
		mla_note_product(&from, m, v[0], v[1]);
	*out = mla_value_tensor(made, from);
	return 0;
}

/* x W^T + b */
MLA_FN(linear)
{
	mla_value x, w, bias = mla_value_none;
	mla_tensor *turned;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "input")) < 0 ||
	    (error = mla_arg_tensor(&w, m, c, 1, "weight")) < 0)
		return error;
	mla_arg(&bias, c, 2, "bias");
	if ((error = mla_call_done(m, c)) < 0 ||
	    (error = mla_engine_fault(m, mla_view_swapaxes(&turned, m->engine, w.t, -1, -2))) < 0 ||
	    (error = mla_tensor_product(out, m, x, mla_value_tensor(turned, w.from))) < 0)
		return error;
	return bias.kind == MLA_V_TENSOR ? mla_operate(out, m, MLA_OP_ADD, *out, bias) : 0;
}

static int sdpa(mla_value *out, mla_machine *m, mla_value q, mla_value k, mla_value v, double scale,
                mla_value mask, mla_value sinks)
{
	mla_tensor *t = NULL, *hide = NULL;
	int error = 0;

	if (q.t->ndim != 4 || k.t->ndim != 4 || v.t->ndim != 4)
		return mla_raise(m, "ValueError", "attention of arrays of other than 4 dimensions");
	if (mask.kind == MLA_V_STR && mla_str_is(mask.s, "causal"))
		error = mla_causal_mask(&hide, m->engine, q.t->shape[2], k.t->shape[2]);
	else if (mask.kind == MLA_V_TENSOR)
		hide = mask.t;
	else if (mask.kind != MLA_V_NONE)
		return mla_unsupported(m, "a %s as a mask", mla_value_type(mask));
	if (sinks.kind != MLA_V_NONE && sinks.kind != MLA_V_TENSOR)
		return mla_unsupported(m, "a %s as sinks", mla_value_type(sinks));
	if ((error = mla_engine_fault(m, error)) < 0)
		return error;
	error = mla_engine_fault(m,
	                         mla_attention_sinks(&t, m->engine, q.t, k.t, v.t, scale, hide,
	                                             sinks.kind == MLA_V_TENSOR ? sinks.t : NULL));
	*out = mla_value_tensor(t, MLA_FROM_INPUT);
	return error;
}

MLA_FN(attention)
{
	mla_value q, k, v, mask = mla_value_none, sinks = mla_value_none, ignored, scale;
	double factor = 0;
	bool causal = false;
	int error;

	if ((error = mla_arg_tensor(&q, m, c, 0, "q|queries|query")) < 0 ||
	    (error = mla_arg_tensor(&k, m, c, 1, "k|keys|key")) < 0 ||
	    (error = mla_arg_tensor(&v, m, c, 2, "v|values|value")) < 0)
		return error;
	if (variant == 1)
		mla_arg(&ignored, c, 3, "cache");
	mla_arg(&mask, c, variant == 2 ? 3 : variant == 1 ? 5 : 99, "mask|attn_mask");
	if (variant != 2)
		mla_arg(&sinks, c, variant == 1 ? 6 : 99, "sinks");
	if (variant == 2) {
		mla_arg(&ignored, c, 4, "dropout_p");
		if ((error = mla_arg_bool(&causal, m, c, 5, "is_causal", false)) < 0)
			return error;
		mla_arg(&ignored, c, 99, "enable_gqa");
	}
	if (mla_arg(&scale, c, variant == 1 ? 4 : 99, "scale") && scale.kind != MLA_V_NONE) {
		if (!mla_value_as_float(&factor, scale))
			return mla_unsupported(m, "a %s as a scale", mla_value_type(scale));
	} else if (variant == 2) {
		factor = 1 / sqrt((double)(q.t->ndim ? q.t->shape[q.t->ndim - 1] : 1));
	} else {
		return mla_unsupported(m, "attention without a scale");
	}
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	if (causal) {
		/* PyTorch aligns its causal mask at the first key. */
		if (q.t->shape[2] != k.t->shape[2])
			return mla_unsupported(m, "is_causal with a cache");
		mask = mla_value_c("causal");
	}
	return sdpa(out, m, q, k, v, factor, mask, sinks);
}

static int quantised_parts(mla_quantised *q, mla_machine *m, mla_call *c, uint32_t at)
{
	mla_value codes, scales, biases, v;
	int64_t group, bits;
	int error;

	if ((error = mla_arg_tensor(&codes, m, c, at, "w")) < 0 ||
	    (error = mla_arg_tensor(&scales, m, c, at + 1, "scales")) < 0 ||
	    (error = mla_arg_tensor(&biases, m, c, at + 2, "biases")) < 0)
		return error;
	/* quantized_matmul has `transpose` before these, dequantize has not. */
	at += at ? 4 : 3;
	if ((error = mla_arg_int(&group, m, c, at, "group_size", 64)) < 0 ||
	    (error = mla_arg_int(&bits, m, c, at + 1, "bits", 4)) < 0)
		return error;
	if (mla_arg(&v, c, at + 2, "mode") && v.kind == MLA_V_STR && !mla_str_is(v.s, "affine"))
		return mla_unsupported(m, "quantisation mode %.*s", MLA_ARG(v.s));
	return mla_engine_fault(m, mla_quantised_join(q, codes.t, scales.t, biases.t,
	                                              (uint32_t)bits, (uint32_t)group));
}

MLA_FN(quantised_matmul)
{
	mla_tensor *t = NULL;
	mla_quantised q;
	mla_value x;
	bool transpose;
	unsigned from;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "x")) < 0 ||
	    (error = mla_arg_bool(&transpose, m, c, 4, "transpose", true)) < 0 ||
	    (error = quantised_parts(&q, m, c, 1)) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_quantised_matmul(&t, m->engine, x.t, &q, transpose));
	mla_note_product(&from, m, x, c->args[1]);
	*out = mla_value_tensor(t, from);
	return error;
}

MLA_FN(dequantise)
{
	mla_tensor *t = NULL;
	mla_quantised q;
	int error;

	(void)variant;
	if ((error = quantised_parts(&q, m, c, 0)) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	/* The result has the format of the scales; the codes' own is f32. */
	if ((error = mla_dequantise(&t, m->engine, &q)) == 0)
		error = mla_move_cast(&t, m->engine, t, q.scales->dtype);
	*out = mla_value_tensor(t, c->n ? c->args[0].from : 0);
	return mla_engine_fault(m, error);
}

MLA_FN(quantise)
{
	int64_t group, bits;
	mla_quantised q;
	mla_value w, v;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&w, m, c, 0, "w")) < 0 ||
	    (error = mla_arg_int(&group, m, c, 1, "group_size", 64)) < 0 ||
	    (error = mla_arg_int(&bits, m, c, 2, "bits", 4)) < 0)
		return error;
	if (mla_arg(&v, c, 3, "mode") && v.kind == MLA_V_STR && !mla_str_is(v.s, "affine"))
		return mla_unsupported(m, "quantisation mode %.*s", MLA_ARG(v.s));
	if ((error = mla_call_done(m, c)) < 0 ||
	    (error = mla_engine_fault(m, mla_quantise_groups(&q, m->engine, w.t, (uint32_t)bits,
	                                                     (uint32_t)group))) < 0)
		return error;
	*out = mla_sequence_new(m, MLA_V_TUPLE, 3);
	out->seq->v[0] = mla_value_tensor(q.codes, w.from);
	out->seq->v[1] = mla_value_tensor(q.scales, w.from);
	out->seq->v[2] = mla_value_tensor(q.biases, w.from);
	out->seq->n = 3;
	return 0;
}

/* fast.rope(x, dims, *, traditional, base, scale, offset, freqs) */
MLA_FN(rope)
{
	mla_rope_options o = {.base = 10000, .scale = 1};
	mla_value x, base, offset, freqs;
	mla_tensor *t = NULL;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a")) < 0 ||
	    (error = mla_arg_int(&o.dims, m, c, 1, "dims", 0)) < 0 ||
	    (error = mla_arg_bool(&o.interleaved, m, c, 2, "traditional", false)) < 0 ||
	    (error = mla_arg_float(&o.scale, m, c, 4, "scale", 1)) < 0)
		return error;
	if (mla_arg(&base, c, 3, "base") && base.kind != MLA_V_NONE &&
	    !mla_value_as_float(&o.base, base))
		return mla_unsupported(m, "a %s as the base of rope", mla_value_type(base));
	if (mla_arg(&offset, c, 5, "offset") && offset.kind != MLA_V_NONE) {
		if ((error = mla_as_tensor(&offset, m, offset)) < 0)
			return error;
		o.offset = offset.t;
	}
	if (mla_arg(&freqs, c, 6, "freqs") && freqs.kind == MLA_V_TENSOR)
		o.frequencies = freqs.t;
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_rope(&t, m->engine, x.t, &o));
	*out = mla_value_tensor(t, x.from & ~(unsigned)MLA_QUANTISED);
	return error;
}

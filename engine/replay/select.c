/* Functions of arrays that choose: by condition, by position, by order. */
#include "engine/elementwise.h"
#include "engine/gather.h"
#include "engine/make.h"
#include "engine/move.h"
#include "engine/replay/functions.h"
#include "engine/sort.h"
#include "engine/view.h"

static unsigned plain(unsigned from)
{
	return from & ~(unsigned)MLA_QUANTISED;
}

MLA_FN(where)
{
	mla_value condition, a, b;
	mla_tensor *t = NULL;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&condition, m, c, 0, "condition")) < 0 ||
	    (error = mla_arg_tensor(&a, m, c, 1, "x|input")) < 0 ||
	    (error = mla_arg_tensor(&b, m, c, 2, "y|other")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_where(&t, m->engine, condition.t, a.t, b.t));
	*out = mla_value_tensor(t, plain(condition.from | a.from | b.from));
	return error;
}

MLA_FN(masked_fill)
{
	mla_value x, mask, value;
	mla_tensor *t = NULL;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "input")) < 0 ||
	    (error = mla_arg_tensor(&mask, m, c, 1, "mask")) < 0 ||
	    (error = mla_arg_tensor(&value, m, c, 2, "value")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (mask.t->dtype != MLA_BOOL)
		return mla_raise(m, "RuntimeError", "masked_fill only supports boolean masks");
	error = mla_engine_fault(m, mla_where(&t, m->engine, mask.t, value.t, x.t));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

MLA_FN(take)
{
	mla_value x, at, axis;
	mla_tensor *t = NULL;
	int64_t a;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_tensor(&at, m, c, 1, "indices|index")) < 0)
		return error;
	if (!mla_arg(&axis, c, 2, "axis|dim") || !mla_value_as_int(&a, axis))
		return mla_unsupported(m, "take without an axis");
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_take(&t, m->engine, x.t, at.t, a));
	*out = mla_value_tensor(t, x.from);
	return error;
}

MLA_FN(take_along_axis)
{
	uint32_t at_axis = variant ? 1 : 2, at_index = variant ? 2 : 1;
	mla_value x, at;
	mla_tensor *t = NULL;
	int64_t axis;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_tensor(&at, m, c, at_index, "indices|index")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, at_axis, "axis|dim", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (variant) {
		/* PyTorch does not broadcast: the index's sizes count, up to those of the input. */
		for (uint32_t i = 0; i < x.t->ndim && i < at.t->ndim; i++)
			if (at.t->shape[i] != x.t->shape[i] &&
			    (int64_t)i != (axis < 0 ? axis + x.t->ndim : axis))
				return mla_unsupported(m, "gather of a part of the rows");
	}
	error = mla_engine_fault(m, mla_take_along_axis(&t, m->engine, x.t, at.t, axis));
	*out = mla_value_tensor(t, x.from);
	return error;
}

MLA_FN(put_along_axis)
{
	uint32_t at_axis = variant ? 1 : 3, at_index = variant ? 2 : 1, at_value = variant ? 3 : 2;
	mla_value x, at, v;
	mla_tensor *t = NULL;
	int64_t axis;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_tensor(&at, m, c, at_index, "indices|index")) < 0 ||
	    (error = mla_arg_tensor(&v, m, c, at_value, "values|src|value")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, at_axis, "axis|dim", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_put_along_axis(&t, m->engine, x.t, at.t, v.t, axis));
	*out = mla_value_tensor(t, plain(x.from | v.from));
	return error;
}

MLA_FN(argpartition)
{
	mla_tensor *t = NULL;
	int64_t kth, axis;
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a")) < 0 ||
	    (error = mla_arg_int(&kth, m, c, 1, "kth", 0)) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 2, "axis", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_argpartition(&t, m->engine, x.t, kth, axis));
	*out = mla_value_tensor(t, x.from & MLA_FROM_INPUT);
	return error;
}

MLA_FN(argsort)
{
	mla_tensor *t = NULL;
	int64_t axis;
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis|dim", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_argsort(&t, m->engine, x.t, axis));
	*out = mla_value_tensor(t, x.from & MLA_FROM_INPUT);
	return error;
}

MLA_FN(sort)
{
	mla_tensor *t = NULL;
	int64_t axis;
	mla_value x;
	int error;

	(void)variant;
	if (m->torch)
		return mla_unsupported(m, "sort");
	if ((error = mla_arg_tensor(&x, m, c, 0, "a")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_sort(&t, m->engine, x.t, axis));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

/* MLX gives the k largest values; PyTorch a pair of values and positions. */
MLA_FN(topk)
{
	mla_tensor *at, *last = NULL, *t = NULL;
	mla_value x, pair[2];
	int64_t k, axis;
	uint32_t a;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_int(&k, m, c, 1, "k", 1)) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 2, "axis|dim", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0 ||
	    (error = mla_engine_fault(m, mla_tensor_axis(&a, x.t, axis, "topk"))) < 0)
		return error;
	if (k < 0 || k > x.t->shape[a])
		return mla_raise(m, "ValueError", "topk: k = %lld of %lld", (long long)k,
		                 (long long)x.t->shape[a]);
	if ((error = mla_argsort(&at, m->engine, x.t, axis)) < 0 ||
	    (error = mla_view_slice(&last, m->engine, at, axis, -1,
	                            x.t->shape[a] - 1 - k - x.t->shape[a], -1)) < 0 ||
	    (error = mla_take_along_axis(&t, m->engine, x.t, last, axis)) < 0)
		return mla_engine_fault(m, error);
	pair[0] = mla_value_tensor(t, plain(x.from));
	pair[1] = mla_value_tensor(last, x.from & MLA_FROM_INPUT);
	*out = pair[0];
	if (!m->torch)
		return 0;
	*out = mla_sequence_new(m, MLA_V_TUPLE, 2);
	memcpy(out->seq->v, pair, sizeof(pair));
	out->seq->n = 2;
	return 0;
}

MLA_FN(triangle)
{
	mla_tensor *lower, *zero, *t = NULL;
	mla_value x;
	int64_t k;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "x|input")) < 0 ||
	    (error = mla_arg_int(&k, m, c, 1, "k|diagonal", 0)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (x.t->ndim < 2)
		return mla_raise(m, "ValueError", "a triangle of an array of one dimension");
	if ((error = mla_make_lower(&lower, m->engine, x.t->shape[x.t->ndim - 2],
	                            x.t->shape[x.t->ndim - 1], variant ? k - 1 : k)) < 0 ||
	    (error = mla_tensor_number(&zero, m->engine,
	                               x.t->dtype == MLA_BOOL ? MLA_BOOL : MLA_I32, 0)) < 0)
		return mla_engine_fault(m, error);
	error = variant ? mla_where(&t, m->engine, lower, zero, x.t)
	                : mla_where(&t, m->engine, lower, x.t, zero);
	*out = mla_value_tensor(t, plain(x.from));
	return mla_engine_fault(m, error);
}

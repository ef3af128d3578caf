/* Functions of arrays that compute: element by element, along axes, activations, norms. */
#include "engine/elementwise.h"
#include "engine/norm.h"
#include "engine/reduce.h"
#include "engine/replay/functions.h"

static unsigned plain(unsigned from)
{
	return from & ~(unsigned)MLA_QUANTISED;
}

MLA_FN(unary)
{
	mla_tensor *t = NULL;
	mla_value x;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|x|input")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_unary_op(&t, m->engine, (mla_unary)variant, x.t));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

static int operands(mla_value *a, mla_value *b, mla_machine *m, mla_call *c)
{
	int error;

	if ((error = mla_arg_tensor(a, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_tensor(b, m, c, 1, "b|other")) < 0)
		return error;
	return mla_call_done(m, c);
}

MLA_FN(binary)
{
	mla_tensor *t = NULL;
	mla_value a, b;
	int error;

	if ((error = operands(&a, &b, m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_binary_op(&t, m->engine, (mla_binary)variant, a.t, b.t));
	*out = mla_value_tensor(t, plain(a.from | b.from));
	return error;
}

MLA_FN(operate)
{
	mla_value a, b;
	int error;

	if ((error = operands(&a, &b, m, c)) < 0)
		return error;
	return mla_operate(out, m, (mla_op)variant, a, b);
}

static int axes_of(uint32_t *n, int64_t axes[MLA_DIMS], mla_machine *m, mla_call *c)
{
	mla_value v;

	*n = 0;
	if (!mla_arg(&v, c, 1, "axis|dim") || v.kind == MLA_V_NONE)
		return 0;
	return mla_as_ints(n, axes, m, v);
}

/*
 * An axis in the middle that is reduced is a window, the one before it counts the windows. The last
 * axis holds features; a reduction over it is a norm or a sum of scores.
 */
static void note_windows(mla_machine *m, mla_value x, uint32_t n, const int64_t *axes)
{
	int64_t at = n == 1 ? axes[0] < 0 ? axes[0] + x.t->ndim : axes[0] : 0;

	if (!m->run || !(x.from & MLA_FROM_CACHE) || at < 1 || at + 1 >= x.t->ndim ||
	    x.t->shape[at] < 2 || x.t->shape[at - 1] <= m->run->windows)
		return;
	m->run->windows = (uint32_t)x.t->shape[at - 1];
	m->run->window = (uint32_t)x.t->shape[at];
}

MLA_FN(reduce)
{
	int64_t axes[MLA_DIMS];
	mla_tensor *t = NULL;
	mla_value x;
	uint32_t n;
	bool keep;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = axes_of(&n, axes, m, c)) < 0 ||
	    (error = mla_arg_bool(&keep, m, c, 2, "keepdims|keepdim", false)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	/* PyTorch's max and min along an axis give values and positions. */
	if (m->torch && n && (variant == MLA_RED_MAX || variant == MLA_RED_MIN))
		return mla_unsupported(m, "max or min of an array along an axis");
	if (m->torch && variant == MLA_RED_VAR)
		return mla_unsupported(m, "var");
	note_windows(m, x, n, axes);
	error = mla_engine_fault(m, mla_reduce(&t, m->engine, (mla_reduction)variant, x.t, n,
	                                       n ? axes : NULL, keep));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

static int dtype_argument(mla_value *x, mla_machine *m, mla_call *c, uint32_t at);

MLA_FN(softmax)
{
	mla_tensor *t = NULL;
	mla_value x, axis, precise;
	int64_t a;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|x|input")) < 0 ||
	    (error = mla_arg_required(&axis, m, c, 1, "axis|dim")) < 0)
		return error;
	if (!mla_value_as_int(&a, axis))
		return mla_unsupported(m, "softmax over several axes");
	mla_arg(&precise, c, 99, "precise");
	if ((error = dtype_argument(&x, m, c, 99)) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_softmax(&t, m->engine, x.t, a));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

/* `dtype=` of a function that casts first. */
static int dtype_argument(mla_value *x, mla_machine *m, mla_call *c, uint32_t at)
{
	mla_value d, args[2];

	if (!mla_arg(&d, c, at, "dtype") || d.kind == MLA_V_NONE)
		return 0;
	args[0] = *x;
	args[1] = d;
	return mla_fn_cast(x, m, &(mla_call){.args = args, .n = 2, .name = "astype"}, 0);
}

MLA_FN(cumsum)
{
	mla_tensor *t = NULL;
	bool reverse, inclusive;
	int64_t axis;
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis|dim", 0)) < 0 ||
	    (error = mla_arg_bool(&reverse, m, c, 2, "reverse", false)) < 0 ||
	    (error = mla_arg_bool(&inclusive, m, c, 3, "inclusive", true)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_cumsum(&t, m->engine, x.t, axis, reverse, !inclusive));
	*out = mla_value_tensor(t, plain(x.from));
	return error;
}

MLA_FN(clip)
{
	static const struct {
		const char *names;
		mla_binary op;
	} bound[] = {{"a_min|min", MLA_EW_MAX}, {"a_max|max", MLA_EW_MIN}};
	mla_value x, v;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	for (uint32_t i = 0; i < 2; i++) {
		mla_tensor *t;

		if (!mla_arg(&v, c, i + 1, bound[i].names) || v.kind == MLA_V_NONE)
			continue;
		if ((error = mla_as_tensor(&v, m, v)) < 0 ||
		    (error = mla_engine_fault(
			     m, mla_binary_op(&t, m->engine, bound[i].op, x.t, v.t))) < 0)
			return error;
		x = mla_value_tensor(t, plain(x.from));
	}
	*out = x;
	return mla_call_done(m, c);
}

static int one(mla_value *x, mla_machine *m, mla_call *c)
{
	int error = mla_arg_tensor(x, m, c, 0, "x|input|a");

	return error < 0 ? error : mla_call_done(m, c);
}

MLA_FN(silu)
{
	mla_tensor *s, *t = NULL;
	mla_value x;
	int error;

	(void)variant;
	if ((error = one(&x, m, c)) < 0)
		return error;
	if ((error = mla_unary_op(&s, m->engine, MLA_EW_SIGMOID, x.t)) == 0)
		error = mla_binary_op(&t, m->engine, MLA_EW_MUL, x.t, s);
	*out = mla_value_tensor(t, plain(x.from));
	return mla_engine_fault(m, error);
}

MLA_FN(relu)
{
	mla_tensor *t = NULL;
	mla_value x;
	int error;

	(void)variant;
	if ((error = one(&x, m, c)) < 0)
		return error;
	error = mla_binary_number(&t, m->engine, MLA_EW_MAX, x.t, 0);
	*out = mla_value_tensor(t, plain(x.from));
	return mla_engine_fault(m, error);
}

MLA_FN(gelu)
{
	(void)out;
	(void)variant;
	return mla_unsupported(m, "%s", c->name);
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|) */
MLA_FN(softplus)
{
	mla_engine *e = m->engine;
	mla_tensor *a, *b, *t = NULL;
	mla_value x;
	int error;

	(void)variant;
	if ((error = one(&x, m, c)) < 0)
		return error;
	if ((error = mla_unary_op(&a, e, MLA_EW_ABS, x.t)) == 0 &&
	    (error = mla_unary_op(&a, e, MLA_EW_NEG, a)) == 0 &&
	    (error = mla_unary_op(&a, e, MLA_EW_EXP, a)) == 0 &&
	    (error = mla_binary_number(&a, e, MLA_EW_ADD, a, 1)) == 0 &&
	    (error = mla_unary_op(&a, e, MLA_EW_LOG, a)) == 0 &&
	    (error = mla_binary_number(&b, e, MLA_EW_MAX, x.t, 0)) == 0)
		error = mla_binary_op(&t, e, MLA_EW_ADD, a, b);
	*out = mla_value_tensor(t, plain(x.from));
	return mla_engine_fault(m, error);
}

static int optional_tensor(mla_value *out, mla_machine *m, mla_call *c, uint32_t at,
                           const char *names)
{
	*out = mla_value_none;
	if (!mla_arg(out, c, at, names) || out->kind == MLA_V_NONE || out->kind == MLA_V_TENSOR)
		return 0;
	return mla_raise(m, "TypeError", "%s: a %s is not an array", c->name, mla_value_type(*out));
}

MLA_FN(norm)
{
	mla_value x, weight, bias = mla_value_none, shape;
	bool layer = variant == 1;
	mla_tensor *t = NULL;
	double eps;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "x|input")) < 0)
		return error;
	if (m->torch && (!mla_arg(&shape, c, 1, "normalized_shape") ||
	                 (mla_value_is_sequence(shape) && shape.seq->n != 1)))
		return mla_unsupported(m, "a norm over several axes");
	if ((error = optional_tensor(&weight, m, c, m->torch ? 2 : 1, "weight")) < 0 ||
	    (layer && (error = optional_tensor(&bias, m, c, m->torch ? 3 : 2, "bias")) < 0) ||
	    (error = mla_arg_float(&eps, m, c, (layer ? 3 : 2) + m->torch, "eps", 1e-5)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (layer)
		error = mla_layer_norm(&t, m->engine, x.t,
		                       weight.kind == MLA_V_TENSOR ? weight.t : NULL,
		                       bias.kind == MLA_V_TENSOR ? bias.t : NULL, eps);
	else
		error = mla_rms_norm(&t, m->engine, x.t,
		                     weight.kind == MLA_V_TENSOR ? weight.t : NULL, eps);
	*out = mla_value_tensor(t, plain(x.from));
	return mla_engine_fault(m, error);
}

/* silu(gate) * x, a helper that runtimes share */
MLA_FN(swiglu)
{
	mla_value gate, x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&gate, m, c, 0, "gate")) < 0 ||
	    (error = mla_arg_tensor(&x, m, c, 1, "x")) < 0 || (error = mla_call_done(m, c)) < 0 ||
	    (error = mla_fn_silu(&gate, m, &(mla_call){.args = &gate, .n = 1, .name = "silu"}, 0)) <
	            0)
		return error;
	return mla_operate(out, m, MLA_OP_MUL, gate, x);
}

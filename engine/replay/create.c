/* Functions that make arrays from nothing, change their format, or give them back. */
#include "engine/elementwise.h"
#include "engine/make.h"
#include "engine/move.h"
#include "engine/replay/functions.h"
#include "engine/view.h"

static int dtype_of(mla_dtype *out, mla_machine *m, mla_value v)
{
	if (v.kind == MLA_V_DTYPE && !v.weak) {
		*out = v.dtype;
		return 0;
	}
	if (v.kind == MLA_V_BUILTIN && mla_str_is(mla_str_c(v.builtin->name), "bool")) {
		*out = MLA_BOOL;
		return 0;
	}
	return mla_unsupported(m, "a %s as a dtype", mla_value_type(v));
}

/* The keyword dtype, or `otherwise`. PyTorch's device and gradient flags do not matter. */
static int dtype_argument(mla_dtype *out, mla_machine *m, mla_call *c, uint32_t at,
                          mla_dtype otherwise)
{
	mla_value v;

	mla_arg(&v, c, 99, "device");
	mla_arg(&v, c, 99, "requires_grad");
	mla_arg(&v, c, 99, "stream");
	*out = otherwise;
	if (!mla_arg(&v, c, at, "dtype") || v.kind == MLA_V_NONE)
		return 0;
	return dtype_of(out, m, v);
}

/* Nested lists of numbers: the shape of the first ones, and every number in order. */
static int flatten(mla_value v, mla_machine *m, uint32_t depth, int64_t shape[MLA_DIMS],
                   uint32_t *ndim, double *to, uint32_t room, uint32_t *n, mla_dtype *d)
{
	int error = 0;

	if (!mla_value_is_sequence(v)) {
		double f;

		if (depth != *ndim || !mla_value_as_float(&f, v))
			return mla_unsupported(m, "an array of such a list");
		/* In order of promotion: truth values, integers, floats. */
		if (v.kind == MLA_V_FLOAT)
			*d = MLA_F32;
		else if (v.kind == MLA_V_INT && *d == MLA_BOOL)
			*d = MLA_I32;
		if (*n == room)
			return mla_limit(m, "an array literal of more than %u numbers", room);
		to[(*n)++] = f;
		return 0;
	}
	if (depth == MLA_DIMS)
		return mla_unsupported(m, "more than %d dimensions", MLA_DIMS);
	if (depth == *ndim && !*n)
		shape[(*ndim)++] = v.seq->n;
	if (depth >= *ndim || shape[depth] != v.seq->n)
		return mla_raise(m, "ValueError", "an array of lists of different lengths");
	for (uint32_t i = 0; i < v.seq->n && error == 0; i++)
		error = flatten(v.seq->v[i], m, depth + 1, shape, ndim, to, room, n, d);
	return error;
}

static int array_of_list(mla_value *out, mla_machine *m, mla_value v, mla_dtype d, bool given)
{
	double numbers[1024];
	int64_t shape[MLA_DIMS];
	uint32_t n = 0, ndim = 0;
	mla_dtype natural = MLA_BOOL;
	mla_tensor *t = NULL;
	int error = flatten(v, m, 0, shape, &ndim, numbers, 1024, &n, &natural);

	if (error < 0)
		return error;
	if (!given)
		d = n ? natural : MLA_F32;
	error = mla_tensor_from(&t, m->engine, mla_engine_dtype(m->engine, d), ndim, shape,
	                        numbers);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

MLA_FN(array)
{
	mla_value v, d;
	mla_dtype type = MLA_F32;
	mla_tensor *t = NULL;
	double number = 0;
	bool given;
	int error;

	(void)variant;
	if ((error = mla_arg_required(&v, m, c, 0, "val|data|object")) < 0)
		return error;
	given = mla_arg(&d, c, 1, "dtype") && d.kind != MLA_V_NONE;
	if (given && (error = dtype_of(&type, m, d)) < 0)
		return error;
	mla_arg(&d, c, 99, "device");
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	if (v.kind == MLA_V_TENSOR) {
		*out = v;
		return given ? mla_fn_cast(out, m,
		                           &(mla_call){.args = (mla_value[]){v, d},
		                                       .n = 2,
		                                       .name = "array"},
		                           0)
		             : 0;
	}
	if (mla_value_is_sequence(v))
		return array_of_list(out, m, v, type, given);
	if (!mla_value_as_float(&number, v))
		return mla_unsupported(m, "an array of a %s", mla_value_type(v));
	if (!given)
		type = v.kind == MLA_V_BOOL ? MLA_BOOL : v.kind == MLA_V_INT ? MLA_I32 : MLA_F32;
	error = mla_tensor_from(&t, m->engine, mla_engine_dtype(m->engine, type), 0, NULL, &number);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

/* Sizes one by one (PyTorch) or as a sequence; *next is the argument behind them. */
static int shape_argument(uint32_t *n, int64_t shape[MLA_DIMS], uint32_t *next, mla_machine *m,
                          mla_call *c)
{
	mla_value v;
	int error;

	*next = 1;
	if ((error = mla_arg_required(&v, m, c, 0, "shape|size")) < 0)
		return error;
	if (!m->torch || mla_value_is_sequence(v))
		return mla_as_ints(n, shape, m, v);
	for (*n = 0; *n < c->n; (*n)++) {
		if (*n == MLA_DIMS)
			return mla_unsupported(m, "more than %d dimensions", MLA_DIMS);
		if (!mla_value_as_int(&shape[*n], c->args[*n]))
			return mla_unsupported(m, "a %s as a size", mla_value_type(c->args[*n]));
		c->used |= (uint64_t)1 << *n;
	}
	*next = *n;
	return 0;
}

MLA_FN(filled)
{
	static const double values[] = {0, 1};
	int64_t shape[MLA_DIMS];
	uint32_t n, next;
	mla_tensor *t = NULL;
	mla_dtype type;
	double value = variant < 2 ? values[variant] : 0;
	mla_value v = mla_value_none;
	int error;

	if ((error = shape_argument(&n, shape, &next, m, c)) < 0)
		return error;
	if (variant == 2) {
		if ((error = mla_arg_required(&v, m, c, next++, "vals|fill_value")) < 0)
			return error;
		if (!mla_value_as_float(&value, v) &&
		    !(v.kind == MLA_V_TENSOR && v.t->count == 1 && mla_tensor_has_data(v.t)))
			return mla_unsupported(m, "full of a %s", mla_value_type(v));
		if (v.kind == MLA_V_TENSOR)
			value = mla_tensor_at(v.t, 0);
	}
	if ((error = dtype_argument(&type, m, c, m->torch ? 99 : next,
	                            v.kind == MLA_V_BOOL     ? MLA_BOOL
	                            : v.kind == MLA_V_INT    ? MLA_I32
	                            : v.kind == MLA_V_TENSOR ? v.t->dtype
	                                                     : MLA_F32)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (variant == 3 && mla_dtype_is_float(type)) {
		/* What empty() holds is nobody's business: as a weight it is drawn. */
		if (!m->constructing)
			return mla_unsupported(m, "%s", c->name);
		return mla_draw(out, m, n, shape, 0, 0);
	}
	error = mla_make_full(&t, m->engine, type, n, shape, value);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

MLA_FN(filled_like)
{
	static const double values[] = {0, 1};
	mla_tensor *t = NULL;
	mla_value x, v;
	mla_dtype type;
	double value = variant < 2 ? values[variant] : 0;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	if (variant == 2 && ((error = mla_arg_required(&v, m, c, 1, "vals|fill_value")) < 0 ||
	                     !mla_value_as_float(&value, v)))
		return error < 0 ? error : mla_unsupported(m, "full_like of such a value");
	if ((error = dtype_argument(&type, m, c, 99, x.t->dtype)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_make_full(&t, m->engine, type, x.t->ndim, x.t->shape, value);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

MLA_FN(arange)
{
	mla_value v[3];
	double d[3] = {0, 0, 1};
	mla_tensor *t = NULL;
	mla_dtype type;
	bool real = false;
	uint32_t n = 0;
	int error;

	(void)variant;
	static const char *const names[] = {"start", "stop|end", "step"};
	for (uint32_t i = 0; i < 3; i++) {
		if (!mla_arg(&v[n], c, i, names[i]) || v[n].kind == MLA_V_DTYPE)
			continue;
		if (v[n].kind == MLA_V_TENSOR && v[n].t->count == 1 && mla_tensor_has_data(v[n].t))
			d[n] = mla_tensor_at(v[n].t, 0);
		else if (!mla_value_as_float(&d[n], v[n]))
			return mla_unsupported(m, "arange of a %s", mla_value_type(v[n]));
		real |= v[n].kind == MLA_V_FLOAT;
		n++;
	}
	if (n == 1) {
		d[1] = d[0];
		d[0] = 0;
	}
	if (!n)
		return mla_raise(m, "TypeError", "arange() misses its end");
	if ((error = dtype_argument(&type, m, c, 3, real ? MLA_F32 : MLA_I32)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_make_arange(&t, m->engine, type, d[0], d[1], d[2]);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

/* Weights: whatever the distribution, they are drawn by the engine. */
MLA_FN(random)
{
	static const char *const first[] = {"low", "loc"}, *const second[] = {"high", "scale"};
	int64_t shape[MLA_DIMS];
	mla_value v;
	mla_dtype type;
	uint32_t n, next;
	int error;

	if (!m->constructing)
		return mla_unsupported(m, "random numbers in a method");
	if (variant >= 2) {
		if ((error = shape_argument(&n, shape, &next, m, c)) < 0)
			return error;
	} else {
		uint32_t at = variant ? 0 : 2;

		for (uint32_t i = 0; !variant && i < 2; i++)
			mla_arg(&v, c, i, i ? second[variant] : first[variant]);
		mla_arg(&v, c, 99, variant ? "loc" : "key");
		mla_arg(&v, c, 99, variant ? "scale" : "key");
		if ((error = mla_arg_required(&v, m, c, at, "shape")) < 0 ||
		    (error = mla_as_ints(&n, shape, m, v)) < 0)
			return error;
	}
	if ((error = dtype_argument(&type, m, c, 99, MLA_F32)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	return mla_draw(out, m, n, shape, 0, 0);
}

MLA_FN(cast)
{
	mla_value x, d;
	mla_tensor *t = NULL;
	mla_dtype type;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	mla_arg(&d, c, 99, "device");
	if (!mla_arg(&d, c, 1, "dtype|other")) {
		*out = x;
		return mla_call_done(m, c);
	}
	/* to(device), to(other) and to(dtype) of PyTorch */
	if (d.kind == MLA_V_TENSOR)
		d = (mla_value){.kind = MLA_V_DTYPE, .dtype = d.t->dtype};
	if (d.kind == MLA_V_STR || d.kind == MLA_V_NONE) {
		*out = x;
		return mla_call_done(m, c);
	}
	if ((error = dtype_of(&type, m, d)) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_move_cast(&t, m->engine, x.t, type));
	*out = mla_value_tensor(t, x.from);
	return error;
}

MLA_FN(cast_to)
{
	mla_tensor *t = NULL;
	mla_value x;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "input")) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_engine_fault(m, mla_move_cast(&t, m->engine, x.t, (mla_dtype)variant));
	*out = mla_value_tensor(t, x.from);
	return error;
}

MLA_FN(identity)
{
	mla_value ignored;
	int error = mla_arg_required(out, m, c, 0, "x|a|input|inputs|fun|arr");

	for (uint32_t i = 1; variant && i < c->n; i++)
		mla_arg(&ignored, c, i, "");
	if (variant)
		c->keyword_used = ~(uint64_t)0;
	return error < 0 ? error : mla_call_done(m, c);
}

MLA_FN(nothing)
{
	(void)m;
	(void)c;
	(void)variant;
	*out = mla_value_none;
	return 0;
}

/* Whether there is a device, a kernel, a process group: none of them here. */
MLA_FN(false)
{
	(void)m;
	(void)c;
	*out = variant ? mla_value_int(variant - 1) : mla_value_bool(false);
	return 0;
}

/* The limits of a format: a dtype value marked as such. */
MLA_FN(finfo)
{
	mla_value d;
	int error = mla_arg_required(&d, m, c, 0, "dtype|type");

	(void)variant;
	if (error < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	if (d.kind != MLA_V_DTYPE || d.weak)
		return mla_unsupported(m, "finfo of a %s", mla_value_type(d));
	if (!mla_dtype_is_float(d.dtype))
		return mla_raise(m, "ValueError", "finfo of %s", mla_dtype_name(d.dtype));
	*out = d;
	out->dtype = mla_engine_dtype(m->engine, d.dtype);
	out->weak = true;
	return 0;
}

MLA_FN(item)
{
	mla_value x;
	double f;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a")) < 0 || (error = mla_call_done(m, c)) < 0)
		return error;
	if (x.t->count != 1)
		return mla_raise(m, "ValueError", "item() of %lld elements", (long long)x.t->count);
	if (!mla_tensor_has_data(x.t))
		return mla_unsupported(m, "the value of an array");
	f = mla_tensor_at(x.t, 0);
	*out = x.t->dtype == MLA_BOOL  ? mla_value_bool(f != 0)
	       : x.t->dtype == MLA_I32 ? mla_value_int((int64_t)f)
	                               : mla_value_float(f);
	return 0;
}

MLA_FN(tolist)
{
	(void)out;
	(void)variant;
	return mla_unsupported(m, "%s", c->name);
}

/* nn.Parameter, register_buffer(name, value) */
MLA_FN(parameter)
{
	mla_value self, name, v;
	int error;

	if (!variant) {
		mla_arg(&v, c, 1, "requires_grad");
		return mla_arg_required(out, m, c, 0, "data");
	}
	mla_arg(&v, c, 3, "persistent");
	if ((error = mla_arg_required(&self, m, c, 0, "self")) < 0 ||
	    (error = mla_arg_required(&name, m, c, 1, "name")) < 0 ||
	    (error = mla_arg_required(&v, m, c, 2, "tensor|param")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	*out = mla_value_none;
	if (name.kind != MLA_V_STR)
		return mla_unsupported(m, "%s", c->name);
	return mla_attribute_set(m, self, name.s, v);
}

/* The few functions of Python's library that model files call: math, functools, dataclasses. */
#include "engine/replay/functions.h"

#include <math.h>

static int fn_math(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	double x, y;

	if (c->n < 1 || c->keywords || !mla_value_as_float(&x, c->args[0]))
		return c->n && c->args[0].kind == MLA_V_OPEN
		               ? mla_unsupported(m, "config value `%.*s` has no default",
		                                 MLA_ARG(c->args[0].s))
		               : mla_raise(m, "TypeError", "%s() needs a number", c->name);
	switch (variant) {
	case 0:
		if (x < 0)
			return mla_raise(m, "ValueError", "math domain error");
		*out = mla_value_float(sqrt(x));
		return 0;
	case 1:
		if (x <= 0)
			return mla_raise(m, "ValueError", "math domain error");
		if (c->n > 1 && (!mla_value_as_float(&y, c->args[1]) || y <= 0 || y == 1))
			return mla_raise(m, "ValueError", "math domain error");
		*out = mla_value_float(c->n > 1 ? log(x) / log(y) : log(x));
		return 0;
	case 2:
		*out = mla_value_float(exp(x));
		return 0;
	case 3:
	case 4:
		if (!(fabs(x) < 0x1p62))
			return mla_raise(m, "OverflowError", "%s of such a float", c->name);
		*out = mla_value_int((int64_t)(variant == 3 ? floor(x) : ceil(x)));
		return 0;
	case 5:
		if (c->n != 2 || !mla_value_as_float(&y, c->args[1]))
			return mla_raise(m, "TypeError", "pow() takes two numbers");
		*out = mla_value_float(pow(x, y));
		return 0;
	case 6:
		*out = mla_value_float(cos(x));
		return 0;
	case 7:
		*out = mla_value_float(sin(x));
		return 0;
	default:
		*out = mla_value_float(log2(x));
		return 0;
	}
}

static int fn_partial(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_bound *b = mla_machine_alloc(m, 1, sizeof(*b));
	int error = 0;

	(void)variant;
	if (!c->n)
		return mla_raise(m, "TypeError", "partial() needs a function");
	b->callee = c->args[0];
	for (uint32_t i = 1; i < c->n && error == 0; i++)
		error = mla_sequence_push(m, &b->args, c->args[i]);
	for (uint32_t i = 0; i < c->keywords && error == 0; i++)
		error = mla_dictionary_set(m, &b->keywords, mla_value_str(c->keyword[i]),
		                           c->value[i]);
	*out = (mla_value){.kind = MLA_V_PARTIAL, .bound = b};
	return error;
}

/* dataclasses.field(default=..., default_factory=...) */
static int fn_field(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value factory;

	(void)variant;
	if (mla_arg(out, c, 99, "default"))
		return 0;
	if (mla_arg(&factory, c, 99, "default_factory"))
		return mla_call_plain(out, m, factory, NULL, 0);
	return mla_unsupported(m, "field without a default");
}

const mla_builtin mla_support_functions[] = {
	{"object.__init__", mla_fn_nothing, 0}, /* first: see object.c */
	{"partial", fn_partial, 0},
	{"field", fn_field, 0},
	{NULL, NULL, 0},
};

const mla_builtin mla_math_functions[] = {
	{"sqrt", fn_math, 0}, {"log", fn_math, 1}, {"exp", fn_math, 2}, {"floor", fn_math, 3},
	{"ceil", fn_math, 4}, {"pow", fn_math, 5}, {"cos", fn_math, 6}, {"sin", fn_math, 7},
	{"log2", fn_math, 8}, {NULL, NULL, 0},
};

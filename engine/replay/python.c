/* Python's own builtins. */
#include "engine/replay/functions.h"

#include <math.h>

static int fn_len(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value v, list;
	int error = mla_arg_required(&v, m, c, 0, "obj");

	(void)variant;
	if (error < 0)
		return error;
	if (v.kind == MLA_V_TENSOR && v.t->ndim)
		*out = mla_value_int(v.t->shape[0]);
	else if (v.kind == MLA_V_STR)
		*out = mla_value_int(v.s.len);
	else if (v.kind == MLA_V_DICT && !v.dict->open)
		*out = mla_value_int(v.dict->n);
	else if ((error = mla_iterate(&list, m, v)) == 0)
		*out = mla_value_int(list.seq->n);
	return error;
}

static int fn_range(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	int64_t v[3] = {0, 0, 1};

	(void)variant;
	if (c->n < 1 || c->n > 3 || c->keywords)
		return mla_raise(m, "TypeError", "range() takes 1 to 3 arguments");
	for (uint32_t i = 0; i < c->n; i++)
		if (!mla_value_as_int(&v[c->n == 1 ? 1 : i], c->args[i]))
			return c->args[i].kind == MLA_V_OPEN || c->args[i].kind == MLA_V_TENSOR
			               ? mla_unsupported(m, "range of a %s",
			                                 mla_value_type(c->args[i]))
			               : mla_raise(m, "TypeError", "range of a %s",
			                           mla_value_type(c->args[i]));
	if (!v[2])
		return mla_raise(m, "ValueError", "range() step must not be zero");
	*out = mla_sequence_new(m, MLA_V_RANGE, 3);
	for (uint32_t i = 0; i < 3; i++)
		out->seq->v[out->seq->n++] = mla_value_int(v[i]);
	return 0;
}

/* A builtin type, by the builtin that makes it. */
static bool is_builtin_kind(mla_value v, const char *type)
{
	static const struct {
		const char *name;
		mla_value_kind kind;
	} table[] = {{"int", MLA_V_INT},      {"int", MLA_V_BOOL},     {"float", MLA_V_FLOAT},
	             {"bool", MLA_V_BOOL},    {"str", MLA_V_STR},      {"tuple", MLA_V_TUPLE},
	             {"list", MLA_V_LIST},    {"dict", MLA_V_DICT},    {"set", MLA_V_SET},
	             {"array", MLA_V_TENSOR}, {"Tensor", MLA_V_TENSOR}};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcmp(table[i].name, type) == 0 && table[i].kind == v.kind)
			return true;
	return false;
}

static mla_str last_part(mla_str s)
{
	for (uint32_t i = s.len; i > 0; i--)
		if (s.ptr[i - 1] == '.')
			return (mla_str){s.ptr + i, s.len - i};
	return s;
}

/* A plain cache: none of the special ones. Whether it is of the plain class cannot be said. */
static int cache_is(bool *out, mla_machine *m, mla_str class)
{
	static const char *const plain[] = {"KVCache", "Cache", "CacheList", "BatchKVCache", NULL};

	*out = false;
	return mla_str_in(class, plain)
	               ? mla_unsupported(m, "whether a cache is a %.*s", MLA_ARG(class))
	               : 0;
}

int mla_is_instance(bool *out, mla_machine *m, mla_value v, mla_value of)
{
	int error = 0;

	*out = false;
	if (of.kind == MLA_V_TUPLE) {
		for (uint32_t i = 0; i < of.seq->n && error == 0 && !*out; i++)
			error = mla_is_instance(out, m, v, of.seq->v[i]);
		return error;
	}
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	if (of.kind == MLA_V_BUILTIN) {
		*out = is_builtin_kind(v, of.builtin->name);
		return 0;
	}
	if (of.kind == MLA_V_CLASS) {
		if (v.kind == MLA_V_CACHE)
			return cache_is(out, m, of.class->node->name);
		for (uint32_t i = 0; v.kind == MLA_V_INSTANCE && i < v.instance->class->mro_count;
		     i++)
			*out |= v.instance->class->mro[i] == of.class;
		return 0;
	}
	if (of.kind != MLA_V_FOREIGN)
		return mla_unsupported(m, "isinstance of a %s", mla_value_type(of));
	if (v.kind == MLA_V_CACHE)
		return cache_is(out, m, last_part(of.s));
	if (v.kind == MLA_V_INSTANCE || v.kind == MLA_V_LAYER || v.kind == MLA_V_FUNCTION)
		return mla_unsupported(m, "isinstance of `%.*s`", MLA_ARG(of.s));
	return 0;
}

static int fn_isinstance(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	bool truth;
	int error;

	(void)variant;
	if (c->n != 2)
		return mla_raise(m, "TypeError", "isinstance() takes 2 arguments");
	error = mla_is_instance(&truth, m, c->args[0], c->args[1]);
	*out = mla_value_bool(truth);
	return error;
}

static int fn_hasattr(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	bool found;
	mla_value v;
	int error;

	if (c->n < 2 || c->args[1].kind != MLA_V_STR)
		return mla_unsupported(m, "%s of this form", c->name);
	error = mla_attribute_find(&found, &v, m, c->args[0], c->args[1].s);
	if (error < 0)
		return error;
	if (!variant) {
		*out = mla_value_bool(found);
		return 0;
	}
	if (!found && c->n < 3)
		return mla_attribute_get(out, m, c->args[0], c->args[1].s);
	*out = found ? v : c->args[2];
	return 0;
}

static int fn_setattr(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	*out = mla_value_none;
	if (c->n != 3 || c->args[1].kind != MLA_V_STR)
		return mla_unsupported(m, "setattr of this form");
	return mla_attribute_set(m, c->args[0], c->args[1].s, c->args[2]);
}

/* max and min of numbers, given one by one or as one iterable */
static int fn_extreme(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list, less;
	bool truth;
	int error;

	if (c->keywords)
		return mla_unsupported(m, "%s with a keyword", c->name);
	if (c->n == 1) {
		if ((error = mla_iterate(&list, m, c->args[0])) < 0)
			return error;
	} else {
		list = mla_sequence_new(m, MLA_V_LIST, c->n);
		if (c->n)
			memcpy(list.seq->v, c->args, c->n * sizeof(*c->args));
		list.seq->n = c->n;
	}
	if (!list.seq->n)
		return mla_raise(m, "ValueError", "%s() of nothing", c->name);
	*out = list.seq->v[0];
	for (uint32_t i = 1; i < list.seq->n; i++) {
		if ((error = mla_compare_values(&less, m, variant ? MLA_OP_GT : MLA_OP_LT,
		                                list.seq->v[i], *out)) < 0 ||
		    (error = mla_truth(&truth, m, less)) < 0)
			return error;
		if (truth)
			*out = list.seq->v[i];
	}
	return 0;
}

static int fn_number(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value v = mla_value_int(0);
	double f;
	bool truth;
	int error;

	if (c->n > 1 || c->keywords)
		return mla_unsupported(m, "%s of this form", c->name);
	if (c->n)
		v = c->args[0];
	if (variant == 2) {
		error = mla_truth(&truth, m, v);
		*out = mla_value_bool(truth);
		return error;
	}
	if (v.kind == MLA_V_TENSOR) {
		if ((error = mla_fn_item(&v, m, c, 0)) < 0)
			return error;
	}
	if (v.kind == MLA_V_STR && variant == 1) {
		static const struct {
			const char *text;
			double value;
		} table[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};

		for (uint32_t i = 0; i < 3; i++)
			if (mla_str_is(v.s, table[i].text)) {
				*out = mla_value_float(table[i].value);
				return 0;
			}
	}
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	if (!mla_value_as_float(&f, v))
		return mla_unsupported(m, "%s of a %s", c->name, mla_value_type(v));
	if (variant == 1) {
		*out = mla_value_float(f);
		return 0;
	}
	if (v.kind != MLA_V_FLOAT) {
		*out = mla_value_int(v.kind == MLA_V_BOOL ? v.b : v.i);
		return 0;
	}
	if (!(fabs(f) < 0x1p62))
		return mla_raise(m, "OverflowError", "int of a float beyond its range");
	*out = mla_value_int((int64_t)f);
	return 0;
}

static int fn_sequence(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	int error;

	*out = mla_sequence_new(m, (mla_value_kind)variant, 0);
	if (!c->n)
		return 0;
	if ((error = mla_iterate(&list, m, c->args[0])) < 0)
		return error;
	*out = list;
	out->kind = (uint8_t)variant;
	return variant == MLA_V_SET ? mla_set_unique(m, *out) : 0;
}

static int fn_dict(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	int error = 0;

	(void)variant;
	*out = mla_dictionary_new(m);
	if (c->n)
		return mla_unsupported(m, "dict of this form");
	for (uint32_t i = 0; i < c->keywords && error == 0; i++)
		error = mla_dictionary_set(m, out->dict, mla_value_str(c->keyword[i]), c->value[i]);
	return error;
}

static int fn_sum(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	int error;

	(void)variant;
	if (c->n < 1 || c->keywords)
		return mla_unsupported(m, "sum of this form");
	if ((error = mla_iterate(&list, m, c->args[0])) < 0)
		return error;
	*out = c->n > 1 ? c->args[1] : mla_value_int(0);
	for (uint32_t i = 0; i < list.seq->n && error == 0; i++)
		error = mla_operate(out, m, MLA_OP_ADD, *out, list.seq->v[i]);
	return error;
}

/* any: variant 0, all: 1 */
static int fn_any(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	bool truth = variant;
	int error;

	if (c->n != 1)
		return mla_raise(m, "TypeError", "%s() takes one argument", c->name);
	if ((error = mla_iterate(&list, m, c->args[0])) < 0)
		return error;
	for (uint32_t i = 0; i < list.seq->n && error == 0 && truth == (variant != 0); i++)
		error = mla_truth(&truth, m, list.seq->v[i]);
	*out = mla_value_bool(truth);
	return error;
}

static int push_pair(mla_machine *m, mla_value list, const mla_value *v, uint32_t n)
{
	mla_value t = mla_sequence_new(m, MLA_V_TUPLE, n);

	memcpy(t.seq->v, v, n * sizeof(*v));
	t.seq->n = n;
	return mla_sequence_push(m, list.seq, t);
}

static int fn_enumerate(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list, pair[2];
	int64_t start;
	int error;

	(void)variant;
	if ((error = mla_arg_required(&list, m, c, 0, "iterable")) < 0 ||
	    (error = mla_arg_int(&start, m, c, 1, "start", 0)) < 0 ||
	    (error = mla_iterate(&list, m, list)) < 0)
		return error;
	*out = mla_sequence_new(m, MLA_V_LIST, 0);
	for (uint32_t i = 0; i < list.seq->n && error == 0; i++) {
		pair[0] = mla_value_int(start + i);
		pair[1] = list.seq->v[i];
		error = push_pair(m, *out, pair, 2);
	}
	return error;
}

static int fn_zip(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list[8], row[8];
	uint32_t n = UINT32_MAX;
	int error = 0;

	(void)variant;
	if (c->n < 1 || c->n > 8 || c->keywords)
		return mla_unsupported(m, "zip of this form");
	for (uint32_t i = 0; i < c->n; i++) {
		if ((error = mla_iterate(&list[i], m, c->args[i])) < 0)
			return error;
		n = list[i].seq->n < n ? list[i].seq->n : n;
	}
	*out = mla_sequence_new(m, MLA_V_LIST, 0);
	for (uint32_t i = 0; i < n && error == 0; i++) {
		for (uint32_t k = 0; k < c->n; k++)
			row[k] = list[k].seq->v[i];
		error = push_pair(m, *out, row, c->n);
	}
	return error;
}

static int fn_reversed(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	int error;

	(void)variant;
	if (c->n != 1)
		return mla_raise(m, "TypeError", "reversed() takes one argument");
	if ((error = mla_iterate(&list, m, c->args[0])) < 0)
		return error;
	for (uint32_t i = 0; i < list.seq->n / 2; i++) {
		mla_value t = list.seq->v[i];

		list.seq->v[i] = list.seq->v[list.seq->n - 1 - i];
		list.seq->v[list.seq->n - 1 - i] = t;
	}
	*out = list;
	return 0;
}

static int fn_map(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	int error;

	(void)variant;
	if (c->n != 2)
		return mla_unsupported(m, "map of this form");
	if ((error = mla_iterate(&list, m, c->args[1])) < 0)
		return error;
	*out = mla_sequence_new(m, MLA_V_LIST, 0);
	for (uint32_t i = 0; i < list.seq->n && error == 0; i++) {
		mla_value v;

		if ((error = mla_call_plain(&v, m, c->args[0], &list.seq->v[i], 1)) == 0)
			error = mla_sequence_push(m, out->seq, v);
	}
	return error;
}

static int fn_abs(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	if (c->n != 1)
		return mla_raise(m, "TypeError", "abs() takes one argument");
	if (c->args[0].kind == MLA_V_TENSOR)
		return mla_unsupported(m, "abs of an array");
	if (c->args[0].kind == MLA_V_FLOAT)
		*out = mla_value_float(fabs(c->args[0].f));
	else if (mla_value_is_number(c->args[0]) && c->args[0].i >= 0)
		*out = c->args[0];
	else
		return mla_operate_unary(out, m, MLA_OP_SUB, c->args[0]);
	return 0;
}

static int fn_callable(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	uint8_t k = c->n ? c->args[0].kind : MLA_V_NONE;

	(void)m;
	(void)variant;
	*out = mla_value_bool(k == MLA_V_FUNCTION || k == MLA_V_METHOD || k == MLA_V_PARTIAL ||
	                      k == MLA_V_BUILTIN || k == MLA_V_CLASS || k == MLA_V_LAYER);
	return 0;
}

static int fn_type(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	if (c->n != 1)
		return mla_unsupported(m, "type of this form");
	if (c->args[0].kind == MLA_V_INSTANCE) {
		*out = (mla_value){.kind = MLA_V_CLASS, .class = c->args[0].instance->class};
		return 0;
	}
	if (mla_python_builtin(out, mla_str_c(mla_value_type(c->args[0]))))
		return 0;
	return mla_unsupported(m, "type of a %s", mla_value_type(c->args[0]));
}

/* Mostly named to ask what something is; only text is known to be its own text. */
static int fn_str(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	if (c->n != 1 || c->args[0].kind != MLA_V_STR)
		return mla_unsupported(m, "str of this form");
	*out = c->args[0];
	return 0;
}

/* An exception: its name and its text. What raises it is the statement. */
static int fn_exception(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	*out = mla_sequence_new(m, MLA_V_TUPLE, 2);
	out->seq->v[0] = mla_value_c(c->name);
	out->seq->v[1] = c->n && c->args[0].kind == MLA_V_STR ? c->args[0] : mla_value_c("");
	out->seq->n = 2;
	return 0;
}

const mla_builtin mla_python_functions[] = {
	{"len", fn_len, 0},
	{"range", fn_range, 0},
	{"isinstance", fn_isinstance, 0},
	{"hasattr", fn_hasattr, 0},
	{"getattr", fn_hasattr, 1},
	{"setattr", fn_setattr, 0},
	{"max", fn_extreme, 1},
	{"min", fn_extreme, 0},
	{"int", fn_number, 0},
	{"float", fn_number, 1},
	{"bool", fn_number, 2},
	{"str", fn_str, 0},
	{"list", fn_sequence, MLA_V_LIST},
	{"tuple", fn_sequence, MLA_V_TUPLE},
	{"set", fn_sequence, MLA_V_SET},
	{"iter", fn_sequence, MLA_V_LIST},
	{"dict", fn_dict, 0},
	{"sum", fn_sum, 0},
	{"any", fn_any, 0},
	{"all", fn_any, 1},
	{"enumerate", fn_enumerate, 0},
	{"zip", fn_zip, 0},
	{"reversed", fn_reversed, 0},
	{"map", fn_map, 0},
	{"abs", fn_abs, 0},
	{"callable", fn_callable, 0},
	{"type", fn_type, 0},
	{"print", mla_fn_nothing, 0},
	{"object", mla_fn_nothing, 0},
	{"Exception", fn_exception, 0},
	{"ValueError", fn_exception, 0},
	{"TypeError", fn_exception, 0},
	{"RuntimeError", fn_exception, 0},
	{"NotImplementedError", fn_exception, 0},
	{"KeyError", fn_exception, 0},
	{"IndexError", fn_exception, 0},
	{"AttributeError", fn_exception, 0},
	{"AssertionError", fn_exception, 0},
	{"ImportError", fn_exception, 0},
	{"ZeroDivisionError", fn_exception, 0},
	{NULL, NULL, 0},
};

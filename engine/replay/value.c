/* Values of a replayed program: making, comparing and naming them. */
#include "engine/replay/value.h"

const mla_value mla_value_none = {.kind = MLA_V_NONE};

mla_value mla_value_bool(bool b)
{
	return (mla_value){.kind = MLA_V_BOOL, .b = b};
}

mla_value mla_value_int(int64_t i)
{
	return (mla_value){.kind = MLA_V_INT, .i = i};
}

mla_value mla_value_float(double f)
{
	return (mla_value){.kind = MLA_V_FLOAT, .f = f};
}

mla_value mla_value_str(mla_str s)
{
	return (mla_value){.kind = MLA_V_STR, .s = s};
}

mla_value mla_value_c(const char *z)
{
	return mla_value_str(mla_str_c(z));
}

mla_value mla_value_tensor(mla_tensor *t, unsigned from)
{
	return (mla_value){.kind = MLA_V_TENSOR, .from = (uint8_t)from, .t = t};
}

bool mla_value_as_int(int64_t *out, mla_value v)
{
	if (v.kind == MLA_V_INT)
		*out = v.i;
	else if (v.kind == MLA_V_BOOL)
		*out = v.b;
	else
		return false;
	return true;
}

bool mla_value_as_float(double *out, mla_value v)
{
	int64_t i;

	if (v.kind == MLA_V_FLOAT)
		*out = v.f;
	else if (mla_value_as_int(&i, v))
		*out = (double)i;
	else
		return false;
	return true;
}

static bool equal_numbers(mla_value a, mla_value b)
{
	double x = 0, y = 0;
	int64_t i, k;

	if (mla_value_as_int(&i, a) && mla_value_as_int(&k, b))
		return i == k;
	mla_value_as_float(&x, a);
	mla_value_as_float(&y, b);
	return x == y;
}

/* Sequences nest as deep as the program made them: one level of them is enough for shapes. */
static bool equal_flat(bool *known, mla_value a, mla_value b)
{
	if (mla_value_is_number(a) && mla_value_is_number(b))
		return equal_numbers(a, b);
	if (a.kind == MLA_V_TENSOR || b.kind == MLA_V_TENSOR || a.kind == MLA_V_OPEN ||
	    b.kind == MLA_V_OPEN) {
		*known = false;
		return false;
	}
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case MLA_V_STR:
	case MLA_V_FOREIGN:
		return mla_str_eq(a.s, b.s);
	case MLA_V_DTYPE:
		return a.dtype == b.dtype;
	case MLA_V_NONE:
	case MLA_V_ELLIPSIS:
		return true;
	case MLA_V_FUNCTION:
	case MLA_V_BUILTIN:
	case MLA_V_CLASS:
	case MLA_V_INSTANCE:
	case MLA_V_LAYER:
	case MLA_V_CACHE:
	case MLA_V_MODULE:
		return mla_value_same(a, b);
	default:
		*known = false;
		return false;
	}
}

bool mla_value_equal(bool *known, mla_value a, mla_value b)
{
	bool same = true;

	*known = true;
	if (!mla_value_is_sequence(a) || !mla_value_is_sequence(b))
		return equal_flat(known, a, b);
	if (a.kind != b.kind || a.seq->n != b.seq->n)
		return false;
	for (uint32_t i = 0; i < a.seq->n && *known && same; i++)
		same = equal_flat(known, a.seq->v[i], b.seq->v[i]);
	return same && *known;
}

bool mla_value_same(mla_value a, mla_value b)
{
	bool known;

	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case MLA_V_TENSOR:
		return a.t == b.t;
	case MLA_V_TUPLE:
	case MLA_V_LIST:
	case MLA_V_SET:
	case MLA_V_RANGE:
		return a.seq == b.seq;
	case MLA_V_DICT:
		return a.dict == b.dict;
	case MLA_V_FUNCTION:
		return a.function == b.function;
	case MLA_V_BUILTIN:
		return a.builtin == b.builtin;
	case MLA_V_CLASS:
		return a.class == b.class;
	case MLA_V_INSTANCE:
		return a.instance == b.instance;
	case MLA_V_LAYER:
		return a.layer == b.layer;
	case MLA_V_CACHE:
		return a.cache == b.cache;
	case MLA_V_MODULE:
		return a.module == b.module;
	default:
		return equal_flat(&known, a, b);
	}
}

const char *mla_value_type(mla_value v)
{
	static const char *const names[] = {
		[MLA_V_UNBOUND] = "nothing",
		[MLA_V_NONE] = "NoneType",
		[MLA_V_BOOL] = "bool",
		[MLA_V_INT] = "int",
		[MLA_V_FLOAT] = "float",
		[MLA_V_STR] = "str",
		[MLA_V_TUPLE] = "tuple",
		[MLA_V_LIST] = "list",
		[MLA_V_SET] = "set",
		[MLA_V_DICT] = "dict",
		[MLA_V_SLICE] = "slice",
		[MLA_V_ELLIPSIS] = "ellipsis",
		[MLA_V_RANGE] = "range",
		[MLA_V_TENSOR] = "array",
		[MLA_V_DTYPE] = "dtype",
		[MLA_V_FUNCTION] = "function",
		[MLA_V_METHOD] = "method",
		[MLA_V_PARTIAL] = "partial",
		[MLA_V_BUILTIN] = "builtin",
		[MLA_V_CLASS] = "type",
		[MLA_V_INSTANCE] = "object",
		[MLA_V_SUPER] = "super",
		[MLA_V_PROPERTY] = "property",
		[MLA_V_MODULE] = "module",
		[MLA_V_FOREIGN] = "imported name",
		[MLA_V_LAYER] = "layer",
		[MLA_V_CACHE] = "cache",
		[MLA_V_OPEN] = "open config value",
	};

	return names[v.kind];
}

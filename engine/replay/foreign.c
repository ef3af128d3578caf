/* Imported names that are not in the project: what each dotted path means, or only its name. */
#include "engine/replay/functions.h"

#include <math.h>

typedef struct {
	const char *prefix; /* with its last dot */
	const mla_builtin *table;
} space;

static const mla_builtin random_functions[] = {
	{"uniform", mla_fn_random, 0},
	{"normal", mla_fn_random, 1},
	{NULL, NULL, 0},
};

/* Whether there is something to run on: here there is nothing but the engine. */
static const mla_builtin environment_functions[] = {
	{"mlx.core.metal.is_available", mla_fn_false, 0},
	{"mlx.core.cuda.is_available", mla_fn_false, 0},
	{"mlx.core.distributed.is_available", mla_fn_false, 0},
	{"torch.cuda.is_available", mla_fn_false, 0},
	{"torch.backends.mps.is_available", mla_fn_false, 0},
	{"torch.distributed.is_initialized", mla_fn_false, 0},
	{"torch.is_grad_enabled", mla_fn_false, 0},
	{NULL, NULL, 0},
};

/* Longer prefixes first. */
static const space spaces[] = {
	{"mlx.core.fast.", mla_fast_functions},
	{"mlx.core.random.", random_functions},
	{"mlx.core.", mla_array_functions},
	{"mlx.nn.", mla_layer_functions},
	{"torch.nn.functional.", mla_layer_functions},
	{"torch.nn.", mla_layer_functions},
	{"torch.", mla_array_functions_torch},
	{"math.", mla_math_functions},
	{"functools.", mla_support_functions},
	{"dataclasses.", mla_support_functions},
};

bool mla_is_module_class(mla_str path)
{
	static const char *const names[] = {"mlx.nn.Module", "torch.nn.Module",
	                                    "mlx.nn.layers.base.Module", NULL};

	return mla_str_in(path, names);
}

static bool in_table(mla_value *out, const mla_builtin *table, mla_str name)
{
	for (const mla_builtin *b = table; b->name; b++)
		if (mla_str_is(name, b->name)) {
			*out = (mla_value){.kind = MLA_V_BUILTIN, .builtin = b};
			return true;
		}
	return false;
}

bool mla_python_builtin(mla_value *out, mla_str name)
{
	return in_table(out, mla_python_functions, name);
}

static bool dtype_named(mla_value *out, mla_str name)
{
	static const struct {
		const char *name;
		mla_dtype d;
	} table[] = {{"float32", MLA_F32}, {"float", MLA_F32},     {"float16", MLA_F16},
	             {"half", MLA_F16},    {"bfloat16", MLA_BF16}, {"float64", MLA_F64},
	             {"int32", MLA_I32},   {"int64", MLA_I32},     {"long", MLA_I32},
	             {"int", MLA_I32},     {"uint32", MLA_I32},    {"bool_", MLA_BOOL},
	             {"bool", MLA_BOOL}};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (mla_str_is(name, table[i].name)) {
			*out = (mla_value){.kind = MLA_V_DTYPE, .dtype = table[i].d};
			return true;
		}
	return false;
}

static bool constant_named(mla_value *out, mla_str name)
{
	if (mla_str_is(name, "pi"))
		*out = mla_value_float(acos(-1));
	else if (mla_str_is(name, "inf"))
		*out = mla_value_float(INFINITY);
	else if (mla_str_is(name, "nan"))
		*out = mla_value_float(NAN);
	else if (mla_str_is(name, "newaxis"))
		*out = mla_value_none;
	else
		return false;
	return true;
}

static mla_str after(mla_str path, const char *prefix)
{
	uint32_t n = (uint32_t)strlen(prefix);

	return (mla_str){path.ptr + n, path.len - n};
}

static mla_str last_part(mla_str s)
{
	for (uint32_t i = s.len; i > 0; i--)
		if (s.ptr[i - 1] == '.')
			return (mla_str){s.ptr + i, s.len - i};
	return s;
}

static bool is_framework(mla_str path)
{
	static const char *const roots[] = {"mlx.",         "torch.",  "math.",  "functools.",
	                                    "dataclasses.", "typing.", "numpy.", NULL};

	for (const char *const *r = roots; *r; r++)
		if (mla_str_starts(path, *r))
			return true;
	return false;
}

/* nn.Module.__init__ and the methods that a Module brings */
static bool module_method(mla_value *out, mla_str path)
{
	static const char *const module[] = {"mlx.nn.Module.__init__", "torch.nn.Module.__init__",
	                                     NULL};

	if (!mla_str_in(path, module))
		return false;
	*out = (mla_value){.kind = MLA_V_BUILTIN, .builtin = &mla_support_functions[0]};
	return true;
}

int mla_foreign(mla_value *out, mla_machine *m, mla_str path)
{
	if (mla_str_starts(path, "torch"))
		m->torch = true;
	if (in_table(out, environment_functions, path) || module_method(out, path))
		return 0;
	if (mla_str_is(path, "torch.nn.functional.scaled_dot_product_attention")) {
		static const mla_builtin attention = {"scaled_dot_product_attention",
		                                      mla_fn_attention, 2};

		*out = (mla_value){.kind = MLA_V_BUILTIN, .builtin = &attention};
		return 0;
	}
	for (uint32_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
		mla_str name;

		if (!mla_str_starts(path, spaces[i].prefix))
			continue;
		name = after(path, spaces[i].prefix);
		if (in_table(out, spaces[i].table, name))
			return 0;
		if (spaces[i].table == mla_array_functions ||
		    spaces[i].table == mla_array_functions_torch ||
		    spaces[i].table == mla_math_functions)
			if (constant_named(out, name) ||
			    (spaces[i].table != mla_math_functions && dtype_named(out, name)))
				return 0;
	}
	if (!is_framework(path) && in_table(out, mla_known_functions, last_part(path)))
		return 0;
	*out = (mla_value){.kind = MLA_V_FOREIGN, .s = path};
	return 0;
}

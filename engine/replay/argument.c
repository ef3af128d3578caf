/* Arguments of builtins: by position or name, with their types; what is not looked at is noticed.
 */
#include "engine/replay/machine.h"

static bool named(mla_str keyword, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, "|");

		if (n == keyword.len && memcmp(names, keyword.ptr, n) == 0)
			return true;
		names += n + (names[n] == '|');
	}
	return false;
}

bool mla_arg(mla_value *out, mla_call *c, uint32_t at, const char *names)
{
	for (uint32_t i = 0; i < c->keywords; i++)
		if (named(c->keyword[i], names)) {
			c->keyword_used |= (uint64_t)1 << i;
			*out = c->value[i];
			return true;
		}
	if (at >= c->n)
		return false;
	c->used |= (uint64_t)1 << at;
	*out = c->args[at];
	return true;
}

int mla_arg_required(mla_value *out, mla_machine *m, mla_call *c, uint32_t at, const char *names)
{
	if (mla_arg(out, c, at, names))
		return 0;
	return mla_raise(m, "TypeError", "%s: argument `%.*s` is missing", c->name,
	                 (int)strcspn(names, "|"), names);
}

int mla_arg_int(int64_t *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                int64_t otherwise)
{
	mla_value v;

	*out = otherwise;
	if (!mla_arg(&v, c, at, names))
		return 0;
	if (mla_value_as_int(out, v))
		return 0;
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	return mla_raise(m, "TypeError", "%s: `%.*s` is a %s, not an int", c->name,
	                 (int)strcspn(names, "|"), names, mla_value_type(v));
}

int mla_arg_bool(bool *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                 bool otherwise)
{
	mla_value v;

	*out = otherwise;
	return mla_arg(&v, c, at, names) ? mla_truth(out, m, v) : 0;
}

int mla_arg_float(double *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                  double otherwise)
{
	mla_value v;

	*out = otherwise;
	if (!mla_arg(&v, c, at, names) || mla_value_as_float(out, v))
		return 0;
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	if (v.kind == MLA_V_TENSOR && v.t->count == 1 && mla_tensor_has_data(v.t)) {
		*out = mla_tensor_at(v.t, 0);
		return 0;
	}
	return mla_raise(m, "TypeError", "%s: `%.*s` is a %s, not a number", c->name,
	                 (int)strcspn(names, "|"), names, mla_value_type(v));
}

int mla_arg_tensor(mla_value *out, mla_machine *m, mla_call *c, uint32_t at, const char *names)
{
	int error = mla_arg_required(out, m, c, at, names);

	if (error < 0)
		return error;
	if (out->kind == MLA_V_TENSOR || mla_value_is_number(*out))
		return mla_as_tensor(out, m, *out);
	if (out->kind == MLA_V_CACHE || out->kind == MLA_V_OPEN || out->kind == MLA_V_FOREIGN)
		return mla_unsupported(m, "%s of a %s", c->name, mla_value_type(*out));
	return mla_raise(m, "TypeError", "%s: a %s is not an array", c->name, mla_value_type(*out));
}

int mla_as_ints(uint32_t *n, int64_t v[MLA_DIMS], mla_machine *m, mla_value from)
{
	if (mla_value_as_int(&v[0], from)) {
		*n = 1;
		return 0;
	}
	if (!mla_value_is_sequence(from))
		return mla_raise(m, "TypeError", "a %s where sizes or axes belong",
		                 mla_value_type(from));
	if (from.seq->n > MLA_DIMS)
		return mla_unsupported(m, "more than %d dimensions", MLA_DIMS);
	*n = from.seq->n;
	for (uint32_t i = 0; i < *n; i++)
		if (!mla_value_as_int(&v[i], from.seq->v[i]))
			return from.seq->v[i].kind == MLA_V_OPEN
			               ? mla_unsupported(m, "config value `%.*s` has no default",
			                                 MLA_ARG(from.seq->v[i].s))
			               : mla_raise(m, "TypeError",
			                           "a %s where a size or axis belongs",
			                           mla_value_type(from.seq->v[i]));
	return 0;
}

int mla_call_done(mla_machine *m, const mla_call *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!(c->used >> i & 1))
			return mla_unsupported(m, "argument %u of %s", i + 1, c->name);
	for (uint32_t i = 0; i < c->keywords; i++)
		if (!(c->keyword_used >> i & 1) && c->value[i].kind != MLA_V_NONE)
			return mla_unsupported(m, "argument `%.*s` of %s", MLA_ARG(c->keyword[i]),
			                       c->name);
	return 0;
}

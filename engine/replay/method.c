/* Methods and attributes of Python's own containers, strings, and dtypes. */
#include "engine/replay/functions.h"

static int list_append(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_value list;
	int error = 0;

	*out = mla_value_none;
	if (c->n != 2)
		return mla_raise(m, "TypeError", "%s() takes one argument", c->name);
	if ((error = mla_check_own(m, c->args[0].seq->born)) < 0)
		return error;
	if (!variant)
		return mla_sequence_push(m, c->args[0].seq, c->args[1]);
	if ((error = mla_iterate(&list, m, c->args[1])) < 0)
		return error;
	for (uint32_t i = 0; i < list.seq->n && error == 0; i++)
		error = mla_sequence_push(m, c->args[0].seq, list.seq->v[i]);
	return error;
}

static int list_pop(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_sequence *s = c->args[0].seq;
	int64_t at = -1;
	int error = mla_check_own(m, s->born);

	(void)variant;
	if (error < 0)
		return error;
	if (c->n > 1 && !mla_value_as_int(&at, c->args[1]))
		return mla_raise(m, "TypeError", "pop() of a %s", mla_value_type(c->args[1]));
	at += at < 0 ? s->n : 0;
	if (at < 0 || at >= s->n)
		return mla_raise(m, "IndexError", "pop from an empty list or out of range");
	*out = s->v[at];
	for (uint32_t i = (uint32_t)at + 1; i < s->n; i++)
		s->v[i - 1] = s->v[i];
	s->n--;
	return 0;
}

static int dict_get(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	(void)variant;
	if (c->n < 2 || c->n > 3)
		return mla_raise(m, "TypeError", "get() takes 1 or 2 arguments");
	if (!mla_dictionary_get(out, c->args[0].dict, c->args[1]))
		*out = c->n == 3 ? c->args[2] : mla_value_none;
	return 0;
}

/* items: 0, keys: 1, values: 2 */
static int dict_items(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	const mla_dictionary *d = c->args[0].dict;
	int error = 0;

	if (d->open)
		return mla_unsupported(m, "%s of a config dictionary", c->name);
	*out = mla_sequence_new(m, MLA_V_LIST, d->n);
	for (uint32_t i = 0; i < d->n && error == 0; i++) {
		mla_value v = variant == 1 ? d->v[i].key : d->v[i].value;

		if (!variant) {
			v = mla_sequence_new(m, MLA_V_TUPLE, 2);
			v.seq->v[0] = d->v[i].key;
			v.seq->v[1] = d->v[i].value;
			v.seq->n = 2;
		}
		error = mla_sequence_push(m, out->seq, v);
	}
	return error;
}

static int text_test(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_str s, part;

	if (c->n != 2 || c->args[1].kind != MLA_V_STR)
		return mla_unsupported(m, "%s of this form", c->name);
	s = c->args[0].s;
	part = c->args[1].s;
	*out = mla_value_bool(part.len <= s.len && memcmp(s.ptr + (variant ? s.len - part.len : 0),
	                                                  part.ptr, part.len) == 0);
	return 0;
}

static int text_lower(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	mla_str s = c->args[0].s;
	char *text = mla_machine_alloc(m, s.len + 1, 1);

	(void)variant;
	for (uint32_t i = 0; i < s.len; i++)
		text[i] = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] + 32) : s.ptr[i];
	*out = mla_value_str((mla_str){text, s.len});
	return 0;
}

static int sequence_index(mla_value *out, mla_machine *m, mla_call *c, int variant)
{
	const mla_sequence *s = c->args[0].seq;
	int64_t n = 0;
	bool known;

	if (c->n != 2)
		return mla_raise(m, "TypeError", "%s() takes one argument", c->name);
	for (uint32_t i = 0; i < s->n; i++) {
		bool same = mla_value_equal(&known, s->v[i], c->args[1]);

		if (!known)
			return mla_unsupported(m, "%s among such values", c->name);
		if (same && variant) {
			*out = mla_value_int(i);
			return 0;
		}
		n += same;
	}
	*out = mla_value_int(n);
	return variant ? mla_raise(m, "ValueError", "index() of what is not there") : 0;
}

static const struct {
	mla_value_kind kind;
	mla_builtin builtin;
} methods[] = {
	{MLA_V_LIST, {"append", list_append, 0}},    {MLA_V_LIST, {"extend", list_append, 1}},
	{MLA_V_LIST, {"pop", list_pop, 0}},          {MLA_V_LIST, {"index", sequence_index, 1}},
	{MLA_V_LIST, {"count", sequence_index, 0}},  {MLA_V_TUPLE, {"index", sequence_index, 1}},
	{MLA_V_TUPLE, {"count", sequence_index, 0}}, {MLA_V_DICT, {"get", dict_get, 0}},
	{MLA_V_DICT, {"items", dict_items, 0}},      {MLA_V_DICT, {"keys", dict_items, 1}},
	{MLA_V_DICT, {"values", dict_items, 2}},     {MLA_V_STR, {"startswith", text_test, 0}},
	{MLA_V_STR, {"endswith", text_test, 1}},     {MLA_V_STR, {"lower", text_lower, 0}},
};

static int of_limits(bool *known, mla_value *out, mla_value d, mla_str name)
{
	double low = mla_dtype_lowest(d.dtype);

	*known = true;
	if (mla_str_is(name, "min"))
		*out = mla_value_float(low);
	else if (mla_str_is(name, "max"))
		*out = mla_value_float(-low);
	else if (mla_str_is(name, "dtype"))
		*out = (mla_value){.kind = MLA_V_DTYPE, .dtype = d.dtype};
	else
		*known = false;
	return 0;
}

int mla_container_method(bool *known, mla_value *out, mla_machine *m, mla_value object,
                         mla_str name)
{
	*known = false;
	if (object.kind == MLA_V_DTYPE)
		return object.weak ? of_limits(known, out, object, name)
		                   : mla_unsupported(m, "`%.*s` of a dtype", MLA_ARG(name));
	for (uint32_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		mla_bound *b;

		if (methods[i].kind != (mla_value_kind)object.kind ||
		    !mla_str_is(name, methods[i].builtin.name))
			continue;
		b = mla_machine_alloc(m, 1, sizeof(*b));
		b->callee = (mla_value){.kind = MLA_V_BUILTIN, .builtin = &methods[i].builtin};
		b->self = object;
		*out = (mla_value){.kind = MLA_V_METHOD, .bound = b};
		*known = true;
		return 0;
	}
	/* None, a number: no attribute of a model file's use. Others have more than is known here.
	 */
	if (object.kind == MLA_V_NONE || mla_value_is_number(object) ||
	    mla_value_is_sequence(object))
		return 0;
	return mla_unsupported(m, "`%.*s` of a %s", MLA_ARG(name), mla_value_type(object));
}

/* Expressions: one evaluation for each kind of node. */
#include "engine/replay/machine.h"

#include <stdlib.h>

/* Digits with underscores to a C string. */
static bool plain_digits(char out[64], mla_str s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '_') {
			if (n + 1 >= 64)
				return false;
			out[n++] = s.ptr[i];
		}
	out[n] = 0;
	return n > 0;
}

static int eval_int(mla_value *out, mla_machine *m, mla_str s)
{
	static const struct {
		char letter;
		int base;
	} forms[] = {{'x', 16}, {'X', 16}, {'o', 8}, {'O', 8}, {'b', 2}, {'B', 2}};
	char text[64], *end, *from = text;
	int base = 10;

	if (!plain_digits(text, s) || s.len > 24)
		return mla_limit(m, "an integer beyond 64 bits");
	for (uint32_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (text[0] == '0' && text[1] == forms[i].letter) {
			base = forms[i].base;
			from = text + 2;
		}
	*out = mla_value_int(strtoll(from, &end, base));
	if (*end || (base == 10 && strlen(from) > 18))
		return mla_unsupported(m, "number `%.*s`", MLA_ARG(s));
	return 0;
}

static int eval_float(mla_value *out, mla_machine *m, mla_str s)
{
	char text[64], *end;

	if (!plain_digits(text, s))
		return mla_unsupported(m, "number `%.*s`", MLA_ARG(s));
	*out = mla_value_float(strtod(text, &end));
	return *end ? mla_unsupported(m, "number `%.*s`", MLA_ARG(s)) : 0;
}

static int eval_sequence(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n,
                         mla_value_kind kind)
{
	int error = 0;

	*out = mla_sequence_new(m, kind, n->n);
	for (uint32_t i = 0; i < n->n && error == 0; i++) {
		bool star = n->kid[i]->kind == MLA_N_STAR;
		mla_value v;

		if ((error = mla_eval(&v, m, e, star ? n->kid[i]->kid[0] : n->kid[i])) < 0)
			return error;
		if (star) {
			mla_value list;

			error = mla_iterate(&list, m, v);
			for (uint32_t k = 0; error == 0 && k < list.seq->n; k++)
				error = mla_sequence_push(m, out->seq, list.seq->v[k]);
		} else {
			error = mla_sequence_push(m, out->seq, v);
		}
	}
	return error == 0 && kind == MLA_V_SET ? mla_set_unique(m, *out) : error;
}

static int eval_dict(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	*out = mla_dictionary_new(m);
	for (uint32_t i = 0; i < n->n && error == 0; i++) {
		const mla_node *item = n->kid[i];
		mla_value key, v;

		if (item->kind == MLA_N_STAR_STAR) {
			if ((error = mla_eval(&v, m, e, item->kid[0])) < 0)
				return error;
			if (v.kind != MLA_V_DICT || v.dict->open)
				return mla_unsupported(m, "** of a %s", mla_value_type(v));
			for (uint32_t k = 0; k < v.dict->n && error == 0; k++)
				error = mla_dictionary_set(m, out->dict, v.dict->v[k].key,
				                           v.dict->v[k].value);
		} else if ((error = mla_eval(&key, m, e, item->kid[0])) == 0 &&
		           (error = mla_eval(&v, m, e, item->kid[1])) == 0) {
			error = mla_dictionary_set(m, out->dict, key, v);
		}
	}
	return error;
}

static int eval_slice(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	*out = mla_sequence_new(m, MLA_V_SLICE, 3);
	for (uint32_t i = 0; i < 3 && error == 0; i++) {
		mla_value v = mla_value_none;

		if (mla_kid(n, i))
			error = mla_eval(&v, m, e, n->kid[i]);
		out->seq->v[out->seq->n++] = v;
	}
	return error;
}

static int eval_logic(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool truth;
	int error;

	if ((error = mla_eval(out, m, e, n->kid[0])) < 0 ||
	    (error = mla_truth(&truth, m, *out)) < 0)
		return error;
	return truth == (n->kind == MLA_N_AND) ? mla_eval(out, m, e, n->kid[1]) : 0;
}

static int eval_binary(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value a, b;
	int error;

	if ((error = mla_eval(&a, m, e, n->kid[0])) < 0 ||
	    (error = mla_eval(&b, m, e, n->kid[1])) < 0)
		return error;
	m->at = n;
	return mla_operate(out, m, n->op, a, b);
}

static int eval_unary(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value a;
	int error = mla_eval(&a, m, e, n->kid[0]);

	m->at = n;
	return error < 0 ? error : mla_operate_unary(out, m, n->op, a);
}

/* A lambda's or comprehension's names are its own; a walrus binds in the function around. */
static int eval_walrus(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = mla_eval(out, m, e, n->kid[1]);

	while (error == 0 && e->parent && !e->function)
		e = e->parent;
	return error < 0 ? error : mla_name_set(m, e, n->kid[0]->name, *out);
}

int mla_eval_index(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = 0;

	if (n->n == 2 && n->op != MLA_OP_COMMA)
		return mla_eval(out, m, e, n->kid[1]);
	*out = mla_sequence_new(m, MLA_V_TUPLE, n->n - 1);
	for (uint32_t i = 1; i < n->n && error == 0; i++) {
		mla_value v;

		if (n->kid[i]->kind == MLA_N_STAR)
			return mla_unsupported(m, "* in a subscript");
		if ((error = mla_eval(&v, m, e, n->kid[i])) == 0)
			error = mla_sequence_push(m, out->seq, v);
	}
	return error;
}

static int eval_subscript(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value object, index;
	int error;

	if ((error = mla_eval(&object, m, e, n->kid[0])) < 0 ||
	    (error = mla_eval_index(&index, m, e, n)) < 0)
		return error;
	m->at = n;
	return mla_subscript(out, m, object, index);
}

static int eval_attribute(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value object;
	int error = mla_eval(&object, m, e, n->kid[0]);

	m->at = n;
	return error < 0 ? error : mla_attribute_get(out, m, object, n->name);
}

static int eval_condition(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool truth;
	int error = mla_eval_test(&truth, m, e, n->kid[0]);

	return error < 0 ? error : mla_eval(out, m, e, n->kid[truth ? 1 : 2]);
}

static int eval_not(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool truth = false;
	int error = mla_eval_test(&truth, m, e, n->kid[0]);

	*out = mla_value_bool(!truth);
	return error;
}

static int eval(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	switch (n->kind) {
	case MLA_N_NAME:
		return mla_name_get(out, m, e, n->name);
	case MLA_N_INT:
		return eval_int(out, m, n->name);
	case MLA_N_FLOAT:
		return eval_float(out, m, n->name);
	case MLA_N_STRING:
		return mla_eval_string(out, m, e, n);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		*out = mla_value_bool(n->kind == MLA_N_TRUE);
		return 0;
	case MLA_N_NONE:
		*out = mla_value_none;
		return 0;
	case MLA_N_ELLIPSIS:
		*out = (mla_value){.kind = MLA_V_ELLIPSIS};
		return 0;
	case MLA_N_ATTRIBUTE:
		return eval_attribute(out, m, e, n);
	case MLA_N_SUBSCRIPT:
		return eval_subscript(out, m, e, n);
	case MLA_N_SLICE:
		return eval_slice(out, m, e, n);
	case MLA_N_CALL:
		return mla_eval_call(out, m, e, n);
	case MLA_N_UNARY:
		return eval_unary(out, m, e, n);
	case MLA_N_NOT:
		return eval_not(out, m, e, n);
	case MLA_N_BINARY:
		return eval_binary(out, m, e, n);
	case MLA_N_AND:
	case MLA_N_OR:
		return eval_logic(out, m, e, n);
	case MLA_N_COMPARE:
		return mla_eval_compare(out, m, e, n);
	case MLA_N_CHAIN:
		return mla_eval_chain(out, m, e, n);
	case MLA_N_CONDITION:
		return eval_condition(out, m, e, n);
	case MLA_N_TUPLE:
		return eval_sequence(out, m, e, n, MLA_V_TUPLE);
	case MLA_N_LIST:
		return eval_sequence(out, m, e, n, MLA_V_LIST);
	case MLA_N_SET:
		return eval_sequence(out, m, e, n, MLA_V_SET);
	case MLA_N_DICT:
		return eval_dict(out, m, e, n);
	case MLA_N_LIST_COMP:
	case MLA_N_SET_COMP:
	case MLA_N_DICT_COMP:
	case MLA_N_GENERATOR:
		return mla_eval_comprehension(out, m, e, n);
	case MLA_N_WALRUS:
		return eval_walrus(out, m, e, n);
	case MLA_N_LAMBDA:
		return mla_function_make(out, m, e, e->module, n, NULL);
	case MLA_N_AWAIT: /* coroutines run to their end when they are called */
		return mla_eval(out, m, e, n->kid[0]);
	default:
		return mla_unsupported(m, "%s", mla_kind_name((mla_kind)n->kind));
	}
}

int mla_eval(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	int error = mla_enter(m, n);

	if (error < 0)
		return error;
	error = eval(out, m, e, n);
	mla_leave(m);
	return error;
}

int mla_eval_test(bool *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error = mla_eval(&v, m, e, n);

	return error < 0 ? error : mla_truth(out, m, v);
}

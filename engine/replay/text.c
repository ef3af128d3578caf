/* For tests: calls a function of a module and writes its result as Python's repr would. */
#include "engine/replay/functions.h"

#include <math.h>
#include <stdio.h>

typedef struct {
	char v[2048];
	size_t n;
} line;

static void put(line *l, const char *z)
{
	int n = snprintf(l->v + l->n, sizeof(l->v) - l->n, "%s", z);

	l->n += n > 0 ? (size_t)n : 0;
	if (l->n >= sizeof(l->v))
		l->n = sizeof(l->v) - 1;
}

/* The shortest form that reads back as the same number, with a point in it. */
static void put_float(line *l, double f)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, f);
		if (strtod(text, NULL) == f &&
		    !(fabs(f) >= 1 && fabs(f) < 1e16 && strchr(text, 'e')))
			break;
	}
	if (!strpbrk(text, ".en"))
		strcat(text, ".0");
	put(l, text);
}

static int write_value(line *l, mla_machine *m, mla_value v, int depth);

static int write_all(line *l, mla_machine *m, const mla_sequence *s, int depth)
{
	int error = 0;

	for (uint32_t i = 0; i < s->n && error == 0; i++) {
		put(l, i ? ", " : "");
		error = write_value(l, m, s->v[i], depth + 1);
	}
	return error;
}

static int write_tensor(line *l, mla_machine *m, const mla_tensor *t)
{
	char shape[MLA_SHAPE_TEXT];

	(void)m;
	put(l, "array");
	put(l, mla_shape_text(shape, t->ndim, t->shape));
	for (int64_t i = 0; i < t->count && i < 16; i++) {
		put(l, i ? " " : ": ");
		put_float(l, mla_tensor_at(t, i));
	}
	return 0;
}

static int write_value(line *l, mla_machine *m, mla_value v, int depth)
{
	char text[64];
	int error = 0;

	if (depth > 20)
		return mla_limit(m, "a result nested deeper than 20");
	switch (v.kind) {
	case MLA_V_NONE:
		put(l, "None");
		return 0;
	case MLA_V_BOOL:
		put(l, v.b ? "True" : "False");
		return 0;
	case MLA_V_INT:
		snprintf(text, sizeof(text), "%lld", (long long)v.i);
		put(l, text);
		return 0;
	case MLA_V_FLOAT:
		put_float(l, v.f);
		return 0;
	case MLA_V_STR:
		put(l, "'");
		put(l, mla_machine_format(m, "%.*s", MLA_ARG(v.s)).ptr);
		put(l, "'");
		return 0;
	case MLA_V_TUPLE:
	case MLA_V_LIST:
		put(l, v.kind == MLA_V_LIST ? "[" : "(");
		error = write_all(l, m, v.seq, depth);
		put(l, v.kind == MLA_V_LIST ? "]" : v.seq->n == 1 ? ",)" : ")");
		return error;
	case MLA_V_DICT:
		put(l, "{");
		for (uint32_t i = 0; i < v.dict->n && error == 0; i++) {
			put(l, i ? ", " : "");
			if ((error = write_value(l, m, v.dict->v[i].key, depth + 1)) < 0)
				return error;
			put(l, ": ");
			error = write_value(l, m, v.dict->v[i].value, depth + 1);
		}
		put(l, "}");
		return error;
	case MLA_V_TENSOR:
		return write_tensor(l, m, v.t);
	default:
		put(l, "<");
		put(l, mla_value_type(v));
		put(l, ">");
		return 0;
	}
}

int mla_replay_text(mla_str *out, mla_machine *m, mla_module *module, mla_str name)
{
	mla_value f, v;
	line l = {.n = 0};
	bool found;
	int error;

	m->module = module;
	m->at = module->syntax.root;
	m->fault = (mla_fault){0};
	m->steps = 0;
	m->depth = m->calls = 0;
	if ((error = mla_global_get(&found, &f, m, module, name)) < 0)
		return error;
	if (!found)
		return mla_unsupported(m, "no function %.*s", MLA_ARG(name));
	if ((error = mla_call_plain(&v, m, f, NULL, 0)) < 0 ||
	    (error = write_value(&l, m, v, 0)) < 0)
		return error;
	*out = mla_arena_dup(m->arena, (mla_str){l.v, (uint32_t)l.n});
	return 0;
}

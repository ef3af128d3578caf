/* String literals: escapes, joined literals, and what an f-string puts in. */
#include "engine/replay/machine.h"

typedef struct {
	char text[1024];
	uint32_t n;
} buffer;

static int put(mla_machine *m, buffer *b, mla_str s)
{
	if (s.len >= sizeof(b->text) - b->n)
		return mla_limit(m, "a string literal of more than %zu bytes", sizeof(b->text));
	if (s.len)
		memcpy(b->text + b->n, s.ptr, s.len);
	b->n += s.len;
	return 0;
}

static int put_value(mla_machine *m, buffer *b, mla_value v)
{
	char text[MLA_SHAPE_TEXT];
	int64_t size[MLA_DIMS];
	uint32_t n;
	double f;

	if (v.kind == MLA_V_STR)
		return put(m, b, v.s);
	if (v.kind == MLA_V_INT)
		return put(m, b, mla_machine_format(m, "%lld", (long long)v.i));
	if (v.kind == MLA_V_BOOL)
		return put(m, b, mla_str_c(v.b ? "True" : "False"));
	if (v.kind == MLA_V_NONE)
		return put(m, b, mla_str_c("None"));
	if (v.kind == MLA_V_TUPLE && v.seq->n <= MLA_DIMS && mla_as_ints(&n, size, m, v) == 0)
		return put(m, b, mla_str_c(mla_shape_text(text, n, size)));
	/* Only messages print floats; how Python rounds them is of no use here. */
	if (mla_value_as_float(&f, v))
		return put(m, b, mla_machine_format(m, "%g", f));
	return put(m, b, mla_machine_format(m, "<%s>", mla_value_type(v)));
}

static int escape(mla_machine *m, buffer *b, char c)
{
	static const char from[] = "\\'\"abfnrtv0", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *p = strchr(from, c);

	if (c == '\n')
		return 0;
	if (!c || !p)
		return mla_unsupported(m, "escape \\%c in a string", c);
	return put(m, b, (mla_str){to + (p - from), 1});
}

/* One literal: prefix, quotes, body; `kids` are the interpolations in it. */
static int literal(mla_machine *m, mla_environment *e, buffer *b, const mla_node *n)
{
	mla_str s = mla_node_text(e->module->text, n);
	uint32_t at = 0, end, quotes, kid = 0, start = n->span.start;
	bool raw = false, format = false;
	int error = 0;

	for (; at < s.len && s.ptr[at] != '\'' && s.ptr[at] != '"'; at++) {
		raw |= (s.ptr[at] | 32) == 'r';
		format |= (s.ptr[at] | 32) == 'f';
		if ((s.ptr[at] | 32) == 'b')
			return mla_unsupported(m, "bytes");
	}
	if (at >= s.len)
		return mla_unsupported(m, "string literal");
	quotes =
		s.len >= at + 6 && s.ptr[at + 1] == s.ptr[at] && s.ptr[at + 2] == s.ptr[at] ? 3 : 1;
	if (s.len < at + 2 * quotes)
		return mla_unsupported(m, "string literal");
	end = s.len - quotes;
	for (at += quotes; at < end && error == 0;) {
		const mla_node *in = mla_kid(n, kid);
		char c = s.ptr[at];

		if (format && in && start + at >= in->outer.start) {
			return mla_unsupported(m, "f-string");
		}
		if (format && c == '{' && at + 1 < end && s.ptr[at + 1] == '{') {
			error = put(m, b, mla_str_c("{"));
			at += 2;
		} else if (format && c == '}') {
			error = put(m, b, mla_str_c("}"));
			at += 2;
		} else if (format && c == '{') {
			mla_value v;
			uint32_t depth = 0;

			if (!in)
				return mla_unsupported(m, "f-string");
			if (in->kind == MLA_N_OTHER)
				in = mla_kid(in, 0);
			if (!in || (error = mla_eval(&v, m, e, in)) < 0)
				return error < 0 ? error : mla_unsupported(m, "f-string");
			error = put_value(m, b, v);
			for (; at < end; at++) {
				depth += s.ptr[at] == '{';
				if (s.ptr[at] == '}' && --depth == 0)
					break;
			}
			at++;
			kid++;
		} else if (c == '\\' && !raw && at + 1 < end) {
			error = escape(m, b, s.ptr[at + 1]);
			at += 2;
		} else {
			error = put(m, b, (mla_str){s.ptr + at, 1});
			at++;
		}
	}
	return error;
}

int mla_eval_string(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	bool joined = n->n && n->kid[0]->kind == MLA_N_STRING;
	buffer b;
	int error = 0;

	b.n = 0;
	if (!joined)
		error = literal(m, e, &b, n);
	for (uint32_t i = 0; joined && i < n->n && error == 0; i++)
		error = literal(m, e, &b, n->kid[i]);
	if (error < 0)
		return error;
	m->used += b.n;
	*out = mla_value_str(mla_arena_dup(m->arena, (mla_str){b.text, b.n}));
	return 0;
}

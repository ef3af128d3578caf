/* Tokens and top-level declarations of one expanded .metal file. */
#include "engine/tools/mslgen.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool msl_same(mla_str a, mla_str b)
{
	return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

bool msl_is(const msl_token *t, const char *text)
{
	return t->text.len == strlen(text) && memcmp(t->text.ptr, text, t->text.len) == 0;
}

void msl_refuse(msl_unit *u, const msl_token *at, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", at->file, at->line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	u->errors++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of the punctuator at p. `]]` is one only where an attribute is open. */
static uint32_t punct(const char *p, const char *end, bool in_attribute)
{
	static const char *const two[] = {
		"[[", "::", "->", "&&", "||", "<<", "==", "!=", "<=", ">=",
		"++", "--", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%="};

	if (end - p < 2)
		return 1;
	if (in_attribute && p[0] == ']' && p[1] == ']')
		return 2;
	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (p[0] == two[i][0] && p[1] == two[i][1])
			return 2;
	return 1;
}

/* `# 12 "file"`: the next line is line 12 of that file. */
static void line_marker(msl_unit *u, const char *p, const char *end, const char **file,
                        unsigned *line)
{
	const char *quote = memchr(p, '"', (size_t)(end - p));
	const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
	mla_str name;

	while (p < end && !isdigit((unsigned char)*p))
		p++;
	if (!close || p >= quote)
		return;
	*line = (unsigned)strtoul(p, NULL, 10);
	name = (mla_str){quote + 1, (uint32_t)(close - quote - 1)};
	*file = mla_arena_dup(u->arena, name).ptr;
}

void msl_lex(msl_unit *u)
{
	const char *p = u->text.ptr, *end = p + u->text.len, *file = "?";
	unsigned line = 1;
	bool attribute = false, at_start = true;

	u->tok = mla_arena_array(u->arena, (size_t)u->text.len + 1, sizeof *u->tok);
	while (p < end) {
		msl_token *t = &u->tok[u->n];
		const char *q = p;

		if (*p == '\n') {
			line++, p++;
			at_start = true;
			continue;
		}
		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		if (*p == '#' && at_start) {
			const char *eol = memchr(p, '\n', (size_t)(end - p));

			eol = eol ? eol : end;
			line_marker(u, p, eol, &file, &line);
			p = eol < end ? eol + 1 : end;
			continue;
		}
		at_start = false;
		if (is_word(*p)) {
			bool number = isdigit((unsigned char)*p);

			t->kind = number ? MSL_NUMBER : MSL_WORD;
			while (q < end && (is_word(*q) || (number && *q == '.')))
				q++;
		} else if (*p == '"' || *p == '\'') {
			t->kind = MSL_STRING;
			for (q++; q < end && *q != *p; q++)
				if (*q == '\\' && q + 1 < end)
					q++;
			q += q < end;
		} else {
			t->kind = MSL_PUNCT;
			q += punct(p, end, attribute);
		}
		t->text = (mla_str){p, (uint32_t)(q - p)};
		t->file = file;
		t->line = line;
		if (msl_is(t, "[["))
			attribute = true;
		else if (msl_is(t, "]]"))
			attribute = false;
		u->n++;
		p = q;
	}
	u->tok[u->n] = (msl_token){MSL_END, {end, 0}, file, line};
}

size_t msl_close(const msl_unit *u, size_t i)
{
	static const char open[] = "([{", shut[] = ")]}";
	size_t depth = 0;

	for (; i < u->n; i++) {
		mla_str s = u->tok[i].text;

		if (u->tok[i].kind != MSL_PUNCT)
			continue;
		if (strchr(open, s.ptr[0]))
			depth += s.len;
		else if (strchr(shut, s.ptr[0]) && (depth -= s.len) == 0)
			return i + 1;
	}
	return u->n;
}

static msl_function *add_function(msl_unit *u, size_t name)
{
	msl_function *f = &u->fn[u->n_fn++];

	f->name = u->tok[name].text;
	f->at = name;
	f->params = name + 2;
	f->params_end = msl_close(u, name + 1) - 1;
	return f;
}

/* A declaration that ends with `;` and is none of the harmless kinds is a variable. */
static void check_variable(msl_unit *u, size_t first, size_t last)
{
	const char *fine[] = {"using", "typedef", "struct", "enum", "static_assert", "constant"};

	for (size_t k = 0; k < sizeof fine / sizeof *fine; k++)
		if (msl_is(&u->tok[first], fine[k]))
			return;
	if (msl_is(&u->tok[first], "constexpr") && msl_is(&u->tok[first + 1], "constant"))
		return;
	if (last > first)
		msl_refuse(u, &u->tok[first],
		           "a variable at namespace scope must be constant: no mutable globals");
}

/* The declaration from token i on; returns the token after it. */
static size_t declaration(msl_unit *u, size_t i)
{
	size_t first, name = 0;
	bool kernel = false, assigned = false;

	if (msl_is(&u->tok[i], "template"))
		while (i < u->n && !msl_is(&u->tok[i++], ">"))
			;
	first = i;
	for (; i < u->n; i++) {
		const msl_token *t = &u->tok[i];

		if (msl_is(t, "kernel"))
			kernel = true;
		if (msl_is(t, "="))
			assigned = true;
		if (msl_is(t, "(") && !name && !assigned && i > first &&
		    u->tok[i - 1].kind == MSL_WORD && !msl_is(&u->tok[i - 1], "static_assert"))
			name = i - 1;
		if (msl_is(t, "(") || msl_is(t, "[") || msl_is(t, "[[")) {
			i = msl_close(u, i) - 1;
		} else if (msl_is(t, "{")) {
			size_t end = msl_close(u, i);

			if (name) {
				msl_function *f = add_function(u, name);

				f->kernel = kernel;
				f->body = i + 1;
				f->body_end = end - 1;
				return end;
			}
			for (size_t k = first; k < i; k++)
				if (msl_is(&u->tok[k], "struct") &&
				    u->tok[k + 1].kind == MSL_WORD) {
					u->rec[u->n_rec++] =
						(msl_struct){u->tok[k + 1].text, i + 1, end - 1};
				} else if (msl_is(&u->tok[k], "typedef") &&
				           msl_is(&u->tok[k + 1], "struct") && k + 2 == i) {
					u->rec[u->n_rec++] =
						(msl_struct){u->tok[end].text, i + 1, end - 1};
				}
			i = end - 1;
		} else if (msl_is(t, ";")) {
			if (!name)
				check_variable(u, first, i);
			return i + 1;
		}
	}
	return i;
}

void msl_parse(msl_unit *u)
{
	size_t i = 0;

	u->fn = mla_arena_array(u->arena, u->n + 1, sizeof *u->fn);
	u->rec = mla_arena_array(u->arena, u->n + 1, sizeof *u->rec);
	while (i < u->n)
		i = declaration(u, i);
}

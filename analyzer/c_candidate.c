/* Spelling only: names say what is a count, and capitals what is a constant. */
#include "analyzer/c_candidate.h"

#include "analyzer/c_names.h"
#include "analyzer/str.h"

static mla_str text_of(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	return mla_text_slice(text, t->v[i].span);
}

static bool is_operator(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	static const char *const ops[] = {"<", "<=", ">", ">=", "==", "!=", NULL};

	return t->v[i].kind == MLA_TOKEN_PUNCTUATION && mla_str_in(text_of(text, t, i), ops);
}

static bool is_constant_name(mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		if (s.ptr[i] >= 'a' && s.ptr[i] <= 'z')
			return false;
	return s.len > 1;
}

static bool is_constant(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	mla_str s = text_of(text, t, i);

	if (t->v[i].kind == MLA_TOKEN_NUMBER)
		return !mla_str_is(s, "0");
	return t->v[i].kind == MLA_TOKEN_NAME && is_constant_name(s);
}

static bool is_count(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	return t->v[i].kind == MLA_TOKEN_NAME &&
	       (mla_name_integer(text_of(text, t, i)) & MLA_C_COUNT);
}

bool mla_c_candidate(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	if (i == 0 || i + 1 >= t->n || t->v[i].directive || !is_operator(text, t, i))
		return false;
	return (is_count(text, t, i - 1) && is_constant(text, t, i + 1)) ||
	       (is_constant(text, t, i - 1) && is_count(text, t, i + 1));
}

/* `(int) batch->n_tokens` from its last name: the first token before all of it. */
static uint32_t before_operand(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	static const char *const joins[] = {".", "->", "(", ")", "::", NULL};

	while (i-- > 0 &&
	       (t->v[i].kind == MLA_TOKEN_NAME || mla_str_in(text_of(text, t, i), joins)))
		;
	return i;
}

/* `FEW(`: what it does with its argument is not to be seen. */
static bool is_macro_use(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	return t->v[i].kind == MLA_TOKEN_NAME && is_constant_name(text_of(text, t, i)) &&
	       mla_str_is(text_of(text, t, i + 1), "(");
}

bool mla_c_may_compare(const mla_text *text, const mla_tokens *t, uint32_t i)
{
	uint32_t before = before_operand(text, t, i), after = i + 1;

	if (t->v[i].directive || !is_count(text, t, i))
		return false;
	for (uint32_t k = before + 1; k < i; k++)
		if (mla_str_is(text_of(text, t, k), "switch") || is_macro_use(text, t, k))
			return true;
	while (after < t->n && mla_str_is(text_of(text, t, after), ")"))
		after++;
	if (after < t->n && is_operator(text, t, after))
		return true;
	return before != UINT32_MAX && is_operator(text, t, before) &&
	       !(after < t->n && mla_str_is(text_of(text, t, after), ";"));
}

/* TOML below the grammar: every byte is checked here, and strings and integers get their values. */
#include "analyzer/toml_token.h"

#include "analyzer/str.h"
#include "analyzer/toml.h"

#include <stdarg.h>
#include <stdio.h>

int mla_toml_error(const mla_text *text, uint32_t at, const char *fmt, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return mla_error(MLA_ECONFIG, "%s:%u: %s", mla_text_path(text), mla_text_line(text, at),
	                 reason);
}

/* The length of the UTF-8 sequence at `i`, 0 when there is none: RFC 3629, no surrogates. */
static uint32_t sequence(mla_str b, uint32_t i)
{
	unsigned char c = (unsigned char)b.ptr[i];
	unsigned char next = i + 1 < b.len ? (unsigned char)b.ptr[i + 1] : 0;
	uint32_t n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;

	if (n > b.len - i || (c == 0xE0 && next < 0xA0) || (c == 0xED && next > 0x9F) ||
	    (c == 0xF0 && next < 0x90) || (c == 0xF4 && next > 0x8F))
		return 0;
	for (uint32_t k = 1; k < n; k++)
		if (((unsigned char)b.ptr[i + k] & 0xC0) != 0x80)
			return 0;
	return n;
}

static int check_utf8(const mla_text *text)
{
	mla_str b = mla_text_bytes(text);

	for (uint32_t i = 0, n; i < b.len; i += n)
		if (!(n = sequence(b, i)))
			return mla_toml_error(text, i, "not UTF-8");
	return 0;
}

static bool is_control(mla_str b, uint32_t i)
{
	unsigned char c = (unsigned char)b.ptr[i];

	if (c == '\r')
		return i + 1 == b.len || b.ptr[i + 1] != '\n';
	return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

static bool is_triple(mla_str b, uint32_t i, char quote)
{
	return i + 2 < b.len && b.ptr[i] == quote && b.ptr[i + 1] == quote && b.ptr[i + 2] == quote;
}

/* The end of the string that starts at `i`, its quotes included; 0 after a message. */
static uint32_t string_end(const mla_text *text, uint32_t i)
{
	mla_str b = mla_text_bytes(text);
	char quote = b.ptr[i];
	bool lines = is_triple(b, i, quote);
	uint32_t start = i;

	for (i += lines ? 3 : 1; i < b.len; i++) {
		if (is_control(b, i)) {
			mla_toml_error(text, i, "a control character in a string");
			return 0;
		}
		if (!lines && b.ptr[i] == '\n')
			break;
		if (b.ptr[i] == '\\' && quote == '"' && i + 1 < b.len && b.ptr[i + 1] >= ' ') {
			i++;
		} else if (!lines && b.ptr[i] == quote) {
			return i + 1;
		} else if (lines && is_triple(b, i, quote)) {
			/* Up to two quotes may stand before the three that end it. */
			for (int extra = 0; extra < 2 && is_triple(b, i + 1, quote); extra++)
				i++;
			return i + 3;
		}
	}
	mla_toml_error(text, start, "a string that does not end");
	return 0;
}

static int mask_string(char *masked, uint32_t *at, const mla_text *text)
{
	mla_str b = mla_text_bytes(text);
	uint32_t start = *at, end = string_end(text, start);
	uint32_t quotes = is_triple(b, start, b.ptr[start]) ? 3 : 1;

	if (!end)
		return MLA_ECONFIG;
	for (uint32_t i = start + quotes; i < end - quotes; i++)
		if (b.ptr[i] != '\n' && b.ptr[i] != '\r')
			masked[i] = 'x';
	*at = end;
	return 0;
}

int mla_toml_mask(char **out, mla_arena *arena, const mla_text *text)
{
	mla_str b = mla_text_bytes(text);
	char *m = mla_arena_alloc(arena, (size_t)b.len + 1);
	uint32_t i = 0;
	int depth = 0, error = check_utf8(text);

	if (b.len)
		memcpy(m, b.ptr, b.len);
	if (error == 0 && mla_text_has_bom(text))
		for (; i < 3; i++)
			m[i] = ' ';
	while (i < b.len && error == 0) {
		char c = b.ptr[i];

		if (c == '"' || c == '\'') {
			error = mask_string(m, &i, text);
			continue;
		}
		if (c == '#')
			while (i < b.len && b.ptr[i] != '\n' && b.ptr[i] != '\r' &&
			       !is_control(b, i))
				m[i++] = ' ';
		if (i == b.len)
			break;
		depth +=
			(b.ptr[i] == '[' || b.ptr[i] == '{') - (b.ptr[i] == ']' || b.ptr[i] == '}');
		if (is_control(b, i))
			error = mla_toml_error(text, i, "a control character");
		else if (depth > MLA_TOML_DEPTH_MAX)
			error = mla_toml_error(text, i, "nested more than %d deep",
			                       MLA_TOML_DEPTH_MAX);
		i++;
	}
	*out = m;
	return error;
}

static uint32_t hex(mla_str s)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
		                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
		                                        : 16;

		if (digit == 16 || v > UINT32_MAX >> 4)
			return UINT32_MAX;
		v = v << 4 | digit;
	}
	return v;
}

static uint32_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xC0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xE0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3F));
		to[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	to[0] = (char)(0xF0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3F));
	to[2] = (char)(0x80 | (c >> 6 & 0x3F));
	to[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

/* What the escape at `i` (after its backslash) stands for goes to `to`; how many bytes of the text
 * it took, 0 when it is none. */
static uint32_t escape(char *to, uint32_t *n, mla_str b, uint32_t i)
{
	static const char from[] = "btnfr\"\\", into[] = "\b\t\n\f\r\"\\";
	char c = b.ptr[i];
	const char *known = memchr(from, c, sizeof(from) - 1);
	uint32_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0, code;

	if (known) {
		to[(*n)++] = into[known - from];
		return 1;
	}
	if (!digits || digits >= b.len - i)
		return 0;
	code = hex((mla_str){b.ptr + i + 1, digits});
	if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
		return 0;
	*n += put_utf8(to + *n, code);
	return 1 + digits;
}

/* A backslash at the end of a line takes the blanks and line ends after it along. How many bytes
 * after the backslash, 0 when there is more on its line. */
static uint32_t joined(mla_str b, uint32_t i)
{
	uint32_t start = i;
	bool broken = false;

	while (i < b.len && strchr(" \t\r\n", b.ptr[i])) {
		broken |= b.ptr[i] == '\n';
		i++;
	}
	return broken ? i - start : 0;
}

int mla_toml_string(mla_str *out, mla_arena *arena, const mla_text *text, mla_span token)
{
	mla_str all = mla_text_slice(text, token);
	uint32_t quotes = all.len >= 6 && is_triple(all, 0, all.ptr[0]) ? 3 : 1;
	mla_str b = {all.ptr, all.len - quotes}; /* so that no escape reaches past the end */
	char *to = mla_arena_alloc(arena, (size_t)all.len + 1);
	uint32_t n = 0, i = quotes, used;

	if (quotes == 3 && i < b.len && b.ptr[i] == '\r')
		i++;
	if (quotes == 3 && i < b.len && b.ptr[i] == '\n')
		i++;
	while (i < b.len) {
		if (b.ptr[i] == '\r') {
			i++; /* every line end reads as a line feed */
		} else if (b.ptr[i] != '\\' || all.ptr[0] == '\'') {
			to[n++] = b.ptr[i++];
		} else if (quotes == 3 && (used = joined(b, i + 1))) {
			i += 1 + used;
		} else if ((used = escape(to, &n, b, i + 1))) {
			i += 1 + used;
		} else {
			return mla_toml_error(text, token.start + i,
			                      "an unknown escape in a string; a backslash is \\\\, "
			                      "or stands in single quotes");
		}
	}
	*out = (mla_str){to, n};
	return 0;
}

int mla_toml_integer(int64_t *out, const mla_text *text, mla_span token)
{
	mla_str s = mla_text_slice(text, token);
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t v = 0, max = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
	unsigned base = 10;
	uint32_t i = negative || (s.len && s.ptr[0] == '+');

	if (s.len > 2 && s.ptr[0] == '0' && strchr("xob", s.ptr[1])) {
		base = s.ptr[1] == 'x' ? 16 : s.ptr[1] == 'o' ? 8 : 2;
		i = 2;
	}
	for (; i < s.len; i++) {
		uint32_t digit;

		if (s.ptr[i] == '_')
			continue;
		digit = hex((mla_str){s.ptr + i, 1});
		if (digit >= base || v > (max - digit) / base)
			return mla_toml_error(text, token.start, "an integer out of range: %.*s",
			                      MLA_ARG(s));
		v = v * base + digit;
	}
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

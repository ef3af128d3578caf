#include "cli/code_only.h"

#include "analyzer/str.h"

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

static void blank(char *out, mla_str b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		out[i] = is_line_end(b.ptr[i]) ? b.ptr[i] : ' ';
}

/* The end of the string whose quotes begin at `at`; 0: there is none. */
static uint32_t string_end(mla_str b, uint32_t at)
{
	char quote = b.ptr[at];
	bool triple = b.len - at > 2 && b.ptr[at + 1] == quote && b.ptr[at + 2] == quote;
	uint32_t i = at + (triple ? 3 : 1);

	for (; i < b.len; i++) {
		char c = b.ptr[i];

		if (c == '\\') {
			i += i + 2 < b.len && b.ptr[i + 1] == '\r' && b.ptr[i + 2] == '\n' ? 2 : 1;
			continue;
		}
		if (!triple && is_line_end(c))
			return 0;
		if (c != quote)
			continue;
		if (!triple)
			return i + 1;
		if (b.len - i > 2 && b.ptr[i + 1] == quote && b.ptr[i + 2] == quote)
			return i + 3;
	}
	return 0;
}

static bool is_one_name(mla_str b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (!mla_is_name_byte(b.ptr[i]))
			return false;
	return from < to;
}

bool mla_code_only(char *out, mla_str b)
{
	for (uint32_t i = 0, end; i < b.len; i = end) {
		char c = b.ptr[i];

		end = i + 1;
		if (c == '#') {
			while (end < b.len && !is_line_end(b.ptr[end]))
				end++;
			blank(out, b, i, end);
		} else if (c == '"' || c == '\'') {
			end = string_end(b, i);
			if (!end)
				return false;
			if (is_one_name(b, i + 1, end - 1))
				memcpy(out + i, b.ptr + i, end - i);
			else
				blank(out, b, i, end);
		} else {
			out[i] = c;
		}
	}
	return true;
}

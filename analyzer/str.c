/* Searches and conversions on borrowed strings. */
#include "analyzer/str.h"

bool mla_str_starts(mla_str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

bool mla_str_ends(mla_str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

bool mla_str_contains(mla_str s, const char *needle)
{
	size_t n = strlen(needle);
	const char *at = s.ptr, *found;

	if (n == 0)
		return true;
	for (size_t left = s.len; left >= n; left = s.len - (size_t)(at - s.ptr)) {
		found = memchr(at, *needle, left - n + 1);
		if (!found)
			return false;
		if (memcmp(found, needle, n) == 0)
			return true;
		at = found + 1;
	}
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool mla_str_mentions(mla_str s, const char *needle)
{
	size_t n = strlen(needle);

	for (size_t i = 0; i + n <= s.len; i++) {
		size_t k = 0;

		while (k < n && lower(s.ptr[i + k]) == needle[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

bool mla_str_in(mla_str s, const char *const *words)
{
	for (; *words; words++)
		if (s.len && s.ptr[0] == **words && mla_str_is(s, *words))
			return true;
	return false;
}

int mla_str_cmp(mla_str a, mla_str b)
{
	uint32_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

	if (c)
		return c;
	return a.len < b.len ? -1 : a.len > b.len;
}

bool mla_str_int(int64_t *out, mla_str s, int64_t min, int64_t max)
{
	bool minus = s.len && s.ptr[0] == '-';
	int64_t v = 0;

	if (s.len == minus || s.len > 19u + minus)
		return false;
	for (uint32_t i = minus; i < s.len; i++) {
		int digit = s.ptr[i] - '0';

		if (digit < 0 || digit > 9 || v > (INT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (minus)
		v = -v;
	if (v < min || v > max)
		return false;
	*out = v;
	return true;
}

mla_str mla_str_unquoted(mla_str s)
{
	while (s.len && s.ptr[0] != '"' && s.ptr[0] != '\'') {
		s.ptr++;
		s.len--;
	}
	while (s.len >= 2 && (s.ptr[0] == '"' || s.ptr[0] == '\'') &&
	       s.ptr[s.len - 1] == s.ptr[0]) {
		s.ptr++;
		s.len -= 2;
	}
	return s;
}

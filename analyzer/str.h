/* Borrowed strings: comparison and small searches. Allocates nothing. */
#ifndef MLA_ANALYZER_STR_H
#define MLA_ANALYZER_STR_H

#include "analyzer/base.h"

#include <string.h>

/* For printf's "%.*s". */
#define MLA_ARG(s) (int)(s).len, (s).ptr

static inline mla_str mla_str_c(const char *z)
{
	return (mla_str){z, (uint32_t)strlen(z)};
}

static inline bool mla_str_eq(mla_str a, mla_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool mla_str_is(mla_str a, const char *z)
{
	return mla_str_eq(a, mla_str_c(z));
}

bool mla_str_starts(mla_str s, const char *prefix);
bool mla_str_ends(mla_str s, const char *suffix);
bool mla_str_contains(mla_str s, const char *needle);

/* Contains, ignoring the case of ASCII letters; `needle` is lower case. */
bool mla_str_mentions(mla_str s, const char *needle);

/* Is it one of a NULL-terminated list of words? */
bool mla_str_in(mla_str s, const char *const *words);

int mla_str_cmp(mla_str a, mla_str b); /* by bytes, as strcmp */

/* A Python string as it is written, without its prefix and quotes. */
mla_str mla_str_unquoted(mla_str s);

/* Can the byte be part of a Python name? Those of UTF-8 sequences can. */
static inline bool mla_is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* A decimal integer and nothing else, in [min, max]. */
bool mla_str_int(int64_t *out, mla_str s, int64_t min, int64_t max);

#endif

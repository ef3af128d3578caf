/*
 * Matching with one point to come back to for `*` and one for `**`: what came before an earlier
 * star never needs another look, so no pattern takes exponential time.
 */
#include "cli/glob.h"

#include "analyzer/str.h"

#include <ctype.h>

static int lower(unsigned char c, bool fold)
{
	return fold && c < 0x80 ? tolower(c) : c;
}

static int is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool in_class(mla_str name, unsigned char c, bool fold)
{
	static const struct {
		const char *name;
		int (*test)(int c);
	} classes[] = {
		{"alnum", isalnum}, {"alpha", isalpha}, {"blank", is_blank}, {"cntrl", iscntrl},
		{"digit", isdigit}, {"graph", isgraph}, {"lower", islower},  {"print", isprint},
		{"punct", ispunct}, {"space", isspace}, {"upper", isupper},  {"xdigit", isxdigit},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (mla_str_is(name, classes[i].name) && c < 0x80)
			return classes[i].test(c) ||
			       (fold && isalpha(c) &&
			        (classes[i].test(tolower(c)) || classes[i].test(toupper(c))));
	return false;
}

/* The length of a class name "[:alpha:]" at `at`, with its brackets; 0: there is none. */
static uint32_t class_at(mla_str p, uint32_t at)
{
	uint32_t end = at + 2;

	if (at + 1 >= p.len || p.ptr[at] != '[' || p.ptr[at + 1] != ':')
		return 0;
	while (end < p.len && p.ptr[end] != ']')
		end++;
	return end < p.len && end > at + 2 && p.ptr[end - 1] == ':' ? end + 1 - at : 0;
}

/* One character of a bracket, perhaps after a backslash; *at goes behind it. */
static unsigned char next(mla_str p, uint32_t *at)
{
	if (p.ptr[*at] == '\\' && *at + 1 < p.len)
		(*at)++;
	return (unsigned char)p.ptr[(*at)++];
}

/* The offset behind the bracket that starts at `at`; 0: it has no end. *match: it takes `c`. */
static uint32_t bracket(bool *match, mla_str p, uint32_t at, unsigned char c, bool fold)
{
	bool negated = ++at < p.len && (p.ptr[at] == '!' || p.ptr[at] == '^'), found = false;
	uint32_t first = at += negated;

	while (at < p.len && (p.ptr[at] != ']' || at == first)) {
		uint32_t class = class_at(p, at);
		unsigned char low, high;

		if (class) {
			found |= in_class((mla_str){p.ptr + at + 2, class - 4}, c, fold);
			at += class;
			continue;
		}
		low = high = next(p, &at);
		if (at + 1 < p.len && p.ptr[at] == '-' && p.ptr[at + 1] != ']') {
			at++;
			high = next(p, &at);
		}
		found |= c >= low && c <= high;
		if (fold && isalpha(c))
			found |= (tolower(c) >= low && tolower(c) <= high) ||
			         (toupper(c) >= low && toupper(c) <= high);
	}
	*match = found != negated;
	return at < p.len ? at + 1 : 0;
}

/* Does what is at *at in the pattern, no star, take `c`? *at goes behind it. */
static bool takes(mla_str p, uint32_t *at, unsigned char c, bool fold)
{
	bool match = false;
	uint32_t end;

	switch (p.ptr[*at]) {
	case '?':
		++*at;
		return true;
	case '[':
		end = bracket(&match, p, *at, c, fold);
		*at = end ? end : p.len;
		return end && match;
	case '\\':
		if (*at + 1 == p.len)
			return false;
		return lower(next(p, at), fold) == lower(c, fold);
	default:
		return lower((unsigned char)p.ptr[(*at)++], fold) == lower(c, fold);
	}
}

/* One name against one part of the pattern; neither has a slash. */
static bool match_name(mla_str p, mla_str s, bool fold)
{
	uint32_t at = 0, i = 0, star = UINT32_MAX, from = 0;

	while (i < s.len || at < p.len) {
		if (at < p.len && p.ptr[at] == '*') {
			star = ++at;
			from = i;
		} else if (i < s.len && at < p.len &&
		           takes(p, &at, (unsigned char)s.ptr[i], fold)) {
			i++;
		} else if (star != UINT32_MAX && from < s.len) {
			at = star; /* the star takes one more */
			i = ++from;
		} else {
			return false;
		}
	}
	return true;
}

/* The part between slashes that starts at `at`. */
static mla_str part(mla_str s, uint32_t at)
{
	uint32_t end = at;

	while (end < s.len && s.ptr[end] != '/')
		end++;
	return (mla_str){s.ptr + at, end - at};
}

bool mla_glob(mla_str pattern, mla_str path, bool fold)
{
	/* Offsets of parts; one past the length when there are no more. */
	uint32_t p = 0, s = 0, star = UINT32_MAX, from = 0;

	while (s <= path.len || p <= pattern.len) {
		mla_str want = p <= pattern.len ? part(pattern, p) : (mla_str){NULL, 0};
		mla_str have = s <= path.len ? part(path, s) : (mla_str){NULL, 0};

		if (want.ptr && mla_str_is(want, "**")) {
			p += 3;
			star = p;
			/* At the end it takes something: "a/" and two stars is not "a". */
			if (p > pattern.len)
				return have.ptr != NULL;
			from = s;
		} else if (want.ptr && have.ptr && match_name(want, have, fold)) {
			p += want.len + 1;
			s += have.len + 1;
		} else if (star != UINT32_MAX && from <= path.len) {
			from += part(path, from).len + 1;
			s = from;
			p = star;
		} else {
			return false;
		}
	}
	return true;
}

/* Lists of rules as users write them. */
#include "cli/selection.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/suggest.h"

#include <stdio.h>

static mla_str trimmed(mla_str s)
{
	while (s.len && s.ptr[0] == ' ') {
		s.ptr++;
		s.len--;
	}
	while (s.len && s.ptr[s.len - 1] == ' ')
		s.len--;
	return s;
}

int mla_strs_split(mla_strs *out, mla_arena *arena, const char *what, const char *list)
{
	mla_str *v = mla_arena_array(arena, strlen(list) / 2 + 1, sizeof(*v));
	uint32_t n = 0;

	for (const char *p = list; *p;) {
		uint32_t len = (uint32_t)strcspn(p, ",");
		mla_str entry = trimmed((mla_str){p, len});

		if (!entry.len)
			return mla_error(MLA_ECONFIG, "%s: '%s' has an empty entry", what, list);
		v[n++] = mla_arena_dup(arena, entry);
		p += len + (p[len] == ',');
	}
	if (!n)
		return mla_error(MLA_ECONFIG, "%s: nothing is named", what);
	*out = (mla_strs){v, n};
	return 0;
}

bool mla_code_means(mla_str entry, const mla_rule *rule)
{
	mla_str code = mla_str_c(rule->code);

	if (mla_str_is(entry, rule->name) || mla_str_is(entry, "ALL"))
		return true;
	return entry.len >= 3 && entry.len <= code.len &&
	       memcmp(entry.ptr, code.ptr, entry.len) == 0;
}

bool mla_codes_mean(const mla_strs *codes, const mla_rule *rule)
{
	for (uint32_t i = 0; i < codes->n; i++)
		if (mla_code_means(codes->v[i], rule))
			return true;
	return false;
}

int mla_rule_refuse(const char *what, mla_str entry)
{
	char word[64], close[64];
	mla_suggestion s = {.word = word};

	snprintf(word, sizeof(word), "%.*s", MLA_ARG(entry));
	for (const mla_rule *const *r = mla_rules; *r; r++) {
		mla_suggest(&s, (*r)->code);
		mla_suggest(&s, (*r)->name);
	}
	mla_suggestion_text(close, sizeof(close), &s);
	return mla_error(MLA_ECONFIG, "%s%sthere is no rule '%.*s'%s", what, *what ? ": " : "",
	                 MLA_ARG(entry), *close ? close : "; mlalint rule --all lists them");
}

int mla_codes_check(const char *what, const mla_strs *codes)
{
	for (uint32_t i = 0; i < codes->n; i++) {
		bool known = false;

		for (const mla_rule *const *r = mla_rules; *r; r++)
			known |= mla_code_means(codes->v[i], *r);
		if (!known)
			return mla_rule_refuse(what, codes->v[i]);
	}
	return 0;
}

/* Does the bracket at `i` end? A ] in the first place is a member of it. */
static bool is_closed(mla_str p, uint32_t i)
{
	i++;
	if (i < p.len && (p.ptr[i] == '!' || p.ptr[i] == '^'))
		i++;
	return i + 1 < p.len && memchr(p.ptr + i + 1, ']', p.len - i - 1);
}

int mla_pattern_check(const char *what, mla_str p)
{
	if (!p.len || p.len > MLA_PATTERN_MAX)
		return mla_error(MLA_ECONFIG, "%s: a pattern has from 1 to %d characters", what,
		                 MLA_PATTERN_MAX);
	if (mla_str_starts(p, "../") || mla_str_contains(p, "/../"))
		return mla_error(MLA_ECONFIG,
		                 "%s: '%.*s' matches nothing: patterns are relative to the "
		                 "folder of the configuration",
		                 what, MLA_ARG(p));
	for (uint32_t i = 0; i < p.len; i++) {
		if (p.ptr[i] == '\\') {
			if (++i == p.len)
				return mla_error(MLA_ECONFIG, "%s: '%.*s' ends in a backslash",
				                 what, MLA_ARG(p));
			continue;
		}
		if (p.ptr[i] == '{' || p.ptr[i] == '}')
			return mla_error(MLA_ECONFIG,
			                 "%s: '%.*s': braces are not supported; list the patterns",
			                 what, MLA_ARG(p));
		if (p.ptr[i] == '[' && !is_closed(p, i))
			return mla_error(MLA_ECONFIG, "%s: '%.*s' has a [ without ]", what,
			                 MLA_ARG(p));
	}
	return 0;
}

/* Slips are letters that are wrong, missing, too many, or swapped with the next one. */
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Underscores are hyphens, as in the names of Python. */
static int differ(char a, char b)
{
	return (a == '_' ? '-' : a) != (b == '_' ? '-' : b);
}

/* The distance of Damerau and Levenshtein where no part of a word is changed twice. */
static size_t slips(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (!i || !k) {
				d[i][k] = i + k;
				continue;
			}
			d[i][k] = least(least(d[i - 1][k], d[i][k - 1]) + 1,
			                d[i - 1][k - 1] + (size_t)differ(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

/* The beginning of a longer word is close to it, too: getopt_long() takes it unless several begin
 * so. */
void mla_suggest(mla_suggestion *s, const char *candidate)
{
	size_t n = strlen(s->word), m = strlen(candidate), found;

	if (!n || n > LONGEST || m > LONGEST)
		return;
	found = slips(s->word, candidate);
	if (n > 2 && strncmp(s->word, candidate, n) == 0)
		found = 1;
	/* In short words every slip counts: "a" is not "all". */
	if (found > (n < 4 ? 1 : 2) || found >= n)
		return;
	if (!s->best || found < s->slips) {
		s->best = candidate;
		s->slips = found;
	}
}

const char *mla_suggestion_text(char *out, size_t size, const mla_suggestion *s)
{
	*out = '\0';
	if (s->best)
		snprintf(out, size, "; did you mean '%s'?", s->best);
	return out;
}

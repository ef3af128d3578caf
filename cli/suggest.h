/* What a word with a slip of the keyboard in it was meant to be. */
#ifndef MLA_CLI_SUGGEST_H
#define MLA_CLI_SUGGEST_H

#include <stddef.h>

/* Starts with the word alone. */
typedef struct {
	const char *word, *best; /* NULL: nothing is close */
	size_t slips;            /* of the best one */
} mla_suggestion;

/* One of the words that could be meant. Of equally close ones the first stays. */
void mla_suggest(mla_suggestion *s, const char *candidate);

/* "; did you mean 'BEST'?" in `out`, or nothing. */
const char *mla_suggestion_text(char *out, size_t size, const mla_suggestion *s);

#endif

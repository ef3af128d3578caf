/* The tokens and comments of a C, C++ or Objective-C source, from its bytes alone. */
#ifndef MLA_ANALYZER_C_TOKENS_H
#define MLA_ANALYZER_C_TOKENS_H

#include "analyzer/arena.h"

typedef enum {
	MLA_TOKEN_NAME, /* keywords too */
	MLA_TOKEN_NUMBER,
	MLA_TOKEN_STRING, /* and characters */
	MLA_TOKEN_PUNCTUATION,
} mla_token_kind;

typedef struct {
	mla_span span;
	uint32_t match; /* of a bracket, the index of the one it pairs with; else its own index */
	uint8_t kind;   /* mla_token_kind */
	bool directive; /* on the line of a preprocessor directive */
} mla_token;

typedef struct {
	const mla_token *v;
	uint32_t n;
	const mla_span *comment;
	uint32_t comment_count;
	uint32_t depth; /* of the deepest bracket */
} mla_tokens;

void mla_tokens_read(mla_tokens *out, mla_arena *arena, mla_str bytes);

/* The first token that ends after `offset`; n when there is none. */
uint32_t mla_tokens_at(const mla_tokens *t, uint32_t offset);

#endif

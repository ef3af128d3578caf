/* What the TOML reader does below the grammar: bytes, strings, integers. */
#ifndef MLA_ANALYZER_TOML_TOKEN_H
#define MLA_ANALYZER_TOML_TOKEN_H

#include "analyzer/arena.h"
#include "analyzer/text.h"

/* "path:line: reason"; MLA_ECONFIG. */
int mla_toml_error(const mla_text *text, uint32_t at, const char *fmt, ...) MLA_PRINTF(3, 4);

/*
 * Checks what holds for every byte (UTF-8, no control characters, strings that end, depth) and
 * copies the text with comments blanked and the insides of strings replaced by 'x', all at the same
 * offsets. So the grammar has to know structure only: no comment is in its way, and no escape or
 * quote inside of a string.
 */
int mla_toml_mask(char **out, mla_arena *arena, const mla_text *text);

/* The value of a string token, quotes included in the span. Also of quoted keys. */
int mla_toml_string(mla_str *out, mla_arena *arena, const mla_text *text, mla_span token);

int mla_toml_integer(int64_t *out, const mla_text *text, mla_span token);

#endif

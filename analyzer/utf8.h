/* Decoding UTF-8, also where it is not. */
#ifndef MLA_ANALYZER_UTF8_H
#define MLA_ANALYZER_UTF8_H

#include "analyzer/base.h"

/*
 * The code point at s.ptr[at], at < s.len: its length in bytes. Negative where there is none: minus
 * the number of bytes that decoders of the web replace by one U+FFFD together, which *code is then.
 */
int mla_utf8_next(uint32_t *code, mla_str s, uint32_t at);

#endif

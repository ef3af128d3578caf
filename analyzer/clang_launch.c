/* CUDA without a CUDA compiler: `kernel<<<grid, block>>>(x)` is read as the call `kernel(x)`. */
#include "analyzer/clang_launch.h"

#include "analyzer/str.h"

static bool at(mla_str bytes, uint32_t offset, const char *s)
{
	return mla_str_starts((mla_str){bytes.ptr + offset, bytes.len - offset}, s);
}

/* The token that `<<<` at token `open` ends with, skipping brackets; t->n when it is no launch. */
static uint32_t closing(mla_str bytes, const mla_tokens *t, uint32_t open)
{
	for (uint32_t i = open + 1; i < t->n; i++) {
		if (at(bytes, t->v[i].span.start, ">>>"))
			return i;
		if (at(bytes, t->v[i].span.start, ";") || t->v[i].match < i)
			break;
		i = t->v[i].match;
	}
	return t->n;
}

static void blank(char *bytes, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\\')
			bytes[i] = ' ';
}

void mla_clang_hide_launches(char *bytes, uint32_t length, const mla_tokens *t)
{
	mla_str source = {bytes, length};

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t close;

		if (t->v[i].kind != MLA_TOKEN_PUNCTUATION || !at(source, t->v[i].span.start, "<<<"))
			continue;
		close = closing(source, t, i);
		if (close < t->n)
			blank(bytes, t->v[i].span.start, t->v[close].span.start + 3);
	}
}

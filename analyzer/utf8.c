/* Well-formed sequences after table 3-7 of the Unicode standard. */
#include "analyzer/utf8.h"

/* The length that a first byte asks for, and the range of the second byte. */
static int lead(unsigned char c, unsigned char *low, unsigned char *high)
{
	*low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
	*high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
	return c < 0x80                ? 1
	       : c >= 0xC2 && c < 0xE0 ? 2
	       : c >= 0xE0 && c < 0xF0 ? 3
	       : c >= 0xF0 && c < 0xF5 ? 4
	                               : 0;
}

int mla_utf8_next(uint32_t *code, mla_str s, uint32_t at)
{
	const unsigned char *p = (const unsigned char *)s.ptr + at;
	unsigned char low, high;
	int n = lead(*p, &low, &high);

	*code = n == 1 ? *p : n ? *p & (0xFFu >> (n + 1)) : 0xFFFD;
	for (int k = 1; k < n; k++) {
		if (at + (uint32_t)k >= s.len || p[k] < low || p[k] > high) {
			*code = 0xFFFD;
			return -k;
		}
		*code = *code << 6 | (p[k] & 0x3F);
		low = 0x80;
		high = 0xBF;
	}
	return n ? n : -1;
}

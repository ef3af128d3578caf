/* Text for a person: what may be in it, in which colours, and how failures are told. */
#include "cli/verbs.h"

#include "analyzer/str.h"

#include <stdlib.h>
#include <unistd.h>

/* Control characters, also those of two bytes in UTF-8 (U+0080 to U+009F). */
void mla_put_clean(FILE *to, mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		unsigned char next = i + 1 < s.len ? (unsigned char)s.ptr[i + 1] : 0;

		if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
			fprintf(to, "\\x%02x", next);
			i++;
		} else if ((c < 0x20 && c != '\t') || c == 0x7F) {
			fprintf(to, "\\x%02x", c);
		} else {
			fputc(c, to);
		}
	}
}

void mla_put_joined(FILE *to, mla_str s)
{
	for (uint32_t i = 0; i < s.len;) {
		uint32_t end = i, n = 0;
		bool broken = false;

		while (end < s.len && !strchr(" \t\r\n", s.ptr[end]))
			end++;
		for (n = end; n < s.len && strchr(" \t\r\n", s.ptr[n]); n++)
			broken |= s.ptr[n] == '\n' || s.ptr[n] == '\r';
		/* A backslash before the line end goes with it. */
		mla_put_clean(to,
		              (mla_str){s.ptr + i,
		                        end - i - (broken && end > i && s.ptr[end - 1] == '\\')});
		if (broken)
			fputc(' ', to);
		else
			mla_put_clean(to, (mla_str){s.ptr + end, n - end});
		i = n;
	}
}

int mla_fail(void)
{
	fputs("mlalint: ", stderr);
	mla_put_clean(stderr, mla_str_c(mla_error_last()));
	fputc('\n', stderr);
	return MLA_EXIT_NO_VERDICT;
}

bool mla_use_color(const mla_options *o, FILE *f)
{
	const char *no_color = getenv("NO_COLOR");

	if (o->color != MLA_COLOR_AUTO)
		return o->color == MLA_COLOR_ALWAYS;
	return !(no_color && *no_color) && isatty(fileno(f));
}

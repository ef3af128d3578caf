/* Escaping for XML. */
#include "cli/xml.h"

#include "analyzer/str.h"
#include "analyzer/utf8.h"

/* Char of XML 1.0, section 2.2; code points come from well-formed UTF-8. */
static bool is_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF);
}

void mla_xml_put(FILE *to, mla_str s)
{
	for (uint32_t i = 0; i < s.len;) {
		uint32_t code;
		int n = mla_utf8_next(&code, s, i);

		if (n < 0 || !is_char(code))
			fputs("\xEF\xBF\xBD", to);
		else if (strchr("&<>\"'\t\n\r", (int)code) && code < 0x80)
			fprintf(to, "&#%u;", code);
		else
			fwrite(s.ptr + i, 1, (size_t)n, to);
		i += n > 0 ? (uint32_t)n : 1;
	}
}

void mla_xml_attribute(FILE *to, const char *name, mla_str value)
{
	fprintf(to, " %s=\"", name);
	mla_xml_put(to, value);
	fputc('"', to);
}

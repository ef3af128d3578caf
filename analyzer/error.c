/* Error text. Owns the one thread-local buffer; decides nothing about what is an error. */
#include "analyzer/base.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last[512];

int mla_error(int code, const char *fmt, ...)
{
	/* Formatted aside first: an argument may be the previous message. */
	char text[sizeof(last)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(last, sizeof(last), "%s", text);
	return code;
}

const char *mla_error_last(void)
{
	return last;
}

/* Decoding against the rules that decoders of the web follow. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "analyzer/utf8.h"

static void check(const char *bytes, int length, uint32_t want)
{
	uint32_t code;

	assert_int_equal(mla_utf8_next(&code, mla_str_c(bytes), 0), length);
	assert_int_equal(code, want);
}

static void well_formed(void **state)
{
	(void)state;
	check("a", 1, 'a');
	check("\x7F", 1, 0x7F);
	check("\xC2\x80", 2, 0x80);
	check("\xDF\xBF", 2, 0x7FF);
	check("\xE0\xA0\x80", 3, 0x800);
	check("\xED\x9F\xBF", 3, 0xD7FF);
	check("\xEF\xBF\xBF", 3, 0xFFFF);
	check("\xF0\x90\x80\x80", 4, 0x10000);
	check("\xF4\x8F\xBF\xBF", 4, 0x10FFFF);
}

/* As many bytes as become one U+FFFD: the longest start of something well-formed. */
static void ill_formed(void **state)
{
	(void)state;
	check("\x80", -1, 0xFFFD);
	check("\xC1\xBF", -1, 0xFFFD);     /* overlong */
	check("\xE0\x9F\xBF", -1, 0xFFFD); /* overlong */
	check("\xED\xA0\x80", -1, 0xFFFD); /* a surrogate */
	check("\xF4\x90\x80\x80", -1, 0xFFFD);
	check("\xF5\x80\x80\x80", -1, 0xFFFD);
	check("\xE9"
	      "a",
	      -1, 0xFFFD);
	check("\xE2\x82", -2, 0xFFFD);
	check("\xF0\x9F\x98"
	      "a",
	      -3, 0xFFFD);
	check("\xC3", -1, 0xFFFD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed),
		cmocka_unit_test(ill_formed),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}

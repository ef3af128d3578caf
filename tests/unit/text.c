/* Lines, columns, line ends and indentation of awkward texts. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "analyzer/text.h"

#include <stdlib.h>

static mla_text *text(const char *bytes)
{
	mla_text *t;

	assert_int_equal(mla_text_new(&t, "t.py", mla_str_c(bytes)), 0);
	return t;
}

static void check_pos(const mla_text *t, uint32_t offset, uint32_t line, uint32_t column)
{
	mla_pos p = mla_text_pos(t, offset);

	assert_int_equal(p.line, line);
	assert_int_equal(p.column, column);
}

static void lines(void **state)
{
	mla_text *t = text("a\r\nb\rc\n\nd");

	(void)state;
	assert_int_equal(mla_text_line_count(t), 5);
	check_pos(t, 0, 1, 1);
	check_pos(t, 3, 2, 1);
	check_pos(t, 5, 3, 1);
	check_pos(t, 7, 4, 1);
	check_pos(t, 8, 5, 1);
	assert_true(mla_str_is(mla_text_slice(t, mla_text_line_span(t, 1)), "a"));
	assert_true(mla_str_is(mla_text_slice(t, mla_text_line_span(t, 4)), ""));
	assert_true(mla_str_is(mla_text_eol_at(t, 0), "\r\n"));
	assert_true(mla_str_is(mla_text_eol_at(t, 3), "\r"));
	assert_true(mla_str_is(mla_text_eol_at(t, 5), "\n"));
	assert_true(mla_str_is(mla_text_eol_at(t, 8), "\r\n")); /* the file's first */
	mla_text_free(t);
}

static void columns(void **state)
{
	/* BOM, two-byte and four-byte characters, a byte that is not UTF-8 */
	mla_text *t = text("\xEF\xBB\xBF\xC3\xA9\xF0\x9F\x98\x80x\xFFy");

	(void)state;
	check_pos(t, 3, 1, 1);
	check_pos(t, 5, 1, 2);
	check_pos(t, 9, 1, 3);
	check_pos(t, 10, 1, 4);
	check_pos(t, 11, 1, 5);
	mla_text_free(t);
}

static void indentation(void **state)
{
	mla_text *tabs = text("class A:\n\tdef f(self):\n\t\tpass\n");
	mla_text *two = text("# x:\nif a:\n\n  b\n");
	mla_text *none = text("a = 1\n");

	(void)state;
	assert_true(mla_str_is(mla_text_indent_unit(tabs), "\t"));
	assert_true(mla_str_is(mla_text_indent_at(tabs, 26), "\t\t"));
	assert_true(mla_str_is(mla_text_indent_unit(two), "  "));
	assert_true(mla_str_is(mla_text_indent_unit(none), "    "));
	assert_int_equal(mla_text_width(mla_str_c("\ta\xC3\xA9")), 10);
	mla_text_free(tabs);
	mla_text_free(two);
	mla_text_free(none);
}

static void limits(void **state)
{
	char *big = calloc(1, MLA_TEXT_MAX + 1);
	mla_text *t;

	(void)state;
	assert_int_equal(mla_text_new(&t, "t.py", (mla_str){big, MLA_TEXT_MAX + 1}), MLA_ELIMIT);
	assert_int_equal(mla_text_new(&t, "t.py", (mla_str){big, MLA_TEXT_MAX}), 0);
	mla_text_free(t);
	free(big);
	t = text("");
	assert_int_equal(mla_text_line_count(t), 1);
	assert_true(mla_str_is(mla_text_eol_at(t, 0), "\n"));
	mla_text_free(t);
}

static void integers(void **state)
{
	int64_t v;

	(void)state;
	assert_true(mla_str_int(&v, mla_str_c("9223372036854775807"), INT64_MIN, INT64_MAX));
	assert_int_equal(v, INT64_MAX);
	assert_true(mla_str_int(&v, mla_str_c("-12"), -20, 0));
	assert_int_equal(v, -12);
	assert_false(mla_str_int(&v, mla_str_c("9223372036854775808"), INT64_MIN, INT64_MAX));
	assert_false(mla_str_int(&v, mla_str_c(""), 0, 9));
	assert_false(mla_str_int(&v, mla_str_c("-"), -9, 9));
	assert_false(mla_str_int(&v, mla_str_c("1 "), 0, 9));
	assert_false(mla_str_int(&v, mla_str_c("10"), 0, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),  cmocka_unit_test(columns),  cmocka_unit_test(indentation),
		cmocka_unit_test(limits), cmocka_unit_test(integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

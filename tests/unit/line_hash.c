/*
 * primaryLocationLineHash. The first two texts and their values are those of the test of GitHub's
 * upload action; the others are checked against a second implementation in tests/sarif_rules.py.
 */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/line_hash.h"

#include <stdlib.h>

static void check(const char *bytes, const uint64_t *hash, const uint32_t *occurrence, uint32_t n)
{
	mla_text *t;
	mla_line_hash *v;

	assert_int_equal(mla_text_new(&t, "t.py", mla_str_c(bytes)), 0);
	assert_int_equal(mla_text_line_count(t), n);
	v = mla_line_hashes(t);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(v[i].hash == hash[i]);
		assert_int_equal(v[i].occurrence, occurrence[i]);
	}
	free(v);
	mla_text_free(t);
}

static void published_values(void **state)
{
	const uint64_t empty[] = {0xc129715d7a2bc9a3},
		       lines[] = {0x271789c17abda88f, 0x54703d4cd895b18, 0x180aee12dab6264,
	                          0xa23a3dc5e078b07b};
	const uint32_t ones[] = {1, 1, 1, 1};

	(void)state;
	check("", empty, ones, 1);
	check(" a\nb\n  \t\tc\n d", lines, ones, 4);
	/* Line ends and blanks make no difference. */
	check("a\r\nb\r\nc\r\nd", lines, ones, 4);
	check("\ta\rb \rc\rd  ", lines, ones, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_values),
	};

	return cmocka_run_group_tests_name("line_hash", tests, NULL, NULL);
}

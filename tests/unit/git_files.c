/* Paths inside a tree. */
#include "tests/unit/test.h"

#include "cli/git_files.h"

static void joined(void **state)
{
	static const struct {
		const char *folder, *relative, *want; /* NULL: leaves the tree */
	} cases[] = {
		{"", "", ""},
		{"a/b", "", "a/b"},
		{"a", "b//c/", "a/b/c"},
		{"a", "./x.py", "a/x.py"},
		{"a/b", "../c", "a/c"},
		{"a", "..", ""},
		{"a", "../..", NULL},
		{"", "..", NULL},
		{"", "a/../b", "b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char out[16];
		bool inside = mla_git_join(out, sizeof(out), cases[i].folder, cases[i].relative);

		assert_int_equal(inside, cases[i].want != NULL);
		if (inside)
			assert_string_equal(out, cases[i].want);
	}
	assert_false(mla_git_join((char[4]){0}, 4, "ab", "cd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined),
	};

	return cmocka_run_group_tests_name("git_files", tests, NULL, NULL);
}

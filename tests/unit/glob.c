/* Patterns of .gitignore files. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/glob.h"

#include <string.h>

typedef struct {
	const char *pattern, *path;
	bool fold, match;
} glob_case;

static void patterns(void **state)
{
	static const glob_case cases[] = {
		{"a", "a", false, true},
		{"a", "b", false, false},
		{"", "a", false, false},
		{"*", "abc", false, true},
		{"*", "a/b", false, false},
		{"a*c", "abbc", false, true},
		{"a*c", "abcb", false, false},
		{"a*b*c", "axbxbxc", false, true},
		{"?", "a", false, true},
		{"?", "", false, false},
		{"a?", "a/", false, false},
		{"[ab]", "b", false, true},
		{"[!ab]", "b", false, false},
		{"[^ab]", "c", false, true},
		{"[]]", "]", false, true},
		{"[!]]", "]", false, false},
		{"[a-c]x", "bx", false, true},
		{"[a-]", "-", false, true},
		{"[\\]]", "]", false, true},
		{"[[:digit:]]", "7", false, true},
		{"[[:digit:]]", "x", false, false},
		{"[a", "[a", false, false},
		{"*[a", "xa", false, false},
		{"\\*", "*", false, true},
		{"\\*", "a", false, false},
		{"a\\", "a\\", false, false},
		{"a/b", "a/b", false, true},
		{"a/*", "a/b/c", false, false},
		{"**/a", "a", false, true},
		{"**/a", "x/y/a", false, true},
		{"a/**", "a", false, false},
		{"a/**", "a/b/c", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**/b", "a/x/y/c", false, false},
		{"a/**/b/**/c", "a/b/x/b/c", false, true},
		{"**/a/**/**/b", "q/a/b", false, true},
		{"a**b", "axyb", false, true},
		{"a**b", "ax/yb", false, false},
		{"a/**b", "a/x/b", false, false},
		{"**", "a/b", false, true},
		{"a//b", "a/b", false, false},
		{"ABC", "abc", false, false},
		{"ABC", "abc", true, true},
		{"[A-C]", "b", true, true},
		{"[[:upper:]]", "b", true, true},
		{"\xC3\xA9*", "\xC3\xA9t", false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (mla_glob(mla_str_c(cases[i].pattern), mla_str_c(cases[i].path),
		             cases[i].fold) != cases[i].match)
			fail_msg("'%s' on '%s': expected %d", cases[i].pattern, cases[i].path,
			         cases[i].match);
}

/* Backtracking into every star would not end within a lifetime here. */
static void many_stars(void **state)
{
	char pattern[401], path[401];

	(void)state;
	for (int i = 0; i < 200; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	memset(path, 'a', 400);
	pattern[399] = 'b';
	assert_false(mla_glob((mla_str){pattern, 400}, (mla_str){path, 400}, false));
	for (int i = 0; i < 80; i++)
		memcpy(pattern + 5 * i, "**/a/", 5);
	pattern[399] = 'b';
	for (int i = 0; i < 200; i++)
		memcpy(path + 2 * i, "a/", 2);
	assert_false(mla_glob((mla_str){pattern, 400}, (mla_str){path, 399}, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(many_stars),
	};

	return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}

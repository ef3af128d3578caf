/* The text of commit messages: what git would misread, filling, tables, ranges. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/patch_text.h"

#include <stdlib.h>

static void expect(mla_str got, const char *want)
{
	char text[2048];

	assert_true(got.len < sizeof(text));
	memcpy(text, got.ptr, got.len);
	text[got.len] = '\0';
	assert_string_equal(text, want);
}

static void misread_lines(void **state)
{
	static const char *const lines[] = {"---",     "--- a/x",  "diff --git a/x b/x", "Index: x",
	                                    "From x",  ">From x",  ">>From x",           "From: x",
	                                    "Date: x", "[PATCH] x"};
	mla_arena *arena = mla_arena_new();
	char text[64], want[64];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), "a\n%s\nb\n", lines[i]);
		snprintf(want, sizeof(want), "a\n %s\nb\n", lines[i]);
		expect(mla_patch_message_clean(arena, mla_str_c(text)), want);
	}
	expect(mla_patch_message_clean(arena, mla_str_c("Fromage\n> quoted\n-- x\n")),
	       "Fromage\n> quoted\n-- x\n");
	mla_arena_free(arena);
}

static void clean(void **state)
{
	mla_arena *arena = mla_arena_new();

	(void)state;
	expect(mla_patch_message_clean(arena, mla_str_c("\n\n a \t\n\n \n\nb\n\n\n")), " a\n\nb\n");
	expect(mla_patch_message_clean(arena, mla_str_c("---")), " ---\n");
	expect(mla_patch_message_clean(arena, mla_str_c("")), "");
	mla_arena_free(arena);
}

static void one_line(void **state)
{
	mla_arena *arena = mla_arena_new();

	(void)state;
	expect(mla_patch_line(arena, mla_str_c("a\n   b\x1b[1m \xe9 \xc3\xa9")),
	       "a b\\x1b[1m \xef\xbf\xbd \xc3\xa9");
	mla_arena_free(arena);
}

static void ranges(void **state)
{
	static const uint32_t v[] = {8, 2, 1, 3, 4, 2, 10, 11, 513};
	mla_arena *arena = mla_arena_new();

	(void)state;
	expect(mla_patch_ranges(arena, v, 9), "1-4,8,10,11,513");
	expect(mla_patch_ranges(arena, v, 1), "8");
	expect(mla_patch_ranges(arena, v, 0), "-");
	mla_arena_free(arena);
}

static void filling(void **state)
{
	char *text = NULL, word[80], want[256];
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	for (int n = 67; n <= 68; n++) {
		memset(word, 'x', sizeof(word));
		snprintf(word + n, sizeof(word) - (size_t)n, " y");
		fputs("- ", f);
		mla_patch_fill(f, 2, mla_str_c(word));
	}
	fclose(f);
	/* 2 + 68 + 1 + 1 columns are 72; one more does not fit. */
	word[68] = '\0';
	snprintf(want, sizeof(want), "- %.67s y\n- %s y\n", word, word);
	assert_string_equal(text, want);
	free(text);
	f = open_memstream(&text, &size);
	word[68] = 'x';
	snprintf(word + 69, sizeof(word) - 69, " y");
	mla_patch_fill(f, 2, mla_str_c(word));
	fclose(f);
	snprintf(want, sizeof(want), "%.69s\n  y\n", word);
	assert_string_equal(text, want);
	free(text);
}

static void tables(void **state)
{
	mla_arena *arena = mla_arena_new();
	mla_patch_table t = {.arena = arena, .align = "rll"};
	static const char *const cells[] = {"#", "site", "x", "10", "\xc3\xa9", "y z"};
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	for (int i = 0; i < 6; i++)
		mla_patch_cell(&t, "%s", cells[i]);
	mla_patch_table_put(f, &t);
	fclose(f);
	assert_string_equal(text, "     #  site  x\n    10  \xc3\xa9     y z\n");
	free(text);
	mla_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misread_lines), cmocka_unit_test(clean),
		cmocka_unit_test(one_line),      cmocka_unit_test(ranges),
		cmocka_unit_test(filling),       cmocka_unit_test(tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

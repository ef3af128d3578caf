/* The lexer that comments, brackets and unparsed candidates are read with. */
#include "tests/unit/test.h"

#include "analyzer/c_tokens.h"
#include "analyzer/str.h"

static mla_tokens read_tokens(mla_arena *a, const char *z)
{
	mla_tokens t;

	mla_tokens_read(&t, a, mla_str_c(z));
	return t;
}

static void comments_are_no_tokens(void **state)
{
	mla_arena *a = mla_arena_new();
	mla_tokens t = read_tokens(a, "a /* b */ c // d \\\n e\nf \"// g\" '/'");

	(void)state;
	assert_int_equal(t.n, 5);
	assert_int_equal(t.comment_count, 2);
	assert_int_equal(t.v[2].span.start, 22);
	mla_arena_free(a);
}

static void brackets_pair(void **state)
{
	mla_arena *a = mla_arena_new();
	mla_tokens t = read_tokens(a, "f(a[1], {2})");

	(void)state;
	assert_int_equal(t.v[1].match, t.n - 1);
	assert_int_equal(t.v[3].match, 5);
	assert_int_equal(t.depth, 2);
	/* A bracket that fits nothing pairs with nothing, and the brace around it still closes. */
	t = read_tokens(a, "{ if (S <= 4 { } x ]");
	assert_int_equal(t.v[t.n - 1].match, t.n - 1);
	mla_arena_free(a);
}

static void directives_are_marked(void **state)
{
	mla_arena *a = mla_arena_new();
	mla_tokens t = read_tokens(a, "#define A ( \\\n 1\nb R\"x(\" ' )x\" 0x1'000u .5e-3f");

	(void)state;
	assert_true(t.v[4].directive);
	assert_false(t.v[5].directive);
	assert_int_equal(t.v[6].kind, MLA_TOKEN_STRING);
	assert_int_equal(t.v[7].kind, MLA_TOKEN_NUMBER);
	assert_int_equal(t.v[8].kind, MLA_TOKEN_NUMBER);
	assert_int_equal(t.n, 9);
	mla_arena_free(a);
}

static void offsets_find_tokens(void **state)
{
	mla_arena *a = mla_arena_new();
	mla_tokens t = read_tokens(a, "ab cd");

	(void)state;
	assert_int_equal(mla_tokens_at(&t, 0), 0);
	assert_int_equal(mla_tokens_at(&t, 2), 1);
	assert_int_equal(mla_tokens_at(&t, 9), 2);
	mla_arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_are_no_tokens),
		cmocka_unit_test(brackets_pair),
		cmocka_unit_test(directives_are_marked),
		cmocka_unit_test(offsets_find_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

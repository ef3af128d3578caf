/* Fingerprints: what changes one and what must not. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/fingerprint.h"
#include "cli/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };

typedef struct {
	mla_arena *arena;
	mla_python *python;
	mla_module *module[MOST];
	uint32_t modules;
} world;

static int start(void **state)
{
	world *w = mla_alloc(sizeof(*w));

	mla_git_start();
	w->arena = mla_arena_new();
	*state = w;
	return mla_python_new(&w->python);
}

static int end(void **state)
{
	world *w = *state;

	for (uint32_t i = 0; i < w->modules; i++)
		mla_module_free(w->module[i]);
	mla_python_free(w->python);
	mla_arena_free(w->arena);
	mla_git_end();
	free(w);
	return 0;
}

/* The fingerprints of the places where `guard` stands in the source. */
static mla_fingerprint *fingerprints(world *w, const char *source, const char *guard)
{
	const mla_finding *list[MOST];
	mla_finding f[MOST] = {0};
	mla_text *text;
	uint32_t n = 0;

	assert_int_equal(mla_text_new(&text, "a/m.py", mla_str_c(source)), 0);
	assert_int_equal(mla_module_parse(&w->module[w->modules], w->python, text), 0);
	for (const char *at = source; (at = strstr(at, guard)); at += strlen(guard)) {
		f[n].rule = mla_rules[0];
		f[n].module = w->module[w->modules];
		f[n].span.start = (uint32_t)(at - source);
		f[n].span.end = f[n].span.start + (uint32_t)strlen(guard);
		list[n] = &f[n];
		n++;
	}
	w->modules++;
	assert_int_not_equal(n, 0);
	return mla_fingerprints(w->arena, list, n);
}

static void check(mla_str got, const char *want)
{
	if (!mla_str_is(got, want))
		fail_msg("got '%.*s', expected '%s'", MLA_ARG(got), want);
}

static void parts(void **state)
{
	static const char source[] = "class A:\n    class B:\n        def f(self, L):\n"
				     "            if L == 1 or x(L == 1):\n"
				     "                return L == 1\n";
	mla_fingerprint *f = fingerprints(*state, source, "L == 1");

	for (uint32_t i = 0; i < 3; i++) {
		check(f[i].path, "a/m.py");
		check(f[i].code, mla_rules[0]->code);
		check(f[i].symbol, "A.B.f");
		check(f[i].guard, "L==1");
		assert_int_equal(f[i].occurrence, i + 1);
	}
	assert_true(mla_fingerprint_cmp(&f[0], &f[1]) < 0);
}

static void outside(void **state)
{
	mla_fingerprint *f = fingerprints(*state, "L = 2\nM = L == 1\n", "L == 1");

	check(f[0].symbol, "");
}

static void same_text(void **state)
{
	static const struct {
		const char *guard, *want;
	} cases[] = {
		{"(L\n    ==  # one\n    1)", "(L==1)"},
		{"L\t==1", "L==1"},
		{"L == \\\n    1", "L==1"},
		{"not  L", "not L"},
		{"L  is\nnot  N", "L is not N"},
		{"x['a  # b'] == \"\\\"  \"", "x['a  # b']==\"\\\"  \""},
		{"# only  a\tcomment", "# only a comment"},
		{"x == '\xff'", "x=='\xEF\xBF\xBD'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char source[128];
		mla_fingerprint *f;

		snprintf(source, sizeof(source), "y = (%s\n)\n", cases[i].guard);
		f = fingerprints(*state, source, cases[i].guard);
		check(f[0].guard, cases[i].want);
		((world *)*state)->modules--;
		mla_module_free(((world *)*state)->module[((world *)*state)->modules]);
	}
}

static void digests(void **state)
{
	mla_fingerprint f = {mla_str_c("p"), mla_str_c("c"), mla_str_c("s"), mla_str_c("g"), 1};
	char a[MLA_DIGEST_SIZE], b[MLA_DIGEST_SIZE];

	(void)state;
	/* printf 'p\0c\0s\0g\0001' | git hash-object --stdin */
	mla_fingerprint_digest(a, &f);
	assert_string_equal(a, "21922cec8b69e31056b47bcdfb845e01a1772b45");
	f.path = mla_str_c("pc"); /* the parts do not run into each other */
	f.code = mla_str_c("");
	mla_fingerprint_digest(b, &f);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parts, start, end),
		cmocka_unit_test_setup_teardown(outside, start, end),
		cmocka_unit_test_setup_teardown(same_text, start, end),
		cmocka_unit_test_setup_teardown(digests, start, end),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}

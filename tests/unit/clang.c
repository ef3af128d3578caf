/* The C front end on small sources: shape, offsets, values, macros and what must not end it. */
#include "tests/unit/test.h"

#include "analyzer/c_source.h"
#include "analyzer/str.h"

#include <stdio.h>
#include <stdlib.h>

static mla_module *parse(const char *name, const char *source)
{
	mla_c_arguments *a = mla_c_arguments_new("/nonexistent");
	mla_module *m = NULL;
	mla_text *text;

	assert_int_equal(mla_text_new(&text, name, mla_str_c(source)), 0);
	if (mla_c_module_parse(&m, a, text) < 0) {
		mla_text_free(text);
		m = NULL;
	}
	mla_c_arguments_free(a);
	return m;
}

static const mla_node *first(const mla_module *m, mla_kind kind)
{
	for (const mla_node *n = m->syntax.root; n; n = mla_node_next(n, m->syntax.root, false))
		if (n->kind == kind)
			return n;
	fail_msg("no %s", mla_kind_name(kind));
	return NULL;
}

static void offsets_are_of_the_original_bytes(void **state)
{
	mla_module *m = parse("a.c", "\xEF\xBB\xBFint f(int n)\r\n{\r\n\treturn n <= 4;\r\n}\r\n");
	const mla_node *n = first(m, MLA_N_COMPARE);

	(void)state;
	assert_true(mla_str_is(mla_node_text(m->text, n), "n <= 4"));
	assert_int_equal(n->op, MLA_OP_LE);
	assert_int_equal(n->kid[1]->c->value, 4);
	assert_int_equal(mla_decl_of(n->kid[0]), MLA_DECL_PARAMETER);
	assert_int_equal(n->kid[0]->c->id, first(m, MLA_N_PARAMETER)->c->id);
	mla_module_free(m);
}

static void constants_are_evaluated(void **state)
{
	mla_module *m =
		parse("a.cpp", "enum { E = 3 };\n#define M (E * 5)\nconstexpr int K = M + 1;\n"
	                       "template <int N> bool t(int n) { return n < N; }\n"
	                       "bool f(int n) { return n == K; }\n");
	const mla_node *n = first(m, MLA_N_COMPARE), *root = m->syntax.root;

	(void)state;
	assert_int_equal(mla_decl_of(n->kid[1]), MLA_DECL_CONSTANT);
	assert_false(n->kid[1]->c->value_known);
	for (n = mla_node_next(n, root, false); n->kind != MLA_N_COMPARE;)
		n = mla_node_next(n, root, false);
	assert_true(n->kid[1]->c->value_known);
	assert_int_equal(n->kid[1]->c->value, 16);
	mla_module_free(m);
}

static void macros_are_told_from_text(void **state)
{
	mla_module *m = parse("a.c", "#define ONE(n) ((n) == 1)\n#define CHECK(x) (x)\n"
	                             "int f(int n) { return ONE(n); }\n"
	                             "int g(int n) { return CHECK(n == 2); }\n");
	const mla_node *n = first(m, MLA_N_COMPARE), *root = m->syntax.root;

	(void)state;
	assert_true(n->c->macro);
	assert_true(mla_str_is(mla_node_text(m->text, n), "ONE(n)"));
	for (n = mla_node_next(n, root, false); n->kind != MLA_N_COMPARE;)
		n = mla_node_next(n, root, false);
	assert_false(n->c->macro);
	assert_true(mla_str_is(mla_node_text(m->text, n), "n == 2"));
	mla_module_free(m);
}

static void inactive_code_is_kept_apart(void **state)
{
	mla_module *m =
		parse("a.c", "#ifdef NO\nint f(int n_tokens) { return n_tokens > 4; }\n#endif\n");

	(void)state;
	assert_int_equal(m->syntax.root->n, 0);
	assert_non_null(m->c->tree.retained);
	assert_int_equal(m->c->tree.retained->kid[0]->kind, MLA_N_FUNCTION);
	assert_int_equal(m->c->tree.inactive_count, 1);
	mla_module_free(m);
}

static void inactive_code_is_parsed_for_a_test(const char *statement, bool wanted)
{
	char source[256];
	mla_module *m;

	snprintf(source, sizeof(source),
	         "#ifdef NO\nvoid f(int n_tokens, int n_head) { %s }\n#endif\n", statement);
	m = parse("a.c", source);
	if ((m->c->tree.retained != NULL) != wanted)
		fail_msg("%s: %s", statement, wanted ? "not parsed" : "parsed");
	mla_module_free(m);
}

static void inactive_code_without_a_test_is_left(void **state)
{
	static const char *const tests[] = {
		"flag = n_tokens == 1;",
		"if (n_head < n_tokens) g();",
		"if (b->n_tokens >= 4) g();",
		"if ((int)(n_tokens) > 4) g();",
		"if (4 > b.x->n_tokens) g();",
		"switch ((int)n_tokens) { case 1: g(); }",
		"for (; i < 8 && n_tokens > 1;) g();",
		"if (FEW(n_tokens)) g();",
	};
	static const char *const others[] = {
		"g(n_tokens);",
		"for (int i = 0; i < n_tokens; i++) g(i);",
		"n_tokens = 1;",
		"if (n_head > 4) g(n_tokens);",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		inactive_code_is_parsed_for_a_test(tests[i], true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		inactive_code_is_parsed_for_a_test(others[i], false);
}

static void statements_have_their_parts(void **state)
{
	mla_module *m = parse("a.c", "int f(int n)\n{\n\tint s = 0;\n\tfor (; s < n;) s++;\n"
	                             "\tswitch (n) { case 1: s = 2; break; default: s = 3; }\n"
	                             "\tif (n) return 1; else s = 4;\n\treturn s ? n : 0;\n}\n");
	const mla_node *loop = first(m, MLA_N_LOOP), *label = first(m, MLA_N_LABEL);

	(void)state;
	assert_null(loop->kid[0]);
	assert_int_equal(loop->kid[1]->kind, MLA_N_COMPARE);
	assert_null(loop->kid[2]);
	assert_int_equal(loop->kid[3]->kind, MLA_N_UNARY);
	assert_int_equal(first(m, MLA_N_SWITCH)->kid[0]->kind, MLA_N_NAME);
	assert_int_equal(label->c->value, 1);
	assert_int_equal(first(m, MLA_N_IF)->kid[2]->kind, MLA_N_ASSIGN);
	assert_int_equal(first(m, MLA_N_CONDITION)->n, 3);
	mla_module_free(m);
}

static void hostile_sources_end(void **state)
{
	enum { DEEP = 20000 };
	char *deep = malloc(2 * DEEP + 32);
	mla_module *m;

	(void)state;
	strcpy(deep, "int x = ");
	memset(deep + 8, '(', DEEP);
	deep[8 + DEEP] = '1';
	memset(deep + 9 + DEEP, ')', DEEP);
	strcpy(deep + 9 + 2 * DEEP, ";\n");
	m = parse("a.c", deep);
	assert_null(m);
	assert_non_null(strstr(mla_error_last(), "256"));
	free(deep);
	m = parse("a.c", "int f( { ] ) if (a <= { ");
	assert_true(m == NULL || m->syntax.error_count > 0);
	mla_module_free(m);
	m = parse("a.c", "");
	assert_non_null(m);
	mla_module_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_of_the_original_bytes),
		cmocka_unit_test(constants_are_evaluated),
		cmocka_unit_test(macros_are_told_from_text),
		cmocka_unit_test(inactive_code_is_kept_apart),
		cmocka_unit_test(inactive_code_without_a_test_is_left),
		cmocka_unit_test(statements_have_their_parts),
		cmocka_unit_test(hostile_sources_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

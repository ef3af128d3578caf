/* Which bytes are worth a parse. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/prefilter.h"

static void comparisons(void **state)
{
	static const char *const yes[] = {"if L == 1:",
	                                  "(L ==\n 1)",
	                                  "L !=\\\n 1",
	                                  "1\t>= L",
	                                  "a<b",
	                                  "a>b",
	                                  "\tcase 1:",
	                                  "\tcase(1):",
	                                  "\tcase\\\n",
	                                  "a << 1; b > c",
	                                  "if L in (1, 2):",
	                                  "not L in [1]",
	                                  "L in  {1}",
	                                  "L in range(1, 3)"};
	static const char *const no[] = {
		"",         "x = 1",         "def f() -> int:", "a << 1",     "a >> 1",
		"case",     "\tlowercase x", "\tcases = 1",     "\tcase_1",   "a = b or c",
		"x =\n= 1", "import (a)",    "for a in b:",     "x = min(a)", "in_(1)"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!mla_prefilter_compares(mla_str_c(yes[i])))
			fail_msg("no comparison in '%s'", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (mla_prefilter_compares(mla_str_c(no[i])))
			fail_msg("a comparison in '%s'", no[i]);
}

static void bases(void **state)
{
	static const char *const names[] = {"A", "LatentAttention", NULL};
	static const char *const yes[] = {
		"class B(A):",
		"class B(x.LatentAttention):",
		"class B(\n    Mixin, # first\n    LatentAttention,\n):",
		"from m import LatentAttention as Base",
		"Base = m.A\n",
		"A.__call__ = fast",
		"class B(Generic[T], A): pass",
	};
	static const char *const no[] = {
		"class A(nn.Module):\n",
		"class B(Aa):",
		"class B(LatentAttention2):",
		"from m import LatentAttention\n",
		"x = A(3)\n",
		"self.attn = LatentAttention(args)",
		"class B(C):\n    a = f(A, 1)",
		"if A.x == 1:",
	};
	mla_base_names *n = mla_base_names_new(names);

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!mla_base_names_candidate(n, mla_str_c(yes[i])))
			fail_msg("no base in '%s'", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (mla_base_names_candidate(n, mla_str_c(no[i])))
			fail_msg("a base in '%s'", no[i]);
	mla_base_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons),
		cmocka_unit_test(bases),
	};

	return cmocka_run_group_tests_name("prefilter", tests, NULL, NULL);
}

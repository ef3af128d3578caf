/* Which bytes are worth a parse. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "cli/code_only.h"
#include "cli/pool_words.h"
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

static void code(void **state)
{
	static const char *const all[][2] = {
		{"a = 'x y' # b\nc", "a =          \nc"},
		{"f(self, \"embed_q\", 'w.uk')", "f(self, \"embed_q\",       )"},
		{"'''it''s\n\"#\"'''+1", "        \n      +1"},
		{"r'\\\\' b'\\'' c", "r     b     c"},
		{"x = ''\ny = \"\"", "x =   \ny =   "},
		{"'a\\\r\nb'c", "   \r\n  c"},
	};
	static const char *const endless[] = {"x = 'a\nb'", "'''a''", "'", "\"\\", "'a\\\r\n"};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		mla_str in = mla_str_c(all[i][0]);

		assert_true(mla_code_only(out, in));
		if (!mla_str_eq((mla_str){out, in.len}, mla_str_c(all[i][1])))
			fail_msg("'%s' gives '%.*s'", all[i][0], (int)in.len, out);
	}
	for (size_t i = 0; i < sizeof(endless) / sizeof(*endless); i++)
		if (mla_code_only(out, mla_str_c(endless[i])))
			fail_msg("an end of the string in '%s'", endless[i]);
}

/* Each has the necessary parts of a pool in another spelling, or lacks one. */
static void pools(void **state)
{
#define JOIN "p = mx.concatenate([old, new], axis=1)\n"
#define CUT "t = keys[:, n * w :]\n"
	static const char *const yes[] = {
		JOIN CUT "t.reshape(B, -1, w, D).mean(axis=2)",
		JOIN CUT "mx.max(t, 2)",
		JOIN CUT "t.sum(dim = -2)",
		JOIN CUT "t.amax(axis)",
		JOIN CUT "self.pool(t)",
		JOIN CUT "avg_pool1d(t)",
		JOIN CUT "t.unfold(1, w, w).mean(-1)",
		JOIN CUT "einsum(e, t.view(B, n, w, D), g)",
		JOIN CUT "mx.softmax(g) @ t.reshape((B, n, w, D))",
		JOIN "t = keys[..., a:b, :]\nt.mean(1)",
		JOIN "t = keys[a:]\nt.mean(0)",
		JOIN "t = keys[:, -rest:]\nt.mean(1)",
		JOIN "t = keys[:, (n := f(x)):]\nt.mean(1)",
		"torch.cat((old, new), 1)\n" CUT "t.mean(1)",
		"hstack([old, new])\n" CUT "t.mean(1)",
		"mx.slice_update(old, new, at, axes=(1,))\n" CUT "t.mean(1)",
		"kept[:, n:] = new\n" CUT "t.mean(1)",
		"class A:\n  def f(self): self.g(k[:, s:])\n  def g(self, t): t.mean(1)\n"
		"class C:\n  def add(self, new): " JOIN,
		"class A:\n  def g(self, t): t.mean(1)\n\nclass B(nn.Module, A):\n  " CUT "  " JOIN,
		"def g(t): return t.mean(1)\nclass B:\n  " CUT "  " JOIN,
	};
	static const char *const no[] = {
		"",
		JOIN CUT,
		JOIN "t.mean(axis=1)",
		CUT "t.mean(axis=1)",
		JOIN CUT "t.mean(axis=-1, keepdims=True)",
		JOIN CUT "t.mean(-1)",
		JOIN CUT "max(a, 1)",
		JOIN CUT "mx.sum(t)",
		JOIN CUT "a.reshape(B, L, H, D) @ b",
		JOIN CUT "w = mx.softmax(t)",
		"mx.concatenate([x[..., h:], y], axis=-1)\n" CUT "t.mean(1)",
		JOIN "best = order[..., -k:]\nt.mean(1)",
		JOIN "t = keys[:, 1:]\nt.mean(1)",
		JOIN "t = names[i:j]\nt.mean(1)",
		JOIN "d = {a: b, c: d}\nt.mean(1)",
		"class A:\n  " CUT "class B:\n  def g(self, t): t.mean(1)\n  " JOIN,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!mla_may_pool(mla_str_c(yes[i])))
			fail_msg("no pool in '%s'", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (mla_may_pool(mla_str_c(no[i])))
			fail_msg("a pool in '%s'", no[i]);
}

/* What is no code names no projection, but after a string without an end it might. */
static void candidates(void **state)
{
	static const char *const yes[] = {
		"def f(self):\n  if L == 1: q = self.embed_q(q)",
		"def f(self):\n  if L == 1: q = getattr(self, 'embed_q')(q)",
		"def __init__(self): self.embed_q = MultiLinear(a, b, h)",
		"x = '''\nif L == 1: q = self.embed_q(q)",
		"x = 1 # mlalint: ignore[MLA001] -- as it is",
	};
	static const char *const no[] = {
		"if L == 1: w['attn.embed_q.weight'] = x",
		"if L == 1: pass # self.embed_q(q)",
		"'''if L == 1'''\nself.embed_q(q)",
	};
	mla_prefilter *p = mla_prefilter_new();

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!mla_prefilter_candidate(p, mla_str_c(yes[i])))
			fail_msg("passed over: '%s'", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (mla_prefilter_candidate(p, mla_str_c(no[i])))
			fail_msg("worth a parse: '%s'", no[i]);
	mla_prefilter_free(p);
}

static void c_sources(void **state)
{
	static const char *const yes[] = {"bool is_mla = n == 1;",
	                                  "struct flashmla {",
	                                  "MLA_TILE",
	                                  "buildMla(",
	                                  "n_lora_kv",
	                                  "float * wkv_b",
	                                  "mla",
	                                  "int rank, nope;",
	                                  "int KV_LORA_RANK;",
	                                  "float pooled[4];",
	                                  "indexer_pool(x);"};
	static const char *const no[] = {
		"",     "sMemLayoutAtom a;", "st.async.mlall", "int rank;",    "Ml a", "mL",
		"xmLA", "thread_pool",       "indexer",        "n_tokens == 1"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!mla_prefilter_c(mla_str_c(yes[i])))
			fail_msg("passed over: '%s'", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (mla_prefilter_c(mla_str_c(no[i])))
			fail_msg("worth a parse: '%s'", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons), cmocka_unit_test(bases),
		cmocka_unit_test(code),        cmocka_unit_test(pools),
		cmocka_unit_test(candidates),  cmocka_unit_test(c_sources),
	};

	return cmocka_run_group_tests_name("prefilter", tests, NULL, NULL);
}

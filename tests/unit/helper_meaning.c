/* Which functions count as the threshold: by what they return, not by their name. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "fixers/helper_meaning.h"

/* The answer for the last definition of a source. */
static bool means(const char *bytes, bool cached)
{
	mla_module *m;
	mla_python *python;
	mla_text *text;
	const mla_node *root;
	bool answer;

	assert_int_equal(mla_python_new(&python), 0);
	assert_int_equal(mla_text_new(&text, "t.py", mla_str_c(bytes)), 0);
	assert_int_equal(mla_module_parse(&m, python, text), 0);
	root = m->syntax.root;
	assert_int_equal(root->kid[root->n - 1]->kind, MLA_N_FUNCTION);
	answer = mla_helper_means(m, root->kid[root->n - 1], cached);
	mla_module_free(m);
	mla_python_free(python);
	return answer;
}

#define HEAD "def f(r, n, v):\n"
#define SIZES "  d = n + v\n  q = 2 * r - d\n"

static void same(void **state)
{
	(void)state;
	assert_true(means(HEAD "  'doc'\n" SIZES "  if q <= 0:\n    return 1\n"
	                       "  return max(1, r * d // q)\n",
	                  false));
	assert_true(means(HEAD SIZES "  return max(1, r * d // q) if q > 0 else 1\n", false));
	assert_true(means(HEAD "  d, q = n + v, 2 * r\n  q -= n + v\n  if not q > 0: return 1\n"
	                       "  elif r * d < q: return 1\n  else: return int(r * d // q)\n",
	                  false));
	assert_true(
		means("def f(r, n, v, t=None, /, *, w=0):\n" SIZES
	              "  if q <= 0: return 1\n  if t is not None:\n    rd = r * d\n"
	              "    return max(1, rd * t // (rd + q * t))\n  return max(1, r * d // q)\n",
	              true));
}

/* Floats, and a quotient that is added to the rest: what projects write who had the formula first.
 */
static void floats(void **state)
{
	static const char half[] = "def f(r, n, v, t=None):\n  'doc'\n" SIZES
				   "  if t is not None and t > 0: q += r * d / t\n"
				   "  if q <= 0: return 1\n  return max(1, int(r * d / q))\n";

	(void)state;
	assert_true(means(half, false));
	assert_true(means(half, true));
	assert_true(means("import math\n" HEAD SIZES
	                  "  return max(1, math.floor(r * d / q)) if q > 0.5 else 1\n",
	                  false));
	/* float or rounded up */
	assert_false(means(HEAD SIZES "  return max(1, r * d / q) if q > 0 else 1\n", false));
	assert_false(means("import math\n" HEAD SIZES
	                   "  return max(1, math.ceil(r * d / q)) if q > 0 else 1\n",
	                   false));
	assert_false(means(HEAD SIZES "  return max(1, math.floor(r * d / q)) if q > 0 else 1\n",
	                   false));
	/* one less everywhere, or of half the cached length */
	assert_false(
		means(HEAD SIZES "  return max(1, int(r * d / q) - 1) if q > 0 else 1\n", false));
	assert_false(means("def f(r, n, v, t=None):\n" SIZES
	                   "  if t is not None: q += r * d / (t / 2)\n"
	                   "  if q <= 0: return 1\n  return max(1, int(r * d / q))\n",
	                   true));
	assert_false(means(HEAD "  return int(r / (n - n))\n", false));
}

static void other(void **state)
{
	(void)state;
	assert_false(means(HEAD "  raise NotImplementedError\n", false));
	assert_false(means(HEAD "  return 1\n", false));
	assert_false(means(HEAD "  return 170\n", false));
	assert_false(means(HEAD "  pass\n", false));
	/* no guard for 2r <= d, n alone, one more */
	assert_false(means(HEAD SIZES "  return r * d // q\n", false));
	assert_false(means(HEAD "  d = n\n  q = 2 * r - d\n  return max(1, r * d // q)\n", false));
	assert_false(
		means(HEAD SIZES "  if q <= 0:\n    return 1\n  return 1 + r * d // q\n", false));
	/* names that may be anything */
	assert_false(means("K = 2\n" HEAD "  d = n + v\n  q = K * r - d\n"
	                   "  return max(1, r * d // q) if q > 0 else 1\n",
	                   false));
	assert_false(means("def max(a, b): return 1\n" HEAD SIZES
	                   "  return max(1, r * d // q) if q > 0 else 1\n",
	                   false));
	assert_false(means(HEAD SIZES "  print(q)\n  return max(1, r * d // q) if q > 0 else 1\n",
	                   false));
	/* right without a cached length only */
	assert_false(means("def f(r, n, v, t=None):\n" SIZES
	                   "  return max(1, r * d // q) if q > 0 else 1\n",
	                   true));
	/* a cached length of 0 by default is not the long cache here */
	assert_false(means("def f(r, n, v, t=0):\n" SIZES "  if q <= 0: return 1\n  rd = r * d\n"
	                   "  return max(1, rd * t // (rd + q * t))\n",
	                   false));
}

static void hostile(void **state)
{
	char deep[4096] = HEAD "  return ";
	size_t at = strlen(deep);

	(void)state;
	memset(deep + at, '-', 2000);
	strcpy(deep + at + 2000, "1\n");
	assert_false(means(deep, false));
	assert_false(means(HEAD "  return r * r * r * r * r * r * r * r * r * r\n", false));
	assert_false(means(HEAD "  return r // (n - n)\n", false));
	assert_false(means(HEAD "  return r % (n - n)\n", false));
	assert_false(means(HEAD "  x, y = r\n  return x\n", false));
	assert_false(means(HEAD "  return x\n", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same),
		cmocka_unit_test(floats),
		cmocka_unit_test(other),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

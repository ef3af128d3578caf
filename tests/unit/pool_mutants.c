/*
 * The verdict of the bundled indexer's pool: the right fix is verified, and each fix that is wrong
 * in one way is rejected for that reason.
 */
#include "tests/unit/mutants.h"

#include "analyzer/facts.h"
#include "engine/pool_sites.h"

#define FOLDER "testdata/sample/latentlm/models/"

/* What the tool writes, and parts of it. */
#define GATE                                                                                       \
	{                                                                                          \
		"pooled.py", "            S == 1\n            and memo is", "            memo is", \
			1                                                                          \
	}
#define LENGTH                                         \
	{                                              \
		"pooled.py", "== T - 1", "== T - S", 1 \
	}
#define PADDING                                                                             \
	{                                                                                   \
		"pooled.py", "and memo[2]",                                                 \
			"and memo[2] and (S == 1 or valid is None or bool(mx.all(valid[:, " \
			"-S:]).item()))",                                                   \
			1                                                                   \
	}
#define NO_LENGTH                                                        \
	{                                                                \
		"pooled.py", "            and memo[1] == T - 1\n", "", 1 \
	}

typedef struct {
	edit before[EDITS];
	edit after[EDITS]; /* on top of those before */
	mla_outcome outcome;
	const char *says[3]; /* parts of the reason */
} mutant;

typedef struct {
	const mutant *m;
	bool after;
} source;

static int read_source(mla_text **out, void *payload, const char *path)
{
	const source *s = payload;
	char name[512], *text;
	int error;

	snprintf(name, sizeof(name), "%s%s", FOLDER, path);
	if (!(text = slurp(name)))
		return 1;
	text = edited(text, path, s->m->before);
	if (s->after)
		text = edited(text, path, s->m->after);
	error = mla_text_new(out, path, mla_str_c(text));
	free(text);
	return error;
}

static void check(const mutant *m)
{
	source before = {m, false}, after = {m, true};
	const mla_site_options options = {.seed = 1};
	mla_pool_verdict *v = mla_alloc(sizeof(*v));
	mla_arena *arena = mla_arena_new();
	mla_project *a, *b;
	mla_facts facts;

	assert_int_equal(mla_project_new(&a, (mla_reader){read_source, &before}), 0);
	assert_int_equal(mla_project_new(&b, (mla_reader){read_source, &after}), 0);
	assert_int_equal(
		mla_facts_build(&facts, arena, a, NULL, mla_project_module(a, "pooled.py"), false),
		0);
	assert_int_equal(facts.pools.n, 1);
	mla_pool_verify(v, a, b, facts.pools.v[0], &options);
	if (v->outcome != m->outcome)
		fail_msg("%s: %s", mla_outcome_name(v->outcome), v->reason);
	for (int i = 0; i < 3 && m->says[i]; i++)
		if (!strstr(v->reason, m->says[i]))
			fail_msg("\"%s\" does not say \"%s\"", v->reason, m->says[i]);
	mla_project_free(b);
	mla_project_free(a);
	mla_arena_free(arena);
	free(v);
}

static void run_all(const mutant *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&m[i]);
}

#define MEAN                                                                        \
	{                                                                           \
		"pooled.py", "(weights * keys).sum(axis=2)", "keys.mean(axis=2)", 1 \
	}
#define MAX                                                                        \
	{                                                                          \
		"pooled.py", "(weights * keys).sum(axis=2)", "keys.max(axis=2)", 1 \
	}

/* A way to split that an empty array can go. */
#define UNFLATTEN                                                                                  \
	{"pooled.py", "keys.reshape(B, -1, self.window, D)",                                       \
	 "mx.unflatten(keys, 1, (-1, self.window))", 1},                                           \
	{                                                                                          \
		"pooled.py", "mx.pad(valid, [(0, 0), (0, spare)]).reshape(B, -1, self.window)",    \
			"mx.unflatten(mx.pad(valid, [(0, 0), (0, spare)]), 1, (-1, self.window))", \
			1                                                                          \
	}

static void test_right_fix(void **state)
{
	static const mutant m[] = {
		{.after = {GATE, LENGTH, PADDING}, .outcome = MLA_VERIFIED},
		{.before = {MEAN}, .after = {GATE, LENGTH, PADDING}, .outcome = MLA_VERIFIED},
		{.before = {MAX}, .after = {GATE, LENGTH, PADDING}, .outcome = MLA_VERIFIED},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static void test_length(void **state)
{
	static const mutant m[] = {
		/* rewound past a window: nothing is left to pool, and the replay fails there */
		{.after = {GATE, NO_LENGTH, PADDING},
	         .outcome = MLA_REJECTED,
	         .says = {"after a trim of", "ValueError: [reshape] Cannot infer", "at line 33"}},
		/* the windows that are kept stand for tokens that were trimmed */
		{.before = {UNFLATTEN},
	         .after = {GATE, NO_LENGTH, PADDING},
	         .outcome = MLA_REJECTED,
	         .says = {"after a trim of", "`pooled[0]`"}},
		/* the smaller of both lengths is not what the pool was made of */
		{.before = {UNFLATTEN},
	         .after = {GATE,
	                   NO_LENGTH,
	                   PADDING,
	                   {"pooled.py", "done = seen //", "done = min(seen, T - S) //", 1}},
	         .outcome = MLA_REJECTED,
	         .says = {"37 new tokens at", "`pooled[0]`"}},
		/* never true for several tokens */
		{.after = {GATE, PADDING},
	         .outcome = MLA_REJECTED,
	         .says = {"2 new tokens", "the incremental path did not run"}},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static void test_suffix(void **state)
{
	static const mutant m[] = {
		{.before = {UNFLATTEN},
	         .after = {GATE,
	                   LENGTH,
	                   PADDING,
	                   {"pooled.py", "keys[:, done * self.window :]",
	                    "keys[:, (done + 1) * self.window :]", 1}},
	         .outcome = MLA_REJECTED,
	         .says = {"`pooled[0]` has the shape", "from scratch"}},
		{.after = {GATE,
	                   LENGTH,
	                   PADDING,
	                   {"pooled.py", "keys[:, done * self.window :]",
	                    "keys[:, done * self.window + 1 :]", 1}},
	         .outcome = MLA_REJECTED},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static void test_padding(void **state)
{
	static const mutant m[] = {
		{.after = {GATE, LENGTH},
	         .outcome = MLA_REJECTED,
	         .says = {"of them padding", "`pooled[0]`"}},
		/* one that looked at a single token has to do so still */
		{.before = {{"pooled.py", "and memo[2]",
	                     "and memo[2] and (valid is None or bool(mx.all(valid).item()))", 1}},
	         .after = {GATE,
	                   LENGTH,
	                   {"pooled.py", "(valid is None or", "(S == 1 or valid is None or", 1}},
	         .outcome = MLA_REJECTED,
	         .says = {"with 1 new token", "of them padding"}},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

/* The program fails before the fix too: that says nothing about the fix. */
static void test_unknown(void **state)
{
	static const mutant m[] = {
		{.before = {{"pooled.py", "keys = self.k_proj(x)", "keys = self.k_proj(open(x))",
	                     1}},
	         .after = {GATE, LENGTH, PADDING},
	         .outcome = MLA_UNVERIFIED},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_fix), cmocka_unit_test(test_length),
		cmocka_unit_test(test_suffix),    cmocka_unit_test(test_padding),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests_name("pool_mutants", tests, NULL, NULL);
}

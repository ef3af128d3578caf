/*
 * A verdict that cannot be "rejected" shows nothing. Each mutant is a patch of the bundled sample
 * that is wrong in one way; each has to be rejected, and for that reason.
 */
#include "tests/unit/mutants.h"

#include "analyzer/str.h"
#include "engine/backend.h"
#include "engine/shim/abi.h"
#include "engine/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE "testdata/sample/latentlm/models/"
#define FIXTURES "testdata/rules/mla001_single_query_absorb/"

typedef struct {
	const char *folder;
	const char *site; /* the file of the site */
	edit before[EDITS];
	edit after[EDITS]; /* on top of those before */
	bool padded_only;
	int64_t cache_len;
	mla_outcome outcome;
	const char *says[2]; /* parts of the reason */
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

	snprintf(name, sizeof(name), "%s%s", s->m->folder, path);
	if (!(text = slurp(name)))
		return 1;
	text = edited(text, path, s->m->before);
	if (s->after)
		text = edited(text, path, s->m->after);
	error = mla_text_new(out, path, mla_str_c(text));
	free(text);
	return error;
}

static const mla_site *only_site(mla_arena *arena, mla_project *p, const char *path)
{
	mla_facts facts;
	mla_module *m = mla_project_module(p, path);

	assert_non_null(m);
	assert_int_equal(mla_facts_build(&facts, arena, p, NULL, m, false), 0);
	assert_int_equal(facts.site_count, 1);
	return facts.site[0];
}

/* Who computes what is not f64. */
static mla_backend *backend;

static int open_backend(void **state)
{
	(void)state;
	return mla_backend_open(&backend, "cpu", &(mla_backend_options){.threads = 1});
}

static int close_backend(void **state)
{
	(void)state;
	mla_backend_free(backend);
	return 0;
}

static void check(const mutant *m)
{
	source before = {m, false}, after = {m, true};
	mla_site_options options = {.seed = 1,
	                            .padded_only = m->padded_only,
	                            .cache_len = m->cache_len,
	                            .backend = backend};
	mla_site_verdict *v = mla_alloc(sizeof(*v));
	mla_arena *arena = mla_arena_new();
	mla_project *a, *b;

	assert_int_equal(mla_project_new(&a, (mla_reader){read_source, &before}), 0);
	assert_int_equal(mla_project_new(&b, (mla_reader){read_source, &after}), 0);
	mla_site_verify(v, a, b, only_site(arena, a, m->site), &options);
	if (v->outcome != m->outcome)
		fail_msg("%s: %s: %s", m->site, mla_outcome_name(v->outcome), v->reason);
	for (int i = 0; i < 2 && m->says[i]; i++)
		if (!strstr(v->reason, m->says[i]))
			fail_msg("%s: \"%s\" does not say \"%s\"", m->site, v->reason, m->says[i]);
	mla_project_free(b);
	mla_project_free(a);
	mla_arena_free(arena);
	free(v);
}

/* The helper as the fix writes it, with something to change in it. */
#define HELPER(result)                                                                \
	"\n\ndef max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim):\n" \
	"    d = qk_nope_head_dim + v_head_dim\n"                                     \
	"    denom = 2 * kv_lora_rank - d\n"                                          \
	"    if denom <= 0:\n"                                                        \
	"        return 1\n"                                                          \
	"    return max(1, kv_lora_rank * d // denom)" result "\n\n\nclass MultiLinear"

#define HELPER_EDIT                                                     \
	{                                                               \
		"mla.py", "\n\n\nclass MultiLinear", "\n" HELPER(""), 1 \
	}
#define RIGHT "max_absorbed_queries(self.kv_lora_rank, self.qk_nope_head_dim, self.v_head_dim)"

#define DENSE .folder = SAMPLE, .site = "dense.py"
#define SPARSE .folder = SAMPLE, .site = "sparse.py"

#define DENSE_FIX(call)                                                                            \
	{"dense.py", "from .mla import MultiLinear",                                               \
	 "from .mla import MultiLinear, max_absorbed_queries", 1},                                 \
	{                                                                                          \
		"dense.py", "        self.q_head_dim = args",                                      \
			"        self._max_absorbed = " call "\n        self.q_head_dim = args", 1 \
	}
#define DENSE_GUARDS                                                       \
	{                                                                  \
		"dense.py", "if L == 1:", "if L <= self._max_absorbed:", 0 \
	}

static void run_all(const mutant *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&m[i]);
}

static void test_right_fix(void **state)
{
	static const mutant m[] = {
		{DENSE, .after = {HELPER_EDIT, DENSE_FIX(RIGHT), DENSE_GUARDS},
	         .outcome = MLA_VERIFIED},
		/* The same source before and after: a threshold of 1 where 170 belongs. */
		{DENSE, .outcome = MLA_REJECTED, .says = {"the threshold 1 is too low"}},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static void test_threshold(void **state)
{
	static const mutant m[] = {
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX("max_absorbed_queries(self.kv_lora_rank, self.q_head_dim if "
	                             "False else self.qk_nope_head_dim + self.qk_rope_head_dim, "
	                             "self.v_head_dim)"),
	                   DENSE_GUARDS},
	         .outcome = MLA_REJECTED, .says = {"the threshold 232 is too high"}},
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX("max_absorbed_queries(self.kv_lora_rank, "
	                             "self.qk_nope_head_dim, 0)"),
	                   DENSE_GUARDS},
	         .outcome = MLA_REJECTED, .says = {"the threshold 73 is too low"}},
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX("max_absorbed_queries(self.qk_nope_head_dim, "
	                             "self.kv_lora_rank, self.v_head_dim)"),
	                   DENSE_GUARDS},
	         .outcome = MLA_REJECTED, .says = {"the threshold 1 is too low"}},
		{DENSE,
	         .after = {{"mla.py", "\n\n\nclass MultiLinear", "\n" HELPER(" + 1"), 1},
	                   DENSE_FIX(RIGHT),
	                   DENSE_GUARDS},
	         .outcome = MLA_REJECTED,
	         .says = {"the threshold 171 is too high", "cross after 170"}},
		{DENSE,
	         .after = {{"mla.py", "\n\n\nclass MultiLinear", "\n" HELPER(" - 1"), 1},
	                   DENSE_FIX(RIGHT),
	                   DENSE_GUARDS},
	         .outcome = MLA_REJECTED,
	         .says = {"the threshold 169 is too low", "cross after 170"}},
		/* A length test that is never true for more than one query. */
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   {"dense.py", "if L == 1:", "if L <= self._max_absorbed and L < 2:", 0}},
	         .outcome = MLA_REJECTED, .says = {"the threshold 1 is too low"}},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

/* Only one guard of the pair: shapes tell, and at r = v the numbers do. */
static void test_one_guard(void **state)
{
#define SQUARE                                                                             \
	{"dense.py", "kv_lora_rank: int = 512", "kv_lora_rank: int = 128", 1},             \
	{                                                                                  \
		"dense.py", "qk_nope_head_dim: int = 128", "qk_nope_head_dim: int = 32", 1 \
	}
	static const mutant m[] = {
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   {"dense.py", "if L == 1:", "if L <= self._max_absorbed:", 1}},
	         .outcome = MLA_REJECTED, .says = {"ValueError", "at line 109"}},
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   {"dense.py", "if L == 1:", "if L <= self._max_absorbed:", 2}},
	         .outcome = MLA_REJECTED},
		{DENSE, .before = {SQUARE},
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   {"dense.py", "if L == 1:", "if L <= self._max_absorbed:", 1}},
	         .outcome = MLA_REJECTED, .says = {"differs by", "width 2"}},
		{DENSE, .before = {SQUARE},
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   {"dense.py", "if L == 1:", "if L <= self._max_absorbed:", 2}},
	         .outcome = MLA_REJECTED},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static void test_mask(void **state)
{
	static const mutant m[] = {
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   DENSE_GUARDS,
	                   {"dense.py", "if mask is not None:",
	                    "if mask is not None and L > self._max_absorbed:", 1}},
	         .outcome = MLA_REJECTED, .says = {"after the fix at width 2", "differs by"}},
		/* The wrong rows of the cache, the wrong scale: nothing about the arms, still
	           wrong. */
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   DENSE_GUARDS,
	                   {"dense.py", "k = v = kv_latent", "k = v = kv_latent * 1.0001", 1}},
	         .outcome = MLA_REJECTED},
		{DENSE,
	         .after = {HELPER_EDIT,
	                   DENSE_FIX(RIGHT),
	                   DENSE_GUARDS,
	                   {"dense.py", "k = v = kv_latent", "k = v = kv_latent + float('nan')",
	                    1}},
	         .outcome = MLA_REJECTED},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

#define SPARSE_FIX                                                                             \
	HELPER_EDIT,                                                                           \
		{"sparse.py", "from .mla import MultiLinear",                                  \
	         "from .mla import MultiLinear, max_absorbed_queries", 1},                     \
	{                                                                                      \
		"sparse.py", "        q_head_dim = self",                                      \
			"        self._max_absorbed = " RIGHT "\n        q_head_dim = self", 1 \
	}

/* The gather of a sparse model picks one query's rows. */
static void test_gather(void **state)
{
	static const mutant m[] = {
		{SPARSE,
	         .after = {SPARSE_FIX,
	                   {"sparse.py", "if L == 1:", "if L <= self._max_absorbed:", 2},
	                   {"sparse.py", "if L == 1:", "if L <= self._max_absorbed:", 2}},
	         .outcome = MLA_VERIFIED},
		{SPARSE,
	         .after = {SPARSE_FIX,
	                   {"sparse.py", "if L == 1:", "if L <= self._max_absorbed:", 0}},
	         .outcome = MLA_REJECTED, .says = {"ValueError", "at line 146"}},
		{SPARSE, .padded_only = true,
	         .after = {SPARSE_FIX,
	                   {"sparse.py", "if L == 1:", "if L <= self._max_absorbed:", 0}},
	         .outcome = MLA_REJECTED, .says = {"left-padded: differs by", "at (0, 1, "}},
		{.folder = FIXTURES,
	         .site = "gather_and_absorb.py",
	         .after = {{"gather_and_absorb.py", "if L == 1 and", "if L <= 170 and", 0}},

	         .outcome = MLA_REJECTED,
	         .says = {"after the fix at width 2", "differs by"}},
	};

	(void)state;
	run_all(m, sizeof(m) / sizeof(*m));
}

static const mla_barrier_site *barrier_of(const char *file)
{
	const mla_kernel_isa *isa = mla_kernel_isas;

	while (strcmp(isa->isa, "strict"))
		isa++;
	for (const mla_kernel_table *const *t = isa->tables; *t; t++)
		for (unsigned i = 0; i < (*t)->n_sites; i++)
			if (strstr((*t)->site[i].file, file))
				return &(*t)->site[i];
	return NULL;
}

static void check_with(const char *name, const mla_backend_options *options, const mutant *m)
{
	mla_backend *usual = backend;

	assert_int_equal(mla_backend_open(&backend, name, options), 0);
	check(m);
	mla_backend_free(backend);
	backend = usual;
}

/*
 * The verdict comes from the kernels: with one barrier of their sums ignored the right
 * fix is no longer verified, and without the memory they need nothing can be said.
 */
static void test_kernels(void **state)
{
	static const mutant right = {DENSE, .padded_only = true,
	                             .after = {HELPER_EDIT, DENSE_FIX(RIGHT), DENSE_GUARDS},
	                             .outcome = MLA_VERIFIED};
	mla_backend_options strict = {.order = MLA_ORDER_FORWARD, .group = 64};
	mutant wrong = right, poor = right;

	(void)state;
	check_with("cpu-strict", &strict, &right);
	strict.skip_barrier = barrier_of("prelude.h");
	assert_non_null(strict.skip_barrier);
	wrong.outcome = MLA_REJECTED;
	wrong.says[0] = "not bit-identical";
	check_with("cpu-strict", &strict, &wrong);
	poor.outcome = MLA_UNVERIFIED;
	poor.says[0] = "memory limit";
	check_with("cpu", &(mla_backend_options){.threads = 1, .max_bytes = 1 << 16}, &poor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_fix), cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_one_guard), cmocka_unit_test(test_mask),
		cmocka_unit_test(test_gather),    cmocka_unit_test(test_kernels),
	};

	return cmocka_run_group_tests_name("verdict_mutants", tests, open_backend, close_backend);
}

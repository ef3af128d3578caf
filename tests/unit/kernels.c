/* Every kernel on every instruction set this machine has, and in strict mode in every order. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/shim/abi.h"
#include "tests/support/kernel_run.h"

static void all_cases(const char *backend, const mla_backend_options *options)
{
	mla_backend *be;

	assert_int_equal(mla_backend_open(&be, backend, options), 0);
	for (unsigned i = 0; kernel_case_at(i); i++) {
		kernel_run r = {0};

		kernel_run_case(&r, be, kernel_case_at(i));
		if (!(r.worst <= 1))
			fail_msg("%s on %s: %.3g times the tolerance: %s", r.name,
			         mla_backend_name(be), r.worst, r.where);
	}
	mla_backend_free(be);
}

static void every_isa(void **state)
{
	int ran = 0;

	(void)state;
	for (const mla_kernel_isa *i = mla_kernel_isas; i->isa; i++) {
		mla_backend_options o = {.isa = i->isa, .threads = 2};
		mla_backend *be;

		if (!strcmp(i->isa, "strict"))
			continue;
		if (mla_backend_open(&be, "cpu", &o) < 0) {
			print_message("# %s: %s\n", i->isa, mla_error_last());
			continue;
		}
		mla_backend_free(be);
		all_cases("cpu", &o);
		ran++;
	}
	assert_true(ran > 0);
}

static void strict(void **state)
{
	static const mla_backend_options o[] = {
		{.order = MLA_ORDER_FORWARD},
		{.order = MLA_ORDER_REVERSE, .group = 64},
		{.order = MLA_ORDER_RANDOM, .group = 96},
	};

	(void)state;
	for (size_t i = 0; i < sizeof o / sizeof *o; i++)
		all_cases("cpu-strict", &o[i]);
}

static uint64_t hash_of(const kernel_case *c, const char *backend, const mla_backend_options *o)
{
	kernel_run r = {0};
	mla_backend *be;

	if (mla_backend_open(&be, backend, o) < 0)
		return 0;
	kernel_run_case(&r, be, c);
	mla_backend_free(be);
	return r.hash;
}

/* Bits must not depend on the vector width, the threads or their order. */
static void same_bits(void **state)
{
	static const mla_backend_options reverse = {.order = MLA_ORDER_REVERSE};
	static const mla_backend_options one = {.isa = "avx2", .threads = 1};
	static const mla_backend_options wide = {.isa = "avx512", .threads = 2};
	static const mla_backend_options neon = {.isa = "neon", .threads = 2};

	(void)state;
	for (unsigned i = 0; kernel_case_at(i); i++) {
		const kernel_case *c = kernel_case_at(i);
		const mla_backend_options *fast[] = {&one, &wide, &neon};
		uint64_t want = hash_of(c, "cpu-strict", NULL), first = 0;

		assert_true(want == hash_of(c, "cpu-strict", &reverse));
		for (size_t k = 0; k < 3; k++) {
			uint64_t got = hash_of(c, "cpu", fast[k]);

			if (got && !c->reduces && got != want)
				fail_msg("%s: %s and strict mode differ", c->name, fast[k]->isa);
			if (got && first && got != first)
				fail_msg("%s: %s differs", c->name, fast[k]->isa);
			first = got ? got : first;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_isa),
		cmocka_unit_test(strict),
		cmocka_unit_test(same_bits),
	};

	return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}

/* The device of bench on the processor: its memory, and which arm runs what. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "engine/backend_impl.h"
#include "engine/bench_kernels.h"

/* What a point needs is known before anything is allocated, and is no less than what it takes. */
static void memory_is_known_before(void **state)
{
	static const mla_bench_spec specs[] = {
		{.geometry = {64, 24, 8, 40},
	         .heads = 3,
	         .cached = {1500},
	         .n_cached = 1,
	         .width = {1, 2, 70},
	         .n_widths = 3},
		{.kind = MLA_BENCH_SPARSE,
	         .geometry = {32, 16, 0, 16},
	         .heads = 20,
	         .top_k = 16,
	         .cached = {16, 600},
	         .n_cached = 2,
	         .width = {1, 5},
	         .n_widths = 2},
		{.kind = MLA_BENCH_POOL, .cached = {7, 4096}, .n_cached = 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		mla_bench_kernels *k = NULL;
		mla_bench_device device;
		mla_bench_point *p;
		mla_backend *be;
		double seconds;
		uint32_t n;

		assert_int_equal(mla_backend_open(&be, "cpu", NULL), 0);
		assert_int_equal(mla_bench_points(&p, &n, &specs[i]), 0);
		assert_int_equal(mla_bench_kernels_new(&k, be, &specs[i], p, n, 20), MLA_ELIMIT);
		assert_non_null(strstr(mla_error_last(), "GiB"));
		assert_int_equal(be->used, 0);
		for (uint32_t j = 0; j < n; j++) {
			uint64_t limit = 1;

			/* The smallest limit that is accepted, to a factor of two. */
			while (mla_bench_kernels_new(&k, be, &specs[i], &p[j], 1, limit) < 0)
				limit *= 2;
			be->max_bytes = limit;
			device = mla_bench_kernels_device(k);
			assert_int_equal(device.prepare(device.state, &p[j]), 0);
			for (unsigned side = 0; side < 2; side++)
				assert_int_equal(device.run(&seconds, device.state, &p[j], side, 1),
				                 0);
			assert_true(be->used * 16 > limit);
			mla_bench_kernels_free(k);
			for (unsigned s = 0; s < MLA_SCRATCH_SLOTS; s++) {
				mla_buffer_free(be->scratch[s]);
				be->scratch[s] = NULL;
			}
			assert_int_equal(be->used, 0);
		}
		free(p);
		mla_backend_free(be);
	}
}

/* One query of a step of many needs less room for what is in between. */
static void one_query_alone(void **state)
{
	static const mla_bench_spec spec = {.geometry = {64, 24, 8, 40}, .heads = 3};
	static const mla_bench_point p = {
		.cached = 500, .width = 70, .arm = {MLA_BENCH_ONE_QUERY, MLA_BENCH_ABSORBED}};
	mla_bench_kernels *k;
	mla_bench_device device;
	mla_backend *be;
	uint64_t used;
	double seconds;

	(void)state;
	assert_int_equal(mla_backend_open(&be, "cpu", NULL), 0);
	assert_int_equal(mla_bench_kernels_new(&k, be, &spec, &p, 1, 1 << 30), 0);
	device = mla_bench_kernels_device(k);
	assert_int_equal(device.prepare(device.state, &p), 0);
	assert_int_equal(device.run(&seconds, device.state, &p, 0, 1), 0);
	used = be->used;
	assert_int_equal(device.run(&seconds, device.state, &p, 1, 1), 0);
	assert_true(be->used > used);
	mla_bench_kernels_free(k);
	mla_backend_free(be);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_known_before),
		cmocka_unit_test(one_query_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

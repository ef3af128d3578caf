/*
 * What bench makes of times: the tests hand in a device whose arms take what the multiply-adds say,
 * or what a case wants. Nothing here looks at a clock.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_impl.h"
#include "engine/bench.h"
#include "engine/bench_kernels.h"

typedef struct {
	const mla_bench_spec *spec;
	double same[2];             /* factors of the sides where both run the same arm */
	uint32_t calls, stop_after; /* 0: never */
	uint32_t fail_after;        /* 0: never */
	char order[64];             /* the sides of the first calls */
	const mla_bench_point *prepared;
} fake;

static int fake_prepare(void *state, const mla_bench_point *p)
{
	((fake *)state)->prepared = p;
	return 0;
}

static int fake_run(double *seconds, void *state, const mla_bench_point *p, unsigned side,
                    uint32_t times)
{
	fake *f = state;

	if (p)
		assert_ptr_equal(p, f->prepared);
	if (f->calls < sizeof f->order - 1)
		f->order[f->calls] = (char)('0' + side);
	f->calls++;
	if (f->fail_after && f->calls > f->fail_after)
		return mla_error(MLA_EIO, "the device is gone");
	*seconds = times * (p ? mla_bench_work(f->spec, p, p->arm[side]) * 1e-9 : 1.0);
	if (p && mla_bench_same(p))
		*seconds *= f->same[side];
	return 0;
}

static bool fake_stop(void *state)
{
	const fake *f = state;

	return f->stop_after && f->calls >= f->stop_after;
}

static int run(mla_bench_point **points, uint32_t *n, fake *f, const mla_bench_spec *spec)
{
	mla_bench_device device = {f, fake_prepare, fake_run};
	mla_bench_watch watch = {f, fake_stop, NULL};

	f->spec = spec;
	f->same[0] = f->same[0] > 0 ? f->same[0] : 1;
	f->same[1] = f->same[1] > 0 ? f->same[1] : 1;
	assert_int_equal(mla_bench_points(points, n, spec), 0);
	return mla_bench_run(*points, *n, spec, MLA_BENCH_SAMPLES, &device, &watch);
}

static void statistics(void **state)
{
	double odd[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, even[] = {4, 3, 2, 1}, one[] = {7};
	mla_bench_stats s;

	(void)state;
	mla_bench_stats_of(&s, odd, 9);
	assert_true(s.n == 9 && s.min == 1 && s.q1 == 3 && s.median == 5 && s.q3 == 7 &&
	            s.max == 9);
	mla_bench_stats_of(&s, even, 4);
	assert_true(s.q1 == 1.75 && s.median == 2.5 && s.q3 == 3.25);
	mla_bench_stats_of(&s, one, 1);
	assert_true(s.min == 7 && s.q1 == 7 && s.median == 7 && s.q3 == 7 && s.max == 7);
}

/* Times that are the multiply-adds must cross where the formula says. */
static void crosses_at_the_threshold(void **state)
{
	static const struct {
		mla_geometry geometry;
		uint32_t cached, threshold;
	} cases[] = {
		{{512, 128, 64, 128}, 512, 128},  {{512, 128, 64, 128}, 32768, 169},
		{{512, 192, 64, 256}, 8192, 379}, {{512, 192, 64, 256}, 2048, 333},
		{{512, 256, 0, 256}, 8192, 481},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mla_bench_spec spec = {.geometry = cases[i].geometry,
		                       .heads = 16,
		                       .cached = {cases[i].cached},
		                       .n_cached = 1};
		fake f = {0};
		mla_bench_point *p;
		mla_bench_length l;
		uint32_t n;

		assert_int_equal(run(&p, &n, &f, &spec), 0);
		assert_true(mla_bench_length_of(&l, p, n, &spec, cases[i].cached));
		assert_int_equal(l.threshold, cases[i].threshold);
		/* 512/128/128 at T = 512 and the like are even at the threshold itself. */
		assert_in_range(l.absorbed_to, cases[i].threshold / 2, cases[i].threshold);
		assert_int_equal(l.materialised_from, cases[i].threshold + 1);
		assert_true(l.has_same && l.valid && l.apart == 0 && l.has_second);
		/* The second query: expanding the cache when stock, one more row when patched. */
		assert_true(l.second[0] > 20 * l.second[1] && l.second[1] > 0);
		free(p);
	}
}

static void sides_take_turns(void **state)
{
	fake f = {0};
	mla_bench_device device = {&f, NULL, fake_run};
	const uint32_t times[2] = {1, 3};
	mla_bench_stats s[2];

	(void)state;
	assert_int_equal(mla_bench_interleave(s, &device, NULL, times, 5), 0);
	assert_string_equal(f.order, "0110011001");
	assert_true(s[0].n == 5 && s[0].median == 1000 && s[1].median == 1000);
}

static void same_arm_is_the_check(void **state)
{
	static const struct {
		double factor;
		bool valid;
	} cases[] = {{1, true}, {1.0199, true}, {1.0201, false}, {0.98, false}, {NAN, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mla_bench_spec spec = {.geometry = {512, 128, 64, 128},
		                       .heads = 1,
		                       .cached = {1024},
		                       .n_cached = 1,
		                       .width = {1, 2},
		                       .n_widths = 2};
		fake f = {0};
		mla_bench_point *p;
		mla_bench_length l;
		uint32_t n;

		f.same[0] = f.same[1] = 1;
		assert_int_equal(run(&p, &n, &f, &spec), 0);
		for (uint32_t k = 0; k < n; k++)
			if (mla_bench_same(&p[k]))
				p[k].ms[1].median *= cases[i].factor;
		assert_int_equal(mla_bench_valid(p, n), cases[i].valid);
		assert_true(mla_bench_length_of(&l, p, n, &spec, 1024));
		assert_int_equal(l.valid, cases[i].valid);
		free(p);
	}
}

/* More samples where it matters; and a device that drifts between its sides is noticed. */
static void a_side_that_is_slower(void **state)
{
	mla_bench_spec spec = {.geometry = {512, 128, 64, 128},
	                       .heads = 1,
	                       .cached = {1024},
	                       .n_cached = 1,
	                       .width = {2},
	                       .n_widths = 1};
	fake f = {.same = {1, 1.05}};
	mla_bench_point *p;
	uint32_t n;

	(void)state;
	assert_int_equal(run(&p, &n, &f, &spec), 0);
	assert_true(mla_bench_same(&p[0]));
	assert_int_equal(p[0].ms[0].n, MLA_BENCH_SAMPLES * MLA_BENCH_SAME_FACTOR);
	assert_int_equal(p[1].ms[0].n, MLA_BENCH_SAMPLES);
	assert_false(mla_bench_valid(p, n));
	free(p);
}

/* 'a' absorbed ahead, 'm' materialised ahead, '-' overlapping quartiles, one letter a width. */
static void crossover_of(const char *ahead, uint32_t absorbed_to, uint32_t materialised_from)
{
	mla_bench_spec spec = {.geometry = {512, 128, 64, 128}, .heads = 1};
	mla_bench_point p[16] = {{0}};
	mla_bench_length l;
	uint32_t n = (uint32_t)strlen(ahead);

	for (uint32_t i = 0; i < n; i++) {
		double stock = ahead[i] == 'a' ? 10 : 5;

		p[i] = (mla_bench_point){.cached = 64,
		                         .width = i + 1,
		                         .arm = {MLA_BENCH_MATERIALISED, MLA_BENCH_ABSORBED},
		                         .measured = true,
		                         .ms = {{9, stock, stock, stock, stock, stock},
		                                {9, 7, ahead[i] == '-' ? 4 : 7, 7, 7, 7}}};
	}
	assert_true(mla_bench_length_of(&l, p, n, &spec, 64));
	if (l.absorbed_to != absorbed_to || l.materialised_from != materialised_from)
		fail_msg("%s: %u, %u instead of %u, %u", ahead, l.absorbed_to, l.materialised_from,
		         absorbed_to, materialised_from);
}

static void crossovers(void **state)
{
	(void)state;
	crossover_of("aaammm", 3, 4);
	crossover_of("aaaa", 4, 0);
	crossover_of("mmm", 0, 1);
	crossover_of("aa-amm-m", 2, 8);
	crossover_of("a-m", 1, 3);
	crossover_of("--", 0, 0);
}

static void stops_between_samples(void **state)
{
	mla_bench_spec spec = {.geometry = {512, 128, 64, 128},
	                       .heads = 1,
	                       .cached = {512},
	                       .n_cached = 1,
	                       .width = {1, 2, 4},
	                       .n_widths = 3};
	/* The first point takes 4 + 54 calls, the second 4 + 18. */
	fake f = {.stop_after = 58 + 22 + 7};
	mla_bench_point *p;
	uint32_t n;

	(void)state;
	assert_int_equal(run(&p, &n, &f, &spec), 1);
	assert_int_equal(n, 4);
	assert_true(p[0].measured && p[1].measured && !p[2].measured && !p[3].measured);
	free(p);
	f = (fake){.fail_after = 60};
	assert_int_equal(run(&p, &n, &f, &spec), MLA_EIO);
	assert_string_equal(mla_error_last(), "the device is gone");
	assert_true(p[0].measured && !p[1].measured);
	free(p);
}

static void usual_points(void **state)
{
	mla_bench_spec spec = {.geometry = {512, 192, 64, 256}, .heads = 16};
	mla_bench_point *p;
	uint32_t n, last = 0, beyond = 0;
	bool at = false, after = false;

	(void)state;
	assert_int_equal(mla_bench_points(&p, &n, &spec), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(p[i].cached >= last && p[i].width <= p[i].cached);
		if (i && p[i].cached == last && !mla_bench_same(&p[i]) &&
		    !mla_bench_same(&p[i - 1]))
			assert_true(p[i].width > p[i - 1].width);
		last = p[i].cached;
		at |= last == 8192 && p[i].width == 379;
		after |= last == 8192 && p[i].width == 380;
		beyond += last == 8192 && p[i].width > 380;
	}
	assert_true(at && after && beyond >= 3);
	free(p);

	/* Below the budget the arms differ, above it both gather. */
	spec.kind = MLA_BENCH_SPARSE;
	spec.top_k = 2048;
	assert_int_equal(mla_bench_points(&p, &n, &spec), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(p[i].arm[1] == MLA_BENCH_GATHERED, p[i].cached > 2048);
		assert_int_equal(mla_bench_same(&p[i]), p[i].cached > 2048 || p[i].width == 1);
	}
	assert_true(last && p[n - 1].cached == 8192);
	free(p);

	spec = (mla_bench_spec){.kind = MLA_BENCH_POOL};
	assert_int_equal(mla_bench_points(&p, &n, &spec), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(p[i].arm[0] == MLA_BENCH_POOL_ALL, p[i].width > 1);
		assert_int_equal(p[i].arm[1], MLA_BENCH_POOL_SUFFIX);
	}
	free(p);

	spec = (mla_bench_spec){.geometry = {512, 128, 64, 128},
	                        .cached = {8},
	                        .n_cached = 1,
	                        .width = {9},
	                        .n_widths = 1};
	assert_int_equal(mla_bench_points(&p, &n, &spec), MLA_ECONFIG);
	assert_non_null(strstr(mla_error_last(), "a step of 9 queries"));
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics),
		cmocka_unit_test(crosses_at_the_threshold),
		cmocka_unit_test(sides_take_turns),
		cmocka_unit_test(same_arm_is_the_check),
		cmocka_unit_test(a_side_that_is_slower),
		cmocka_unit_test(crossovers),
		cmocka_unit_test(stops_between_samples),
		cmocka_unit_test(usual_points),
		cmocka_unit_test(memory_is_known_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What bench makes of times: the tests hand in a device whose arms take what the multiply-adds say,
 * or what a case wants. Nothing here looks at a clock.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/bench.h"

typedef struct {
	const mla_bench_spec *spec;
	double same[2]; /* factors of the sides where both run the same arm */
	double seconds; /* of a run, instead of the multiply-adds */
	double noise;   /* of a call: from 1 to 1 + noise times as long */
	uint32_t busy;  /* that many calls in turn take twice as long; 0: none */
	uint32_t late;  /* this call takes 8 ms more, for another program's turn */
	uint32_t random;
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
	*seconds = f->seconds > 0 ? f->seconds
	           : p            ? mla_bench_work(f->spec, p, p->arm[side]) * 1e-9
	                          : 1.0;
	f->random = f->random * 1664525u + 1013904223u;
	*seconds *= times * (1 + f->noise * (f->random >> 8) / (1 << 24));
	if (f->busy && f->calls / f->busy % 2)
		*seconds *= 2;
	if (f->late && f->calls == f->late)
		*seconds += 8e-3;
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
	return mla_bench_run(*points, *n, spec,
	                     &(mla_bench_effort){MLA_BENCH_SAMPLES, MLA_BENCH_PATIENCE}, &device,
	                     &watch);
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

/* The ranks of tables of the sign test at 95 %. */
static void intervals(void **state)
{
	static const struct {
		uint32_t n, rank;
	} cases[] = {{1, 1}, {5, 1}, {8, 1}, {9, 2}, {27, 8}, {100, 40}, {2997, 1445}};
	double sample[2997];
	mla_bench_paired r;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t n = cases[i].n;

		for (uint32_t k = 0; k < n; k++)
			sample[k] = n - k;
		mla_bench_paired_of(&r, sample, n);
		assert_true(r.low == cases[i].rank && r.high == n + 1 - cases[i].rank);
		assert_true(r.stats.median == (n + 1) / 2.0);
	}
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
		/* 512/128/128 at T = 512 and the like are even at the threshold itself, and one
		 * more query is little. */
		assert_in_range(l.absorbed_to, cases[i].threshold / 2, cases[i].threshold);
		assert_in_range(l.materialised_from, cases[i].threshold + 1,
		                cases[i].threshold * 5 / 4);
		assert_true(l.has_same && l.valid && l.apart == 0 && l.has_second);
		/* The second query: expanding the cache when stock, one more row when patched. */
		assert_true(l.second[0].stats.median > 20 * l.second[1].stats.median);
		assert_true(l.second[1].low > 0 && l.second[1].stats.median >= l.second[1].low);
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
				p[k].ratio.stats.median *= cases[i].factor;
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

/* One cached length with one query and two; freed by the caller. */
static mla_bench_point *two_widths(fake *f, uint32_t *n)
{
	static const mla_bench_spec spec = {.geometry = {512, 128, 64, 128},
	                                    .heads = 1,
	                                    .cached = {1024},
	                                    .n_cached = 1,
	                                    .width = {1, 2},
	                                    .n_widths = 2};
	mla_bench_point *p;

	assert_int_equal(run(&p, n, f, &spec), 0);
	assert_true(*n > 1 && mla_bench_same(&p[0]) && !mla_bench_same(&p[*n - 1]));
	return p;
}

/* Other programs slow both samples of a pair: the times shake, their ratio does not. */
static void load_meets_both_sides(void **state)
{
	fake f = {.busy = 26};
	uint32_t n;
	mla_bench_point *p = two_widths(&f, &n);

	(void)state;
	assert_true(p[0].ms[0].q3 > 1.9 * p[0].ms[0].q1);
	assert_true(mla_bench_apart(&p[0]) < 1e-9 && mla_bench_spread(&p[0].ratio) < 1e-9);
	assert_true(mla_bench_valid(p, n));
	assert_int_equal(mla_bench_ahead(&p[n - 1]), 1);
	free(p);
}

static void more_samples_while_it_shakes(void **state)
{
	fake f = {.noise = 0.1}, worse = {.noise = 8, .seconds = 0.02};
	uint32_t n;
	mla_bench_point *p = two_widths(&f, &n);

	(void)state;
	assert_true(p[0].ratio.stats.n > MLA_BENCH_SAMPLES * MLA_BENCH_SAME_FACTOR);
	assert_true(p[0].ratio.stats.n % MLA_BENCH_SAMPLES == 0);
	assert_true(mla_bench_spread(&p[0].ratio) <= MLA_BENCH_SAME_SPREAD);
	assert_true(mla_bench_valid(p, n));
	/* Expanding the cache takes 30 times as long, so nine samples say enough. */
	assert_int_equal(p[n - 1].ratio.stats.n, MLA_BENCH_SAMPLES);
	free(p);

	/* Patience ends, and what is not known well enough is not valid, whatever its median. */
	p = two_widths(&worse, &n);
	assert_in_range(p[0].ratio.stats.n, 100, MLA_BENCH_PAIRS);
	p[0].ratio.stats.median = 1;
	assert_true(mla_bench_spread(&p[0].ratio) > 2 * MLA_BENCH_APART);
	assert_false(mla_bench_valid(p, n));
	/* Both arms took as long: nothing is ahead. */
	assert_int_equal(mla_bench_ahead(&p[n - 1]), -1);
	free(p);
}

/* A run of 3 microseconds is repeated as often, though another program had a turn meanwhile. */
static void samples_are_long_enough(void **state)
{
	mla_bench_point *p;
	uint32_t n;

	(void)state;
	for (uint32_t late = 0; late <= 40; late++) {
		fake f = {.seconds = 3e-6, .late = late};

		p = two_widths(&f, &n);
		assert_in_range(p[0].times[0], 5000, 6667);
		assert_int_equal(p[0].times[0], p[0].times[1]);
		assert_true(fabs(p[0].ms[0].median - 3e-3) < 1e-9);
		free(p);
	}
	p = two_widths(&(fake){.seconds = 1e-300}, &n);
	assert_int_equal(p[n - 1].times[0], 1 << 20);
	free(p);
	p = two_widths(&(fake){.seconds = 0.5}, &n);
	assert_int_equal(p[n - 1].times[0], 1);
	free(p);
}

/* 'a' absorbed ahead, 'm' materialised ahead, '-' too near to say, one letter a width. */
static void crossover_of(const char *ahead, uint32_t absorbed_to, uint32_t materialised_from)
{
	mla_bench_spec spec = {.geometry = {512, 128, 64, 128}, .heads = 1};
	mla_bench_point p[16] = {{0}};
	mla_bench_length l;
	uint32_t n = (uint32_t)strlen(ahead);

	for (uint32_t i = 0; i < n; i++) {
		double ratio = ahead[i] == 'a' ? 1.5 : ahead[i] == 'm' ? 0.5 : 1.03;

		p[i] = (mla_bench_point){.cached = 64,
		                         .width = i + 1,
		                         .arm = {MLA_BENCH_MATERIALISED, MLA_BENCH_ABSORBED},
		                         .measured = true,
		                         .ratio = {{.median = ratio}, ratio - 0.02, ratio}};
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
	fake f = {0};
	mla_bench_point *p;
	uint32_t n;

	(void)state;
	assert_int_equal(run(&p, &n, &f, &spec), 0);
	free(p);
	/* In the samples of the last point but one. */
	f = (fake){.stop_after = f.calls - 30};
	assert_int_equal(run(&p, &n, &f, &spec), 1);
	assert_int_equal(n, 6);
	assert_true(p[3].measured && !p[4].measured && !p[5].measured);
	free(p);
	f = (fake){.fail_after = 75};
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
		    !mla_bench_same(&p[i - 1]) && !mla_bench_second(&p[i - 1]))
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics),
		cmocka_unit_test(intervals),
		cmocka_unit_test(crosses_at_the_threshold),
		cmocka_unit_test(sides_take_turns),
		cmocka_unit_test(same_arm_is_the_check),
		cmocka_unit_test(a_side_that_is_slower),
		cmocka_unit_test(load_meets_both_sides),
		cmocka_unit_test(more_samples_while_it_shakes),
		cmocka_unit_test(samples_are_long_enough),
		cmocka_unit_test(crossovers),
		cmocka_unit_test(stops_between_samples),
		cmocka_unit_test(usual_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

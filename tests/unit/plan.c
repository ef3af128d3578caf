/* The arithmetic of speculation, reading a bench report back, and the time left. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/bench_watch.h"
#include "cli/speculation.h"

static const double accept[] = {0.84, 0.73, 0.63, 0.62};

static void gains(const double *verify, double decode, double draft, const double want[4],
                  uint32_t best)
{
	mla_depth d[4];

	mla_speculate(d, accept, verify, 4, decode, draft);
	for (int i = 0; i < 4; i++)
		if (fabs(d[i].speedup - want[i]) >= 0.005)
			fail_msg("depth %d: %f instead of %f", i + 1, d[i].speedup, want[i]);
	assert_int_equal(mla_best_depth(d, 4), best);
}

static void worked_example(void **state)
{
	static const double flat[] = {1, 1, 1, 1}, ms[] = {25, 25, 25, 25};
	static const double dear[] = {413.9, 413.9, 413.9, 413.9};
	static const double half[] = {2.4532, 2.4532, 2.4532, 2.4532};

	(void)state;
	gains(flat, 1, 0.26, (double[]){1.46, 1.61, 1.60, 1.51}, 2);
	gains(ms, 25, 0.26 * 25, (double[]){1.46, 1.61, 1.60, 1.51}, 2);
	gains(flat, 1, 0, (double[]){1.84, 2.45, 2.84, 3.08}, 4);
	gains(dear, 1000 / 47.8, 0, (double[]){0.09, 0.12, 0.14, 0.16}, 0);
	/* Exactly as fast as plain decoding is no gain; a little more is one. */
	gains(half, 1, 0, (double[]){0.75, 1.00, 1.16, 1.26}, 4);
	mla_depth even;
	mla_speculate(&even, (double[]){0.5}, (double[]){1.5}, 1, 1, 0);
	assert_int_equal(mla_best_depth(&even, 1), 0);
}

static char *write_report(char *path, const mla_bench_report *r)
{
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	mla_bench_json(f, r);
	fclose(f);
	return path;
}

static void report_comes_back(void **state)
{
	char path[] = "/tmp/mlalint-plan-XXXXXX";
	mla_bench_point p[3] = {
		{.cached = 4096,
	         .width = 1,
	         .arm = {MLA_BENCH_ABSORBED, MLA_BENCH_ABSORBED},
	         .measured = true,
	         .times = {7, 7},
	         .ms = {{27, 1, 2, 3, 4, 5}, {27, 1, 2, 3.01, 4, 5}},
	         .ratio = {{27, 0.5, 0.75, 1, 1.25, 2}, 0.875, 1.125}},
		{.cached = 4096,
	         .width = 2,
	         .arm = {MLA_BENCH_MATERIALISED, MLA_BENCH_ABSORBED},
	         .measured = true,
	         .times = {1, 1 << 20},
	         .ms = {{9, 10, 20, 30, 40, 50}, {9, 1.5, 2.5, 3.5, 4.5, 5.5}},
	         .ratio = {{9, 5, 6, 8, 9, 12}, 5.5, 10.5}},
		{.cached = 4096,
	         .width = 2,
	         .arm = {MLA_BENCH_ONE_QUERY, MLA_BENCH_ABSORBED},
	         .measured = true,
	         .times = {9, 8},
	         .ms = {{9, 1, 2, 3, 4, 5}, {9, 1, 2, 3, 4, 5}},
	         .ratio = {{9, 0.5, 0.75, 1, 1.25, 2}, 0.875, 1.125},
	         .more = {{9, -4, -3, 0.25, 0.5, 4}, -2, 0.375}},
	};
	mla_bench_report out, in = {.spec = {.geometry = {512, 128, 0, 128}, .heads = 16},
	                            .backend = "cpu (test)",
	                            .effort = {9, 30},
	                            .points = p,
	                            .n = 3};

	(void)state;
	assert_int_equal(mla_bench_json_read(&out, write_report(path, &in)), 0);
	assert_int_equal(out.n, 3);
	assert_memory_equal(&out.spec.geometry, &in.spec.geometry, sizeof(mla_geometry));
	assert_string_equal(out.backend, in.backend);
	for (int i = 0; i < 3; i++) {
		assert_memory_equal(out.points[i].arm, p[i].arm, sizeof p[i].arm);
		assert_memory_equal(out.points[i].times, p[i].times, sizeof p[i].times);
		p[i].ratio.stats.n = out.points[i].ratio.stats.n;
		assert_memory_equal(&out.points[i].ratio, &p[i].ratio, sizeof p[i].ratio);
		p[i].more.stats.n = out.points[i].more.stats.n;
		assert_memory_equal(&out.points[i].more, &p[i].more, sizeof p[i].more);
		for (int side = 0; side < 2; side++) {
			const mla_bench_stats *got = &out.points[i].ms[side],
					      *want = &p[i].ms[side];

			assert_true(got->n == want->n && got->min == want->min &&
			            got->q1 == want->q1 && got->median == want->median &&
			            got->q3 == want->q3 && got->max == want->max);
		}
		assert_int_equal(out.points[i].cached, 4096);
		assert_int_equal(out.points[i].width, p[i].width);
	}
	mla_bench_report_free(&out);
	unlink(path);
}

static void time_left(void **state)
{
	char text[24];

	(void)state;
	mla_bench_time_left(text, 0, 10);
	assert_string_equal(text, "");
	mla_bench_time_left(text, 0.5, 65);
	assert_string_equal(text, "1:05");
	mla_bench_time_left(text, 0.25, 1241);
	assert_string_equal(text, "1:02:03");
	mla_bench_time_left(text, 1, 100);
	assert_string_equal(text, "0:00");
	mla_bench_time_left(text, 1e-300, 100);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_example),
		cmocka_unit_test(report_comes_back),
		cmocka_unit_test(time_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

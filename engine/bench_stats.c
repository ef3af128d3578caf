/* What samples say: quartiles, an interval for the median, which side is ahead. */
#include "engine/bench.h"

#include <math.h>
#include <stdlib.h>

const char *mla_bench_arm_name(mla_bench_arm arm)
{
	static const char *const names[MLA_BENCH_ARMS] = {
		"materialised", "absorbed", "one query", "gathered", "all windows", "suffix",
	};

	return names[arm];
}

const char *mla_bench_kind_name(mla_bench_kind kind)
{
	static const char *const names[MLA_BENCH_KINDS] = {"attention", "pool", "sparse"};

	return names[kind];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t n, double q)
{
	double at = q * (n - 1);
	uint32_t i = (uint32_t)at;

	return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void mla_bench_stats_of(mla_bench_stats *out, double *samples, uint32_t n)
{
	qsort(samples, n, sizeof *samples, by_value);
	*out = (mla_bench_stats){
		.n = n,
		.min = samples[0],
		.q1 = quantile(samples, n, 0.25),
		.median = quantile(samples, n, 0.5),
		.q3 = quantile(samples, n, 0.75),
		.max = samples[n - 1],
	};
}

/*
 * The rank k of the interval: the median of what is sampled is below the k-th smallest of n samples
 * when fewer than k of n fair coins show heads, in at most 2.5 % of cases. 0: n is too small.
 */
static uint32_t interval_rank(uint32_t n)
{
	double below = 0;
	uint32_t k = 0;

	for (; k < n; k++) {
		below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
		if (below > 0.025)
			break;
	}
	return k;
}

void mla_bench_paired_of(mla_bench_paired *out, double *samples, uint32_t n)
{
	uint32_t k = interval_rank(n);

	mla_bench_stats_of(&out->stats, samples, n);
	out->low = samples[k ? k - 1 : 0];
	out->high = samples[n - (k ? k : 1)];
}

bool mla_bench_same(const mla_bench_point *p)
{
	return p->arm[0] == p->arm[1];
}

bool mla_bench_second(const mla_bench_point *p)
{
	return p->arm[0] == MLA_BENCH_ONE_QUERY;
}

double mla_bench_apart(const mla_bench_point *p)
{
	return fmax(p->ratio.stats.median, 1 / p->ratio.stats.median) - 1;
}

double mla_bench_spread(const mla_bench_paired *r)
{
	return (r->high - r->low) / r->stats.median;
}

bool mla_bench_agrees(const mla_bench_point *p)
{
	return mla_bench_apart(p) <= MLA_BENCH_APART &&
	       mla_bench_spread(&p->ratio) <= 2 * MLA_BENCH_APART;
}

int mla_bench_ahead(const mla_bench_point *p)
{
	if (p->ratio.high < 1 / (1 + MLA_BENCH_APART))
		return 0;
	return p->ratio.low > 1 + MLA_BENCH_APART ? 1 : -1;
}

bool mla_bench_valid(const mla_bench_point *points, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (points[i].measured && mla_bench_same(&points[i]) &&
		    !mla_bench_agrees(&points[i]))
			return false;
	return true;
}

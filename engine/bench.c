/* The order of a measurement and what follows from it. */
#include "engine/bench.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/arena.h"

const char *mla_bench_arm_name(mla_bench_arm arm)
{
	static const char *const names[MLA_BENCH_ARMS] = {
		"materialised", "absorbed", "gathered", "all windows", "suffix",
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

bool mla_bench_same(const mla_bench_point *p)
{
	return p->arm[0] == p->arm[1];
}

double mla_bench_ratio(const mla_bench_point *p)
{
	return p->ms[0].median / p->ms[1].median;
}

double mla_bench_apart(const mla_bench_point *p)
{
	double a = p->ms[0].median, b = p->ms[1].median;

	return fabs(a - b) / fmin(a, b);
}

int mla_bench_ahead(const mla_bench_point *p)
{
	if (p->ms[0].q3 < p->ms[1].q1)
		return 0;
	return p->ms[1].q3 < p->ms[0].q1 ? 1 : -1;
}

static bool stopped(const mla_bench_watch *watch)
{
	return watch && watch->stop && watch->stop(watch->state);
}

/* The progress of one point inside the whole. */
typedef struct {
	const mla_bench_point *point;
	double before, share;
} part;

static int sample_pair(double *ms[2], uint32_t i, const mla_bench_device *device, const part *now,
                       const uint32_t times[2])
{
	for (unsigned k = 0; k < 2; k++) {
		unsigned side = (i + k) % 2;
		double seconds = 0;
		int error = device->run(&seconds, device->state, now->point, side, times[side]);

		if (error < 0)
			return error;
		ms[side][i] = seconds * 1e3 / times[side];
	}
	return 0;
}

static int interleave(mla_bench_stats out[2], const mla_bench_device *device,
                      const mla_bench_watch *watch, const part *now, const uint32_t times[2],
                      uint32_t samples)
{
	double *ms[2] = {mla_alloc(samples * sizeof(double)), mla_alloc(samples * sizeof(double))};
	int error = 0;

	for (uint32_t i = 0; i < samples && error == 0; i++) {
		if (watch && watch->progress && now->point)
			watch->progress(watch->state, now->before + now->share * i / samples,
			                now->point);
		error = stopped(watch) ? 1 : sample_pair(ms, i, device, now, times);
	}
	for (unsigned side = 0; side < 2 && error == 0; side++)
		mla_bench_stats_of(&out[side], ms[side], samples);
	free(ms[0]);
	free(ms[1]);
	return error;
}

int mla_bench_interleave(mla_bench_stats out[2], const mla_bench_device *device,
                         const mla_bench_watch *watch, const uint32_t times[2], uint32_t samples)
{
	return interleave(out, device, watch, &(part){0}, times, samples);
}

/*
 * How often a sample repeats its side: clocks and wake-ups of threads cost microseconds, a
 * scheduler's tick some milliseconds. The same arm is repeated as often on both sides.
 */
static int repeats(uint32_t out[2], const mla_bench_device *device, const part *now)
{
	const double enough = 0.02;
	const uint32_t most = 1u << 20;
	double seconds = 0;

	for (unsigned side = 0; side < 2; side++) {
		/* Twice: the first run touches memory that is new. */
		for (int i = 0; i < 2; i++) {
			int error = device->run(&seconds, device->state, now->point, side, 1);

			if (error < 0)
				return error;
		}
		out[side] = seconds >= enough         ? 1
		            : seconds > enough / most ? (uint32_t)ceil(enough / seconds)
		                                      : most;
	}
	if (mla_bench_same(now->point))
		out[0] = out[1];
	return 0;
}

static int measure(mla_bench_point *p, const mla_bench_device *device, const mla_bench_watch *watch,
                   const part *now, uint32_t samples)
{
	uint32_t times[2];
	int error = device->prepare ? device->prepare(device->state, p) : 0;

	if (error == 0)
		error = repeats(times, device, now);
	if (error == 0)
		error = interleave(p->ms, device, watch, now, times,
		                   mla_bench_same(p) ? samples * MLA_BENCH_SAME_FACTOR : samples);
	p->measured = error == 0;
	return error;
}

int mla_bench_run(mla_bench_point *points, uint32_t n, const mla_bench_spec *spec, uint32_t samples,
                  const mla_bench_device *device, const mla_bench_watch *watch)
{
	/* A short sample is filled up with repetitions: about what a processor does meanwhile. */
	const double least = 1e9;
	double total = 0;
	int error = 0;
	part now = {0};

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n && error == 0; i++) {
			mla_bench_point *p = &points[i];
			double work = fmax(least, mla_bench_work(spec, p, p->arm[0])) +
			              fmax(least, mla_bench_work(spec, p, p->arm[1]));

			if (mla_bench_same(p))
				work *= MLA_BENCH_SAME_FACTOR;
			if (pass == 0) {
				total += work;
				continue;
			}
			now = (part){p, now.before + now.share, work / total};
			error = stopped(watch) ? 1 : measure(p, device, watch, &now, samples);
		}
	if (error == 0 && n && watch && watch->progress)
		watch->progress(watch->state, 1, &points[n - 1]);
	return error;
}

static void add_swept(mla_bench_length *out, const mla_bench_point *p, bool *unbroken)
{
	int ahead = mla_bench_ahead(p);

	out->swept++;
	*unbroken &= ahead == 1;
	if (*unbroken)
		out->absorbed_to = p->width;
	if (ahead != 0)
		out->materialised_from = 0;
	else if (!out->materialised_from)
		out->materialised_from = p->width;
}

bool mla_bench_length_of(mla_bench_length *out, const mla_bench_point *points, uint32_t n,
                         const mla_bench_spec *spec, uint32_t cached)
{
	const mla_bench_point *first = NULL, *second = NULL;
	bool unbroken = true, any = false;

	*out = (mla_bench_length){.cached = cached, .valid = true};
	if (spec->kind != MLA_BENCH_POOL)
		out->threshold = mla_geometry_threshold(&spec->geometry, cached);
	for (uint32_t i = 0; i < n; i++) {
		const mla_bench_point *p = &points[i];

		if (p->cached != cached || !p->measured)
			continue;
		any = true;
		if (mla_bench_same(p)) {
			out->has_same = true;
			out->apart = fmax(out->apart, mla_bench_apart(p));
			out->valid &= mla_bench_apart(p) <= MLA_BENCH_APART;
			first = p->width == 1 ? p : first;
		} else {
			add_swept(out, p, &unbroken);
		}
		second = p->width == 2 ? p : second;
	}
	if (first && second) {
		out->has_second = true;
		for (int side = 0; side < 2; side++)
			out->second[side] = second->ms[side].median - first->ms[side].median;
	}
	return any;
}

bool mla_bench_valid(const mla_bench_point *points, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (points[i].measured && mla_bench_same(&points[i]) &&
		    !(mla_bench_apart(&points[i]) <= MLA_BENCH_APART))
			return false;
	return true;
}

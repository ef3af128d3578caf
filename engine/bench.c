/* The order of a measurement. */
#include "engine/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"

/* How many pairs of samples a point gets, and how narrow the interval of its ratio should be. */
typedef struct {
	uint32_t least, most;
	double spread, patience;
} limits;

static limits limits_of(const mla_bench_point *p, const mla_bench_effort *effort)
{
	bool same = mla_bench_same(p);
	uint32_t least = effort->samples * (same ? MLA_BENCH_SAME_FACTOR : 1);

	return (limits){least, least > MLA_BENCH_PAIRS ? least : MLA_BENCH_PAIRS,
	                same ? MLA_BENCH_SAME_SPREAD : MLA_BENCH_SPREAD, effort->patience};
}

/* A point inside the whole. */
typedef struct {
	const mla_bench_device *device;
	const mla_bench_watch *watch;
	const mla_bench_point *point; /* NULL: there is no whole */
	double before, share, shown;
} part;

static bool stopped(const part *now)
{
	return now->watch && now->watch->stop && now->watch->stop(now->watch->state);
}

/* Never backwards: a point turns out to need more samples, not less. */
static void show(part *now, double done)
{
	if (!now->point || !now->watch || !now->watch->progress)
		return;
	now->shown = fmax(now->shown, now->before + now->share * fmin(done, 1));
	now->watch->progress(now->watch->state, now->shown, now->point);
}

typedef struct {
	double *ms[2], *ratio, *more, *scratch;
	uint32_t n;
	double seconds; /* all of them */
} pairs;

static int sample_pair(pairs *p, const part *now, const uint32_t times[2])
{
	for (unsigned k = 0; k < 2; k++) {
		unsigned side = (p->n + k) % 2;
		double seconds = 0;
		int error = now->device->run(&seconds, now->device->state, now->point, side,
		                             times[side]);

		if (error < 0)
			return error;
		p->ms[side][p->n] = seconds * 1e3 / times[side];
		p->seconds += seconds;
	}
	p->ratio[p->n] = p->ms[0][p->n] / p->ms[1][p->n];
	p->more[p->n] = p->ms[1][p->n] - p->ms[0][p->n];
	p->n++;
	return 0;
}

/* What part of the pairs that it takes is there: the interval shrinks with their root. */
static double share_of(const pairs *p, const limits *e)
{
	mla_bench_paired r;
	double more;

	memcpy(p->scratch, p->ratio, p->n * sizeof *p->scratch);
	mla_bench_paired_of(&r, p->scratch, p->n);
	more = mla_bench_spread(&r) / fmax(e->spread, fabs(log(r.stats.median)) / 4);
	return fmax(1 / fmax(1, more * more),
	            fmax(p->seconds / e->patience, (double)p->n / e->most));
}

/* 1: stopped. */
static int sample(pairs *p, part *now, const uint32_t times[2], const limits *e)
{
	double share = 0;

	while (share < 1 && p->n < e->most) {
		int error = stopped(now) ? 1 : sample_pair(p, now, times);

		if (error)
			return error;
		if (p->n < e->least)
			share = 0;
		else if ((p->n - e->least) % MLA_BENCH_SAMPLES == 0)
			share = share_of(p, e);
		show(now, p->n < e->least ? (double)p->n / e->least : share);
	}
	return 0;
}

static int interleave(mla_bench_point *out, part *now, const uint32_t times[2], const limits *e)
{
	double *all = mla_alloc((uint64_t)e->most * 5 * sizeof *all);
	pairs p = {{all, all + e->most},
	           all + 2 * (size_t)e->most,
	           all + 3 * (size_t)e->most,
	           all + 4 * (size_t)e->most,
	           0,
	           0};
	int error = sample(&p, now, times, e);

	if (error == 0) {
		mla_bench_stats_of(&out->ms[0], p.ms[0], p.n);
		mla_bench_stats_of(&out->ms[1], p.ms[1], p.n);
		mla_bench_paired_of(&out->ratio, p.ratio, p.n);
		mla_bench_paired_of(&out->more, p.more, p.n);
	}
	free(all);
	return error;
}

int mla_bench_interleave(mla_bench_stats out[2], const mla_bench_device *device,
                         const mla_bench_watch *watch, const uint32_t times[2], uint32_t samples)
{
	part now = {.device = device, .watch = watch};
	mla_bench_point point;
	int error = interleave(&point, &now, times, &(limits){samples, samples, 0, INFINITY});

	for (unsigned side = 0; side < 2 && error == 0; side++)
		out[side] = point.ms[side];
	return error;
}

/*
 * The shorter of two runs: one that is interrupted looks long, and samples would come out short. A
 * long run is not repeated.
 */
static int shorter_run(double *seconds, const part *now, unsigned side, uint32_t times)
{
	const mla_bench_device *d = now->device;
	double again = 0;
	int error = d->run(seconds, d->state, now->point, side, times);

	if (error < 0 || *seconds >= 4 * MLA_BENCH_SECONDS)
		return error;
	error = d->run(&again, d->state, now->point, side, times);
	*seconds = fmin(*seconds, again);
	return error;
}

/* Runs in a sample. Grows them until a sample is long enough to be timed, then calculates. */
static int calibrate(uint32_t *out, const part *now, unsigned side)
{
	const double most = 1 << 20, enough = MLA_BENCH_SECONDS;
	double seconds = 0, times = 1;
	/* The first run touches memory that is new. */
	int error = now->device->run(&seconds, now->device->state, now->point, side, 1);

	while (error == 0) {
		error = shorter_run(&seconds, now, side, (uint32_t)times);
		if (seconds >= enough / 4 || times >= most)
			break;
		times = fmin(most, ceil(times * fmin(8, enough / 2 / seconds)));
	}
	*out = (uint32_t)fmin(most, fmax(1, ceil(times * enough / seconds)));
	return error;
}

static int measure(mla_bench_point *p, part *now, const mla_bench_effort *effort)
{
	const mla_bench_device *d = now->device;
	limits e = limits_of(p, effort);
	int error = d->prepare ? d->prepare(d->state, p) : 0;

	for (unsigned side = 0; side < 2 && error == 0; side++)
		error = calibrate(&p->times[side], now, side);
	if (mla_bench_same(p))
		p->times[0] = p->times[1];
	if (error == 0)
		error = interleave(p, now, p->times, &e);
	p->measured = error == 0;
	return error;
}

/* Both sides of a point. A short sample is filled up: about what a processor does meanwhile. */
static double work_of(const mla_bench_spec *spec, const mla_bench_point *p)
{
	const double least = 1e9;
	double work = fmax(least, mla_bench_work(spec, p, p->arm[0])) +
	              fmax(least, mla_bench_work(spec, p, p->arm[1]));

	return mla_bench_same(p) ? work * MLA_BENCH_SAME_FACTOR : work;
}

int mla_bench_run(mla_bench_point *points, uint32_t n, const mla_bench_spec *spec,
                  const mla_bench_effort *effort, const mla_bench_device *device,
                  const mla_bench_watch *watch)
{
	part now = {.device = device, .watch = watch};
	double total = 0;
	int error = 0;

	for (uint32_t i = 0; i < n; i++)
		total += work_of(spec, &points[i]);
	for (uint32_t i = 0; i < n && error == 0; i++) {
		now.point = &points[i];
		now.before += now.share;
		now.share = work_of(spec, &points[i]) / total;
		show(&now, 0);
		error = stopped(&now) ? 1 : measure(&points[i], &now, effort);
	}
	if (error == 0)
		show(&now, 1);
	return error;
}

/*
 * Measuring two ways of doing the same thing: which points, in which order, and what a measurement
 * is worth. Knows no kernels and no clock: a device runs an arm and says how long it took, so that
 * tests can hand in times of their own (engine/bench_kernels.h is the real one).
 *
 * The two sides of a point are sampled in turn, and which goes first alternates. Each sample is
 * compared with the one beside it: other programs slow both of a pair, so their ratio shakes less
 * than either time. What counts is the median of these ratios, with an interval that holds the true
 * one in 95 % of cases, by ranks alone (no normal distribution is assumed).
 *
 * Pairs are added until the interval is narrow enough: MLA_BENCH_SPREAD of the median, or a quarter
 * of the distance between the sides (of the ratio's logarithm) where that is more; or until they
 * took `patience` seconds. Neither depends on which side is ahead.
 *
 * Where both sides run the same arm (one query, in the stock runtime and in the patched one) the
 * median must be within MLA_BENCH_APART of 1, and the interval no wider than that to either side;
 * otherwise the machine was too restless and the whole run is invalid.
 */
#ifndef MLA_ENGINE_BENCH_H
#define MLA_ENGINE_BENCH_H

#include "analyzer/geometry.h"

typedef enum {
	MLA_BENCH_MATERIALISED,
	MLA_BENCH_ABSORBED,
	MLA_BENCH_ONE_QUERY,   /* absorbed, the first query alone */
	MLA_BENCH_GATHERED,    /* each query attends, in the latent, the rows selected for it */
	MLA_BENCH_POOL_ALL,    /* every window of the cache */
	MLA_BENCH_POOL_SUFFIX, /* the windows that the new tokens reach */
	MLA_BENCH_ARMS
} mla_bench_arm;

const char *mla_bench_arm_name(mla_bench_arm arm);

typedef enum {
	MLA_BENCH_ATTENTION,
	MLA_BENCH_POOL,
	MLA_BENCH_SPARSE,
	MLA_BENCH_KINDS
} mla_bench_kind;

const char *mla_bench_kind_name(mla_bench_kind kind);

enum {
	MLA_BENCH_SAMPLES = 9,     /* of each side, at least; after that, as many more at a time */
	MLA_BENCH_SAME_FACTOR = 3, /* more of them where both sides run the same arm */
	MLA_BENCH_PAIRS = 1000,    /* at most, unless the user asks for more */
	MLA_BENCH_SAMPLES_MAX = 999,
	MLA_BENCH_WIDTHS_MAX = 64,
	MLA_BENCH_LENGTHS_MAX = 32,
};
#define MLA_BENCH_APART 0.02
/* Where the interval is narrow enough, as a share of the median. */
#define MLA_BENCH_SPREAD 0.05
#define MLA_BENCH_SAME_SPREAD 0.02
/* A sample repeats its arm for about that long: clocks and wake-ups of threads cost microseconds, a
 * scheduler's turn some milliseconds. */
#define MLA_BENCH_SECONDS 0.02
enum { MLA_BENCH_PATIENCE = 20, MLA_BENCH_PATIENCE_MAX = 3600 };

/* Milliseconds. Quartiles interpolate linearly between samples; the median is the second one. */
typedef struct {
	uint32_t n;
	double min, q1, median, q3, max;
} mla_bench_stats;

/* Sorts `samples`; n >= 1. */
void mla_bench_stats_of(mla_bench_stats *out, double *samples, uint32_t n);

/* What the pairs say: ratios, side 0 over side 1, or differences. */
typedef struct {
	mla_bench_stats stats;
	double low, high; /* of the median: one sample each */
} mla_bench_paired;

void mla_bench_paired_of(mla_bench_paired *out, double *samples, uint32_t n);
double mla_bench_spread(const mla_bench_paired *r); /* of the interval, over the median */

/* Side 0 is the stock runtime (where the arms are forced: materialised), side 1 the patched one. */
typedef struct {
	uint32_t cached, width; /* positions after the update, new queries among them */
	mla_bench_arm arm[2];
	bool measured;
	uint32_t times[2]; /* runs in a sample; a time is that of one of them */
	mla_bench_stats ms[2];
	mla_bench_paired ratio, more; /* milliseconds that side 1 takes more than side 0 */
} mla_bench_point;

bool mla_bench_same(const mla_bench_point *p);
bool mla_bench_second(const mla_bench_point *p);  /* one query against two */
double mla_bench_apart(const mla_bench_point *p); /* the ratio's distance from 1 */
bool mla_bench_agrees(const mla_bench_point *p);  /* of the same arm: within the limits */

/* The side that is ahead, 0 or 1; -1 where the interval of the ratio comes as near to 1 as the same
 * arm may. */
int mla_bench_ahead(const mla_bench_point *p);

/* What to measure. Lists are ascending, without repetitions. */
typedef struct {
	mla_bench_kind kind;
	mla_geometry geometry; /* not used by pooling */
	uint32_t heads;
	uint32_t top_k;                                   /* sparse: rows a query attends at most */
	uint32_t cached[MLA_BENCH_LENGTHS_MAX], n_cached; /* none: the usual ones */
	uint32_t width[MLA_BENCH_WIDTHS_MAX], n_widths;   /* none: the usual ones */
} mla_bench_spec;

/*
 * The points of a run, by cached length, freed with free(). MLA_ECONFIG for a width above a cached
 * length. Of attention, each length begins with the same arm twice, then the second query, stock
 * and patched; these three are there at more lengths than those of the sweep, which follow by
 * width.
 */
int mla_bench_points(mla_bench_point **out, uint32_t *n, const mla_bench_spec *spec);

typedef struct {
	void *state;
	/* Makes the inputs of a point, the same for both sides. NULL: there are none to make. */
	int (*prepare)(void *state, const mla_bench_point *p);
	/* Runs a side `times` times; p is NULL under mla_bench_interleave(). */
	int (*run)(double *seconds, void *state, const mla_bench_point *p, unsigned side,
	           uint32_t times);
} mla_bench_device;

typedef struct {
	void *state;
	bool (*stop)(void *state); /* asked before each pair of samples */
	/* Between samples: the share of the work that is done, and what is measured now. */
	void (*progress)(void *state, double done, const mla_bench_point *now);
} mla_bench_watch;

/* `samples` of each side, in turn, each of them `times` runs. 1: stopped, and `out` is not set. */
int mla_bench_interleave(mla_bench_stats out[2], const mla_bench_device *device,
                         const mla_bench_watch *watch, const uint32_t times[2], uint32_t samples);

typedef struct {
	uint32_t samples;  /* of each side, at least */
	uint32_t patience; /* seconds of a point's samples, should the machine be restless */
} mla_bench_effort;

/*
 * Measures the points in order.
 * 1: stopped; the points that are complete are marked as measured.
 */
int mla_bench_run(mla_bench_point *points, uint32_t n, const mla_bench_spec *spec,
                  const mla_bench_effort *effort, const mla_bench_device *device,
                  const mla_bench_watch *watch);

/* What follows from the points of one cached length. */
typedef struct {
	uint32_t cached;
	uint32_t threshold; /* cache-length form */
	uint32_t swept;     /* widths measured with both arms */
	/* Absorbed is ahead up to here at every measured width (0: at none), and materialised from
	 * there on at every one (0: at none). Between them nothing is said. */
	uint32_t absorbed_to, materialised_from;
	bool has_same, valid; /* the same arm twice, and within the limit */
	double apart, spread; /* the worst of them */
	bool has_second;
	/* Milliseconds that the second query adds, stock and patched. */
	mla_bench_paired second[2];
} mla_bench_length;

/* Of the points with that cached length; false when none is measured. */
bool mla_bench_length_of(mla_bench_length *out, const mla_bench_point *points, uint32_t n,
                         const mla_bench_spec *spec, uint32_t cached);

/* Every pair with the same arm is within the limit. */
bool mla_bench_valid(const mla_bench_point *points, uint32_t n);

/* Multiply-adds of an arm, or elements pooled: what progress counts. */
double mla_bench_work(const mla_bench_spec *spec, const mla_bench_point *p, mla_bench_arm arm);

#endif

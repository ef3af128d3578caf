/* Inputs, launches and the clock. */
#include "engine/bench_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/arena.h"
#include "engine/backend_mla.h"

/* attention: cache [T][r + p], weights [H][n][r] and [H][v][r]. Pooling: cache [T][dims]. */
enum { CACHE, UP_KEY, UP_VALUE, Q_NOPE, Q_PE, OUT, INDEX, ROWS, GATE, POSITION, BUFFERS };

struct mla_bench_kernels {
	mla_backend *be;
	const mla_bench_spec *spec;
	mla_buffer *buffer[BUFFERS];
	uint32_t random;
};

/* Elements of each buffer at a point; 0: not used. */
static void sizes(uint64_t out[BUFFERS], const mla_bench_spec *s, const mla_bench_point *p)
{
	const mla_geometry *g = &s->geometry;
	uint64_t l = p->width, h = s->heads, row = g->rank + (uint64_t)g->rope;
	bool gathers = p->arm[1] == MLA_BENCH_GATHERED;

	for (int i = 0; i < BUFFERS; i++)
		out[i] = 0;
	if (s->kind == MLA_BENCH_POOL) {
		out[CACHE] = (uint64_t)p->cached * MLA_BENCH_POOL_DIMS;
		out[OUT] = out[CACHE] / MLA_BENCH_POOL_WINDOW + MLA_BENCH_POOL_DIMS;
		out[GATE] = p->cached;
		out[POSITION] = MLA_BENCH_POOL_WINDOW;
		return;
	}
	out[CACHE] = p->cached * row;
	out[UP_KEY] = h * g->nope * g->rank;
	out[UP_VALUE] = h * g->value * g->rank;
	out[Q_NOPE] = h * l * g->nope;
	out[Q_PE] = h * l * g->rope;
	out[OUT] = h * l * g->value;
	out[INDEX] = gathers ? l * s->top_k : 0;
	out[ROWS] = gathers ? l * s->top_k * row : 0;
}

/* Gathered, every query is a batch of its own, over the rows selected for it. */
static mla_tail tail(const mla_bench_kernels *k, const mla_bench_point *p, mla_bench_arm arm)
{
	const mla_geometry *g = &k->spec->geometry;
	bool gathered = arm == MLA_BENCH_GATHERED;
	uint32_t row = g->rank + g->rope, total = gathered ? k->spec->top_k : p->cached;
	mla_buffer *cache = k->buffer[gathered ? ROWS : CACHE];
	mla_tail t = {
		.geometry = *g,
		.batch = gathered ? p->width : 1,
		.heads = k->spec->heads,
		.queries = gathered || arm == MLA_BENCH_ONE_QUERY ? 1 : p->width,
		.total = total,
		.q_nope = k->buffer[Q_NOPE],
		.q_pe = k->buffer[Q_PE],
		.latent = cache,
		.latent_row = row,
		.latent_batch = total * row,
		.k_pe = cache,
		.k_pe_offset = g->rank,
		.k_pe_row = row,
		.k_pe_batch = total * row,
		.w_k = {k->buffer[UP_KEY], 0, g->nope * g->rank, g->rank, 1},
		.w_v = {k->buffer[UP_VALUE], 0, g->value * g->rank, 1, g->rank},
		.scale = 1 / sqrtf((float)g->nope + (float)g->rope),
		.out = k->buffer[OUT],
	};

	if (t.queries > 1)
		t.mask = (mla_mask){.kind = MLA_MASK_CAUSAL, .visible = total - t.queries};
	return t;
}

static int check_point(const mla_bench_kernels *k, const mla_bench_point *p, uint64_t max_bytes)
{
	uint64_t n[BUFFERS], bytes = 0;
	int error = 0;

	sizes(n, k->spec, p);
	for (int i = 0; i < BUFFERS; i++)
		bytes += n[i] * 4;
	if (k->spec->kind != MLA_BENCH_POOL) {
		mla_tail t = tail(k, p, p->arm[1]);
		uint64_t scratch = 0;

		error = mla_tail_scratch(&scratch, k->be, &t);
		bytes += scratch;
	}
	if (error == 0 && bytes > max_bytes)
		error = mla_error(MLA_ELIMIT,
		                  "a step of %u queries at %u cached positions needs %.1f GiB of "
		                  "memory, the limit is %.1f GiB; fewer heads (R/N/P/VxH), a "
		                  "smaller width or a shorter cache needs less",
		                  p->width, p->cached, (double)bytes / (1 << 30),
		                  (double)max_bytes / (1 << 30));
	return error;
}

int mla_bench_kernels_new(mla_bench_kernels **out, mla_backend *be, const mla_bench_spec *spec,
                          const mla_bench_point *points, uint32_t n, uint64_t max_bytes)
{
	mla_bench_kernels *k = mla_alloc(sizeof *k);
	int error = 0;

	*k = (mla_bench_kernels){.be = be, .spec = spec, .random = 1};
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = check_point(k, &points[i], max_bytes);
	if (error < 0)
		mla_bench_kernels_free(k);
	else
		*out = k;
	return error;
}

void mla_bench_kernels_free(mla_bench_kernels *k)
{
	if (!k)
		return;
	for (int i = 0; i < BUFFERS; i++)
		mla_buffer_free(k->buffer[i]);
	free(k);
}

/* In [-scale, scale), and for indices in [0, limit): what the numbers are does not matter, only
 * that they are not all zero and never denormal. */
static uint32_t next(mla_bench_kernels *k)
{
	k->random = k->random * 1664525u + 1013904223u;
	return k->random >> 8;
}

static void fill(mla_bench_kernels *k, int which, uint64_t n, uint32_t limit)
{
	bool weight = which == UP_KEY || which == UP_VALUE;
	float scale = weight ? 0x1p-27f : 0x1p-23f;
	void *data = mla_buffer_data(k->buffer[which]);

	for (uint64_t i = 0; i < n; i++)
		if (which == INDEX)
			((int32_t *)data)[i] = (int32_t)(next(k) % limit);
		else
			((float *)data)[i] = (float)((int32_t)next(k) - (1 << 23)) * scale;
}

/* Buffers are as long as the point needs: a longer one would be another pattern of memory. */
static int prepare(void *state, const mla_bench_point *p)
{
	mla_bench_kernels *k = state;
	uint64_t n[BUFFERS];
	int error = mla_backend_sync(k->be);

	sizes(n, k->spec, p);
	for (int i = 0; i < BUFFERS && error == 0; i++) {
		if (n[i] && k->buffer[i] && mla_buffer_size(k->buffer[i]) == n[i] * 4)
			continue;
		mla_buffer_free(k->buffer[i]);
		k->buffer[i] = NULL;
		if (n[i] && (error = mla_buffer_new(&k->buffer[i], k->be, n[i] * 4)) == 0 &&
		    i != OUT && i != ROWS)
			fill(k, i, n[i], p->cached);
	}
	return error;
}

static int gather(mla_bench_kernels *k, const mla_bench_point *p)
{
	const mla_geometry *g = &k->spec->geometry;
	uint32_t row = g->rank + g->rope, n = k->spec->top_k;
	mla_view y = {k->buffer[ROWS], 0, {n * row, row, 1}};
	mla_view x = {k->buffer[CACHE], 0, {0, row, 1}};
	mla_view index = {k->buffer[INDEX], 0, {n, 1, 0}};

	return mla_take_run(k->be, y, x, index, p->width, n, row, p->cached);
}

static int pool(mla_bench_kernels *k, const mla_bench_point *p, bool all)
{
	uint32_t windows = (p->cached + MLA_BENCH_POOL_WINDOW - 1) / MLA_BENCH_POOL_WINDOW;
	uint32_t first = all ? 0 : (p->cached - p->width) / MLA_BENCH_POOL_WINDOW;
	mla_pool_windows w = {
		.mode = MLA_POOL_GATED,
		.first = first,
		.count = windows - first,
		.window = MLA_BENCH_POOL_WINDOW,
		.total = p->cached,
		.dims = MLA_BENCH_POOL_DIMS,
		.x = {k->buffer[CACHE], 0, MLA_BENCH_POOL_DIMS},
		.y = {k->buffer[OUT], (uint64_t)first * MLA_BENCH_POOL_DIMS, MLA_BENCH_POOL_DIMS},
		.gate = {k->buffer[GATE], 0, {1, 0, 0}},
		.pos = {k->buffer[POSITION], 0, {1, 0, 0}},
	};

	return mla_pool_windows_run(k->be, &w);
}

static int run_once(mla_bench_kernels *k, const mla_bench_point *p, mla_bench_arm arm)
{
	mla_tail t = {.batch = 0};
	int error;

	if (arm == MLA_BENCH_POOL_ALL || arm == MLA_BENCH_POOL_SUFFIX)
		return pool(k, p, arm == MLA_BENCH_POOL_ALL);
	if (arm == MLA_BENCH_GATHERED && (error = gather(k, p)) < 0)
		return error;
	t = tail(k, p, arm);
	return arm == MLA_BENCH_MATERIALISED ? mla_tail_materialised(k->be, &t)
	                                     : mla_tail_absorbed(k->be, &t);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(double *seconds, void *state, const mla_bench_point *p, unsigned side,
               uint32_t times)
{
	mla_bench_kernels *k = state;
	double start = now();
	int error = 0;

	for (uint32_t i = 0; i < times && error == 0; i++)
		error = run_once(k, p, p->arm[side]);
	if (error == 0)
		error = mla_backend_sync(k->be);
	*seconds = now() - start;
	return error;
}

mla_bench_device mla_bench_kernels_device(mla_bench_kernels *k)
{
	return (mla_bench_device){k, prepare, run};
}

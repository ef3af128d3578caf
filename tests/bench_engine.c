/*
 * bench-engine: both attention tails and the plain product of their size, against the same
 * arithmetic on OpenBLAS, interleaved in one process on the same instruction set. OpenBLAS has no
 * softmax, so its side uses the engine's. Prints a table and a line of JSON.
 * usage: bench-engine ISA THREADS [SAMPLES]
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/backend_gemm.h"
#include "engine/backend_mla.h"
#include "engine/bench.h"

enum { R = 512, N = 128, P = 64, V = 128, H = 16, T = 4096, D = R + P };

char *openblas_get_corename(void);
void openblas_set_num_threads(int n);

typedef struct {
	mla_backend *be;
	int queries;
	mla_buffer *cache, *w_k, *w_v;   /* [T][D], [H][N][R], [H][V][R] */
	mla_buffer *q_nope, *q_pe, *out; /* engine: [H][L][.] */
	mla_buffer *scores, *product;    /* OpenBLAS side, in the engine's memory */
	float *b_nope, *b_pe, *b_q, *b_ctx, *b_out, *b_k, *b_v; /* OpenBLAS: [L][H][.] */
} bench;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int error)
{
	if (error < 0) {
		fprintf(stderr, "bench-engine: %s\n", mla_error_last());
		exit(1);
	}
}

static float random_float(void)
{
	static uint64_t s = 88172645463325252u;

	s ^= s << 13, s ^= s >> 7, s ^= s << 17;
	return (float)(int32_t)((s >> 40) - (1 << 23)) * 0x1p-23f;
}

static mla_buffer *input(mla_backend *be, uint64_t n, float scale)
{
	mla_buffer *b;

	must(mla_buffer_new(&b, be, n * 4));
	for (uint64_t i = 0; i < n; i++)
		((float *)mla_buffer_data(b))[i] = random_float() * scale;
	return b;
}

static float *floats(mla_buffer *b)
{
	return mla_buffer_data(b);
}

static float *array(size_t n)
{
	float *p = aligned_alloc(64, (n * 4 + 63) / 64 * 64);

	if (!p)
		exit(1);
	memset(p, 0, n * 4);
	return p;
}

static void engine_gemm(bench *b)
{
	mla_gemm g = {
		.m = T,
		.n = H * N,
		.k = R,
		.alpha = 1,
		.a = {b->cache, 0, D, 1, 0, 0},
		.b = {b->w_k, 0, 1, R, 0, 0},
		.c = {b->product, 0, H * N, 1, 0, 0},
	};

	must(mla_gemm_run(b->be, &g));
}

static void blas_gemm(bench *b)
{
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, T, H * N, R, 1, floats(b->cache), D,
	            floats(b->w_k), R, 0, b->b_k, H * N);
}

static mla_tail tail(const bench *b)
{
	return (mla_tail){
		.geometry = {R, N, P, V},
		.batch = 1,
		.heads = H,
		.queries = (uint32_t)b->queries,
		.total = T,
		.q_nope = b->q_nope,
		.q_pe = b->q_pe,
		.latent = b->cache,
		.latent_row = D,
		.latent_batch = T * D,
		.k_pe = b->cache,
		.k_pe_offset = R,
		.k_pe_row = D,
		.k_pe_batch = T * D,
		.w_k = {b->w_k, 0, N * R, R, 1},
		.w_v = {b->w_v, 0, V * R, 1, R},
		.scale = 1 / sqrtf(N + P),
		.out = b->out,
	};
}

static void engine_absorbed(bench *b)
{
	mla_tail t = tail(b);

	must(mla_tail_absorbed(b->be, &t));
}

static void engine_materialised(bench *b)
{
	mla_tail t = tail(b);

	must(mla_tail_materialised(b->be, &t));
}

static void softmax_scores(bench *b)
{
	uint32_t rows = (uint32_t)b->queries * H;
	mla_softmax s = {.batch = 1,
	                 .heads = 1,
	                 .queries = rows,
	                 .n = T,
	                 .x = {b->scores, 0, T},
	                 .y = {b->scores, 0, T},
	                 .scale = 1 / sqrtf(N + P)};

	must(mla_softmax_run(b->be, &s));
}

static void blas_absorbed(bench *b)
{
	int l = b->queries, rows = l * H;
	const float *cache = floats(b->cache);

	for (int h = 0; h < H; h++)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, R, N, 1,
		            b->b_nope + h * N, H * N, floats(b->w_k) + (size_t)h * N * R, R, 0,
		            b->b_q + h * D, H * D);
	for (int i = 0; i < rows; i++)
		memcpy(b->b_q + (size_t)i * D + R, b->b_pe + (size_t)i * P, P * sizeof(float));
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, T, D, 1, b->b_q, D, cache, D, 0,
	            floats(b->scores), T);
	softmax_scores(b);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, R, T, 1, floats(b->scores), T,
	            cache, D, 0, b->b_ctx, R);
	for (int h = 0; h < H; h++)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, l, V, R, 1, b->b_ctx + h * R,
		            H * R, floats(b->w_v) + (size_t)h * V * R, R, 0, b->b_out + h * V,
		            H * V);
}

static void blas_materialised(bench *b)
{
	int l = b->queries;
	const float *cache = floats(b->cache);

	blas_gemm(b);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, T, H * V, R, 1, cache, D,
	            floats(b->w_v), R, 0, b->b_v, H * V);
	for (int h = 0; h < H; h++) {
		float *s = floats(b->scores) + (size_t)h * l * T;

		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, l, T, N, 1, b->b_nope + h * N,
		            H * N, b->b_k + h * N, H * N, 0, s, T);
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, l, T, P, 1, b->b_pe + h * P,
		            H * P, cache + R, D, 1, s, T);
	}
	softmax_scores(b);
	for (int h = 0; h < H; h++)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, V, T, 1,
		            floats(b->scores) + (size_t)h * l * T, T, b->b_v + h * V, H * V, 0,
		            b->b_out + h * V, H * V);
}

/* Both sides of a comparison, in the order of the columns. */
typedef struct {
	bench *b;
	void (*run[2])(bench *);
} sides;

/* Idle workers of either side spin for a while: let them sleep before the other side is timed. */
static int sample(double *seconds, void *state, const mla_bench_point *point, unsigned side,
                  uint32_t times)
{
	struct timespec pause = {0, 40 * 1000 * 1000};
	const sides *s = state;
	double start;

	(void)point;
	nanosleep(&pause, NULL);
	s->run[side](s->b);
	start = now();
	for (uint32_t i = 0; i < times; i++)
		s->run[side](s->b);
	*seconds = now() - start;
	return 0;
}

/* Speed of the engine relative to OpenBLAS: medians of interleaved samples. */
static void compare(bench *b, const char *name, void (*mine)(bench *), void (*theirs)(bench *),
                    uint32_t samples, uint32_t repeat, const char *more)
{
	sides s = {b, {mine, theirs}};
	const mla_bench_device device = {&s, NULL, sample};
	mla_bench_stats ms[2];

	must(mla_bench_interleave(ms, &device, NULL, (uint32_t[]){repeat, repeat}, samples));
	printf("%-12s L=%d  %9.3f ms  %9.3f ms  %6.2f   (best %.3f, %.3f)\n", name, b->queries,
	       ms[0].median, ms[1].median, ms[1].median / ms[0].median, ms[0].min, ms[1].min);
	fprintf(stderr,
	        "{\"what\":\"%s\",\"queries\":%d,\"engine_ms\":%.4f,\"openblas_ms\":%.4f,"
	        "\"speed\":%.3f}%s",
	        name, b->queries, ms[0].median, ms[1].median, ms[1].median / ms[0].median, more);
	fflush(stdout);
}

/* Both sides must have computed the same thing. */
static void check_outputs(const bench *b, const char *name)
{
	double worst = 0, top = 0;

	for (int h = 0; h < H; h++)
		for (int l = 0; l < b->queries; l++)
			for (int v = 0; v < V; v++) {
				double x = floats(b->out)[((size_t)h * b->queries + l) * V + v];
				double y = b->b_out[((size_t)l * H + h) * V + v];

				worst = fmax(worst, fabs(x - y));
				top = fmax(top, fabs(y));
			}
	if (!(worst <= 1e-4 * top)) {
		fprintf(stderr, "bench-engine: %s differs by %g of %g\n", name, worst, top);
		exit(1);
	}
}

static void set_queries(bench *b, int l)
{
	b->queries = l;
	mla_buffer_free(b->q_nope);
	mla_buffer_free(b->q_pe);
	mla_buffer_free(b->out);
	b->q_nope = input(b->be, (uint64_t)l * H * N, 1);
	b->q_pe = input(b->be, (uint64_t)l * H * P, 1);
	b->out = input(b->be, (uint64_t)l * H * V, 0);
	for (int h = 0; h < H; h++)
		for (int i = 0; i < l; i++) {
			memcpy(b->b_nope + ((size_t)i * H + h) * N,
			       floats(b->q_nope) + ((size_t)h * l + i) * N, N * sizeof(float));
			memcpy(b->b_pe + ((size_t)i * H + h) * P,
			       floats(b->q_pe) + ((size_t)h * l + i) * P, P * sizeof(float));
		}
}

int main(int argc, char **argv)
{
	static const int queries[] = {1, 2, 4, 8};
	mla_backend_options o = {.isa = argc > 1 ? argv[1] : NULL,
	                         .threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2};
	int samples = argc > 3 ? atoi(argv[3]) : 9;
	bench b = {0};

	samples = samples < 1                       ? 1
	          : samples > MLA_BENCH_SAMPLES_MAX ? MLA_BENCH_SAMPLES_MAX
	                                            : samples;
	must(mla_backend_open(&b.be, "cpu", &o));
	openblas_set_num_threads((int)o.threads);
	b.cache = input(b.be, (uint64_t)T * D, 1);
	b.w_k = input(b.be, (uint64_t)H * N * R, 0.06f);
	b.w_v = input(b.be, (uint64_t)H * V * R, 0.06f);
	b.product = input(b.be, (uint64_t)T * H * N, 0);
	b.scores = input(b.be, (uint64_t)T * H * 8, 0);
	b.b_nope = array(8 * H * N), b.b_pe = array(8 * H * P), b.b_q = array(8 * H * D);
	b.b_ctx = array(8 * H * R), b.b_out = array(8 * H * V);
	b.b_k = array((size_t)T * H * N), b.b_v = array((size_t)T * H * V);
	printf("engine %s, OpenBLAS %s, %u threads; r=%d n=%d p=%d v=%d H=%d T=%d, median of %d\n",
	       mla_backend_name(b.be), openblas_get_corename(), o.threads, R, N, P, V, H, T,
	       samples);
	printf("%-12s      %12s  %12s  %6s\n", "", "engine", "OpenBLAS", "speed");
	fprintf(stderr, "{\"engine\":\"%s\",\"openblas\":\"%s\",\"threads\":%u,\"rows\":[",
	        mla_backend_name(b.be), openblas_get_corename(), o.threads);
	compare(&b, "gemm", engine_gemm, blas_gemm, (uint32_t)samples, 1, ",");
	for (size_t i = 0; i < 4; i++) {
		set_queries(&b, queries[i]);
		compare(&b, "absorbed", engine_absorbed, blas_absorbed, (uint32_t)samples * 2 + 1,
		        4, ",");
		check_outputs(&b, "absorbed");
		compare(&b, "materialised", engine_materialised, blas_materialised,
		        (uint32_t)samples, 1, i < 3 ? "," : "]}\n");
		check_outputs(&b, "materialised");
	}
	return 0;
}

/*
 * kernel-check [--isa NAME] [--group N] [--time] BACKEND...   runs every kernel case on each
 * backend: error against the f64 oracle in units of the tolerance, and the hash of all results.
 * With several backends the hashes must agree: of cases without a sum across threads always, of the
 * others between backends that run the same threadgroups (not the fast CPU build, where a
 * threadgroup is one thread). Exit status 1 when something is wrong. --time adds the products and
 * tails of a real layer: median time and hash, without an oracle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/backend_gemm.h"
#include "engine/backend_mla.h"
#include "tests/support/kernel_run.h"

enum { BACKENDS_MAX = 8, SAMPLES = 7 };
enum { RANK = 512, NOPE = 128, ROPE = 64, VALUE = 128, HEADS = 16, TOTAL = 4096 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Backend 0 is what the others are compared with. */
static int check_case(const kernel_case *c, mla_backend *const *be, const bool *fast, int n)
{
	uint64_t first = 0;
	int bad = 0;

	for (int i = 0; i < n; i++) {
		kernel_run r = {0};
		double start = now();
		const char *word = "ok";

		kernel_run_case(&r, be[i], c);
		start = now() - start;
		first = i == 0 ? r.hash : first;
		if (!(r.worst <= 1))
			word = "WRONG";
		else if (r.hash != first && (!c->reduces || fast[i] == fast[0]))
			word = "DIFFERS";
		else if (r.hash != first)
			word = "ok (other order of sums)";
		bad += word[0] != 'o';
		printf("%-14s %-14s %016llx  error %.3f  %7.1f ms  %s\n", c->name,
		       mla_backend_name(be[i]), (unsigned long long)r.hash, r.worst, start * 1e3,
		       word);
		if (word[0] == 'W')
			printf("  %s\n", r.where);
	}
	return bad;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int run_one(mla_backend *be, const mla_tail *t, mla_buffer *product, int what)
{
	mla_gemm g = {
		.m = TOTAL,
		.n = HEADS * NOPE,
		.k = RANK,
		.alpha = 1,
		.store = t->store,
		.a = {t->latent, 0, RANK + ROPE, 1, 0, 0},
		.b = {t->w_k.buf, 0, 1, RANK, 0, 0},
		.c = {product, 0, HEADS * NOPE, 1, 0, 0},
	};
	int error = what == 0   ? mla_gemm_run(be, &g)
	            : what == 1 ? mla_tail_absorbed(be, t)
	                        : mla_tail_materialised(be, t);

	return error < 0 ? error : mla_backend_sync(be);
}

static void time_one(mla_backend *be, const mla_tail *t, mla_buffer *product, int what)
{
	static const char *const name[] = {"gemm", "absorbed", "materialised"};
	mla_buffer *out = what == 0 ? product : t->out;
	const uint32_t *word = mla_buffer_data(out);
	uint64_t hash = 14695981039346656037u;
	double ms[SAMPLES];

	for (int i = -1; i < SAMPLES; i++) {
		double start = now();

		if (run_one(be, t, product, what) < 0) {
			printf("%s: %s\n", name[what], mla_error_last());
			return;
		}
		if (i >= 0)
			ms[i] = (now() - start) * 1e3;
	}
	qsort(ms, SAMPLES, sizeof *ms, by_value);
	for (uint64_t i = 0; i < mla_buffer_size(out) / 4; i++)
		hash = (hash ^ word[i]) * 1099511628211u;
	printf("%-12s L=%u store=%u  %-24s %016llx  %9.3f ms\n", name[what], t->queries, t->store,
	       mla_backend_name(be), (unsigned long long)hash, ms[SAMPLES / 2]);
}

static void time_backend(mla_backend *be)
{
	static const uint32_t queries[] = {1, 2, 4, 8};
	kernel_run r = {.be = be, .name = "time", .random = 88172645463325252u};
	mla_buffer *product = kernel_buffer(&r, (uint64_t)TOTAL * HEADS * NOPE);
	mla_tail t = {
		.geometry = {RANK, NOPE, ROPE, VALUE},
		.batch = 1,
		.heads = HEADS,
		.total = TOTAL,
		.latent_row = RANK + ROPE,
		.k_pe_offset = RANK,
		.k_pe_row = RANK + ROPE,
		.scale = 0.0721687824f,
	};

	t.latent = t.k_pe = kernel_input(&r, (uint64_t)TOTAL * (RANK + ROPE), 1.0f);
	t.w_k = (mla_head_weight){kernel_input(&r, HEADS * NOPE * RANK, 0.06f), 0, NOPE * RANK,
	                          RANK, 1};
	t.w_v = (mla_head_weight){kernel_input(&r, HEADS * VALUE * RANK, 0.06f), 0, VALUE * RANK, 1,
	                          RANK};
	for (uint32_t store = 0; store < 2; store++)
		for (int i = 0; i < 4; i++) {
			t.store = store;
			t.queries = queries[i];
			t.q_nope = kernel_input(&r, (uint64_t)queries[i] * HEADS * NOPE, 1.0f);
			t.q_pe = kernel_input(&r, (uint64_t)queries[i] * HEADS * ROPE, 1.0f);
			t.out = kernel_buffer(&r, (uint64_t)queries[i] * HEADS * VALUE);
			for (int what = i != 0; what < 3; what++)
				time_one(be, &t, product, what);
			mla_buffer_free(t.q_nope);
			mla_buffer_free(t.q_pe);
			mla_buffer_free(t.out);
		}
	mla_buffer_free(product);
	mla_buffer_free(t.latent);
	mla_buffer_free(t.w_k.buf);
	mla_buffer_free(t.w_v.buf);
}

int main(int argc, char **argv)
{
	mla_backend_options o = {0};
	mla_backend *be[BACKENDS_MAX];
	bool fast[BACKENDS_MAX];
	bool timed = false;
	int n = 0, bad = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--isa") && i + 1 < argc) {
			o.isa = argv[++i];
		} else if (!strcmp(argv[i], "--group") && i + 1 < argc) {
			o.group = (unsigned)strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--time")) {
			timed = true;
		} else if (n < BACKENDS_MAX) {
			if (mla_backend_open(&be[n], argv[i], &o) < 0) {
				fprintf(stderr, "%s: %s\n", argv[i], mla_error_last());
				return 2;
			}
			fast[n++] = !strcmp(argv[i], "cpu");
		}
	}
	for (unsigned i = 0; n > 0 && kernel_case_at(i); i++)
		bad += check_case(kernel_case_at(i), be, fast, n);
	/* Strict mode runs a layer for minutes. */
	for (int i = 0; i < n && timed; i++)
		if (strcmp(mla_backend_name(be[i]), "cpu-strict"))
			time_backend(be[i]);
	for (int i = 0; i < n; i++)
		mla_backend_free(be[i]);
	printf("%d wrong or different\n", bad);
	return n == 0 ? 2 : bad != 0;
}

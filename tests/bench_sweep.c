/*
 * bench-sweep BACKEND R/N/P/V[xH][@K] | pool [CACHED [WIDTHS]]   the bench verb without the rest of
 * the program: it stands on the backends alone, so that a machine with a GPU needs no other
 * library.
 * @K is --sparse-topk K. Prints the same tables. Exit status 2 when the run is invalid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "engine/backend.h"
#include "engine/bench_kernels.h"

static int fail(void)
{
	fprintf(stderr, "bench-sweep: %s\n", mla_error_last());
	return 2;
}

/* Numbers between separators; how many there were. */
static uint32_t numbers(uint32_t *out, uint32_t max, const char *text)
{
	uint32_t n = 0;

	for (char *end; text && *text && n < max; text = *end ? end + 1 : end) {
		out[n++] = (uint32_t)strtoul(text, &end, 10);
		if (end == text)
			return 0;
	}
	return n;
}

static bool read_spec(mla_bench_spec *s, char **argv)
{
	const char *top_k = strchr(argv[2], '@'), *heads = strchr(argv[2], 'x');
	uint32_t size[4] = {0};

	s->n_cached = numbers(s->cached, MLA_BENCH_LENGTHS_MAX, argv[3]);
	s->n_widths = argv[3] ? numbers(s->width, MLA_BENCH_WIDTHS_MAX, argv[4]) : 0;
	if (strcmp(argv[2], "pool") == 0) {
		s->kind = MLA_BENCH_POOL;
		return true;
	}
	if (top_k) {
		s->kind = MLA_BENCH_SPARSE;
		s->top_k = (uint32_t)strtoul(top_k + 1, NULL, 10);
	}
	s->heads = heads ? (uint32_t)strtoul(heads + 1, NULL, 10) : MLA_BENCH_HEADS;
	if (numbers(size, 4, argv[2]) != 4 || !s->heads || (top_k && s->top_k < 16))
		return false;
	s->geometry = (mla_geometry){size[0], size[1], size[2], size[3]};
	return mla_geometry_check(&s->geometry) == 0;
}

/* Which point is measured, on a line that is overwritten. */
static void progress(void *state, double done, const mla_bench_point *now)
{
	(void)state;
	fprintf(stderr, "\r%3d %%  T=%u L=%u   ", (int)(done * 100), now->cached, now->width);
}

int main(int argc, char **argv)
{
	const uint64_t memory = (uint64_t)16 << 30;
	mla_backend_options options = {.max_bytes = memory};
	mla_bench_watch watch = {.progress = isatty(STDERR_FILENO) ? progress : NULL};
	mla_bench_report r = {.effort = {MLA_BENCH_SAMPLES, MLA_BENCH_PATIENCE}};
	mla_bench_kernels *kernels;
	mla_bench_device device;
	mla_backend *be;
	bool valid;

	if (argc < 3 || !read_spec(&r.spec, argv)) {
		fprintf(stderr,
		        "usage: bench-sweep BACKEND R/N/P/V[xH][@K] | pool [CACHED [WIDTHS]]\n");
		return 2;
	}
	if (mla_backend_open(&be, argv[1], &options) < 0)
		return fail();
	snprintf(r.backend, sizeof r.backend, "%s", mla_backend_name(be));
	if (mla_bench_points(&r.points, &r.n, &r.spec) < 0 ||
	    mla_bench_kernels_new(&kernels, be, &r.spec, r.points, r.n, memory) < 0)
		return fail();
	device = mla_bench_kernels_device(kernels);
	if (mla_bench_run(r.points, r.n, &r.spec, &r.effort, &device, &watch) < 0)
		return fail();
	if (watch.progress)
		fprintf(stderr, "\r%40s\r", "");
	mla_bench_text(stdout, &r);
	valid = mla_bench_valid(r.points, r.n);
	mla_bench_kernels_free(kernels);
	mla_bench_report_free(&r);
	mla_backend_free(be);
	return valid ? 0 : 2;
}

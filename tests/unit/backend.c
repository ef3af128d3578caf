/* The boundary itself: names, the memory budget, refused launches, fallback, barrier divergence. */
#include "tests/unit/test.h"

#include <string.h>

#include "engine/backend_gemm.h"
#include "engine/backend_impl.h"
#include "engine/backend_mla.h"

static void refuses(int got, int want, const char *message)
{
	assert_int_equal(got, want);
	if (!strstr(mla_error_last(), message))
		fail_msg("\"%s\" instead of \"%s\"", mla_error_last(), message);
}

static void names(void **state)
{
	const mla_backend_options isa = {.isa = "strict"}, none = {.isa = "z80"},
				  odd = {.group = 33};
	mla_backend *b = NULL;

	(void)state;
	refuses(mla_backend_open(&b, "opencl", NULL), MLA_ECONFIG, "unknown backend 'opencl'");
	refuses(mla_backend_open(&b, "cpu", &isa), MLA_ECONFIG, "not built for 'strict'");
	refuses(mla_backend_open(&b, "cpu", &none), MLA_ECONFIG, "not built for 'z80'");
	refuses(mla_backend_open(&b, "cpu-strict", &odd), MLA_ECONFIG, "33 threads");
	assert_int_equal(mla_backend_open(&b, "cpu", NULL), 0);
	assert_int_equal(strncmp(mla_backend_name(b), "cpu (", 5), 0);
	assert_string_equal(mla_backend_note(b), "");
	mla_backend_free(b);
}

/* Only "auto" may fall back, and it says why. */
static void fallback(void **state)
{
	mla_backend *b = NULL;

	(void)state;
#ifndef __APPLE__
	refuses(mla_backend_open(&b, "metal", NULL), MLA_ECONFIG,
	        "this build has no metal backend");
	assert_int_equal(mla_backend_open(&b, "auto", NULL), 0);
	assert_string_equal(mla_backend_note(b), "metal: this build has no metal backend");
#else
	assert_int_equal(mla_backend_open(&b, "auto", NULL), 0);
#endif
	mla_backend_free(b);
}

static void memory(void **state)
{
	const mla_backend_options small = {.max_bytes = 1000};
	mla_buffer *m = NULL, *n = NULL;
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(mla_backend_open(&b, "cpu", &small), 0);
	assert_int_equal(mla_buffer_new(&m, b, 600), 0);
	refuses(mla_buffer_new(&n, b, 600), MLA_ELIMIT, "memory limit of 1000 bytes");
	mla_buffer_free(m);
	assert_int_equal(mla_buffer_new(&m, b, 600), 0);
	assert_int_equal(mla_buffer_new(&n, b, 0), 0);
	assert_non_null(mla_buffer_data(n));
	refuses(mla_buffer_new(&n, b, UINT64_MAX), MLA_ELIMIT, "past 32-bit indexing");
	refuses(mla_buffer_new(&n, b, (uint64_t)1 << 40), MLA_ELIMIT, "past 32-bit indexing");
	mla_buffer_free(m);
	mla_buffer_free(n);
	mla_backend_free(b);
}

static void launches(void **state)
{
	unsigned args[3] = {4, 4, 4};
	mla_launch l = {.kernel = "top_k",
	                .n_buffers = 2,
	                .args = args,
	                .args_size = sizeof args,
	                .grid = {1, 1, 1},
	                .group = 32,
	                .group_bytes = 2048};
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(mla_backend_open(&b, "cpu", NULL), 0);
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "buffer 0 is missing");
	assert_int_equal(mla_buffer_new(&l.buffer[0], b, 64), 0);
	l.buffer[1] = l.buffer[0];
	l.offset[1] = 65;
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "buffer 1 is offset past its end");
	l.offset[1] = 16;
	l.args_size = 8;
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "takes 12 bytes of arguments, 8 given");
	l.args_size = 12;
	l.n_buffers = 1;
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "takes 2 buffers, 1 given");
	l.n_buffers = 2;
	l.group = 2048;
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "2048 threads per threadgroup, 1024");
	l.group = 32;
	l.kernel = "top_j";
	refuses(mla_backend_launch(b, &l), MLA_ECONFIG, "no kernel named top_j");
	l.kernel = "top_k";
	l.grid[0] = 0;
	assert_int_equal(mla_backend_launch(b, &l), 0);
	l.grid[0] = l.grid[1] = l.grid[2] = UINT32_MAX;
	refuses(mla_backend_launch(b, &l), MLA_ELIMIT, "the grid is too large");
	mla_buffer_free(l.buffer[0]);
	mla_backend_free(b);
}

/* A view that leaves its buffer must be refused before a kernel can follow it. */
static void views(void **state)
{
	mla_backend *b = NULL;
	mla_buffer *m = NULL;

	(void)state;
	assert_int_equal(mla_backend_open(&b, "cpu", NULL), 0);
	assert_int_equal(mla_buffer_new(&m, b, 64 * 4), 0);
	mla_gemm g = {.m = 8,
	              .n = 8,
	              .k = 8,
	              .alpha = 1,
	              .a = {m, 0, 8, 1, 0, 0},
	              .b = {m, 0, 8, 1, 0, 0},
	              .c = {m, 0, 8, 1, 0, 0}};
	g.a.offset = 1;
	refuses(mla_gemm_run(b, &g), MLA_ECONFIG, "matrix A reaches past its buffer");
	g.a.offset = 0;
	g.b.col = UINT32_MAX;
	refuses(mla_gemm_run(b, &g), MLA_ELIMIT, "matrix B is past 32-bit indexing");
	g.b.col = 1;
	g.outer = 2;
	g.c.outer = 1;
	refuses(mla_gemm_run(b, &g), MLA_ECONFIG, "matrix C reaches past its buffer");
	refuses(mla_rms_norm_run(b, (mla_rows){m, 0, 8}, (mla_rows){m, 0, 9}, NULL, 8, 8, 0, 0),
	        MLA_ECONFIG, "x reaches past its buffer");
	refuses(mla_topk_run(b, m, (mla_rows){m, 0, 4}, 1, 4, 5), MLA_ECONFIG, "top-k: 5 of 4");
	mla_tail t = {.geometry = {1, 1, 0, 1}, .batch = 1, .heads = 1, .queries = 1};
	refuses(mla_tail_absorbed(b, &t), MLA_ECONFIG, "attention over no positions");
	t.total = 1 << 25;
	refuses(mla_tail_materialised(b, &t), MLA_ELIMIT, "attention of");
	mla_buffer_free(m);
	mla_backend_free(b);
}

/* Thread 3 leaves before the barrier the others wait at. */
static void divergent(const mla_kernel_call *c, unsigned x, unsigned y, unsigned z, unsigned tid)
{
	static const mla_barrier_site site = {"test", 1};

	(void)c, (void)x, (void)y, (void)z;
	if (tid != 3)
		mla_strict_barrier(&site);
}

static void divergence(void **state)
{
	static const mla_kernel_entry kernel = {"divergent", 1, 0, NULL, divergent};
	mla_launch l = {.kernel = "divergent", .grid = {1, 1, 1}, .group = 64};
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(mla_backend_open(&b, "cpu-strict", NULL), 0);
	refuses(b->ops->run(b, &kernel, &l), MLA_EBUG,
	        "threads 0 and 3 are not at the same barrier");
	mla_backend_free(b);
}

static mla_buffer *zeros(mla_backend *b, uint64_t n)
{
	mla_buffer *m = NULL;

	assert_int_equal(mla_buffer_new(&m, b, n * 4), 0);
	return m;
}

/* 60 heads at 32768 positions inside the default 4 GiB. The rank is small to be quick: it is not
 * what the expanded keys and values, or the scores, are made of. */
static void large_layer(void **state)
{
	enum { T = 32768, H = 60, R = 4, N = 128, V = 128, L = 2 };
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(mla_backend_open(&b, "cpu", NULL), 0);
	mla_tail t = {
		.geometry = {R, N, 0, V},
		.batch = 1,
		.heads = H,
		.queries = L,
		.total = T,
		.q_nope = zeros(b, L * H * N),
		.latent = zeros(b, T * R),
		.latent_row = R,
		.w_k = {zeros(b, H * N * R), 0, N * R, R, 1},
		.w_v = {zeros(b, H * V * R), 0, V * R, 1, R},
		.scale = 1,
		.out = zeros(b, L * H * V),
	};
	assert_int_equal(mla_tail_absorbed(b, &t), 0);
	assert_int_equal(mla_tail_materialised(b, &t), 0);
	assert_true(b->used < (uint64_t)1 << 30);
	mla_buffer_free(t.q_nope);
	mla_buffer_free(t.latent);
	mla_buffer_free(t.w_k.buf);
	mla_buffer_free(t.w_v.buf);
	mla_buffer_free(t.out);
	mla_backend_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),       cmocka_unit_test(fallback),
		cmocka_unit_test(memory),      cmocka_unit_test(launches),
		cmocka_unit_test(views),       cmocka_unit_test(divergence),
		cmocka_unit_test(large_layer),
	};

	return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}

/* Matrix multiplication, plain and quantised, against sums in double. */
#include "tests/support/kernel_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_gemm.h"
#include "engine/backend_ops.h"

static double at(const mla_operand *o, uint32_t outer, uint32_t inner, uint32_t i, uint32_t j)
{
	return kernel_floats(
		o->buf)[o->offset + (uint64_t)outer * o->outer + (uint64_t)inner * o->inner +
	                (uint64_t)i * o->row + (uint64_t)j * o->col];
}

/* Dense operands; which of A and B is stored transposed is in ta and tb. */
static void gemm(kernel_run *r, uint32_t m, uint32_t n, uint32_t k, bool ta, bool tb,
                 uint32_t outer, uint32_t inner, uint32_t share, uint32_t store, bool accumulate)
{
	uint32_t kv = (inner - 1) / share + 1, pad = 3, ka = (ta ? m : k) + pad;
	uint32_t a_rows = ta ? k : m, b_rows = tb ? n : k, kb = (tb ? k : n) + pad;
	uint64_t count = (uint64_t)outer * inner * m * n, z = 0;
	double *want = mla_alloc((count + 1) * sizeof *want);
	char what[80];
	mla_gemm g = {
		.m = m,
		.n = n,
		.k = k,
		.outer = outer,
		.inner = inner,
		.b_share = share,
		.alpha = 0.5f,
		.accumulate = accumulate,
		.store = store,
	};

	g.a = (mla_operand){kernel_input(r, 5 + (uint64_t)outer * inner * a_rows * ka, 1.0f),
	                    5,
	                    ta ? 1 : ka,
	                    ta ? ka : 1,
	                    inner * a_rows * ka,
	                    a_rows * ka};
	g.b = (mla_operand){kernel_input(r, 2 + (uint64_t)outer * kv * b_rows * kb, 1.0f),
	                    2,
	                    tb ? 1 : kb,
	                    tb ? kb : 1,
	                    kv * b_rows * kb,
	                    b_rows * kb};
	g.c = (mla_operand){accumulate ? kernel_input(r, count, 1.0f) : kernel_buffer(r, count),
	                    0,
	                    n,
	                    1,
	                    inner * m * n,
	                    m * n};
	for (uint32_t o = 0; o < outer; o++)
		for (uint32_t b = 0; b < inner; b++)
			for (uint32_t i = 0; i < m; i++)
				for (uint32_t j = 0; j < n; j++, z++) {
					double s = accumulate ? kernel_floats(g.c.buf)[z] : 0;

					for (uint32_t x = 0; x < k; x++)
						s += at(&g.a, o, b, i, x) *
						     at(&g.b, o, b / share, x, j);
					want[z] = s * 0.5;
				}
	snprintf(what, sizeof what, "%u x %u x %u %c%c batch %u x %u / %u store %u%s", m, n, k,
	         ta ? 'T' : 'N', tb ? 'T' : 'N', outer, inner, share, store,
	         accumulate ? " +" : "");
	if (!kernel_failed(r, mla_gemm_run(r->be, &g)))
		kernel_expect(r, what, g.c.buf, want, count, kernel_tolerance(store));
	mla_buffer_free(g.a.buf);
	mla_buffer_free(g.b.buf);
	mla_buffer_free(g.c.buf);
	free(want);
}

static void gemm_plain(kernel_run *r)
{
	static const uint32_t shape[][3] = {
		{1, 1, 1},   {1, 67, 31},  {2, 64, 17},  {3, 29, 64},  {5, 7, 11},
		{17, 33, 9}, {23, 64, 40}, {61, 97, 53}, {96, 32, 64}, {4, 128, 1},
		{18, 5, 0},  {9, 33, 5},   {16, 67, 40},
	};

	for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
		for (int t = 0; t < 4; t++)
			gemm(r, shape[i][0], shape[i][1], shape[i][2], t & 1, t & 2, 1, 1, 1, 0, 0);
}

static void gemm_batched(kernel_run *r)
{
	gemm(r, 3, 19, 21, false, false, 2, 6, 6, 0, false); /* one KV head */
	gemm(r, 19, 35, 21, false, true, 2, 4, 2, 0, false); /* two */
	gemm(r, 1, 40, 48, false, true, 3, 2, 1, 0, false);
	gemm(r, 0, 4, 4, false, false, 1, 1, 1, 0, false);
}

static void gemm_stores(kernel_run *r)
{
	for (uint32_t store = 0; store < 3; store++) {
		gemm(r, 20, 70, 33, false, false, 1, 1, 1, store, false);
		gemm(r, 20, 70, 33, false, true, 1, 2, 2, store, true);
		gemm(r, 2, 35, 40, false, true, 1, 1, 1, store, true);
		gemm(r, 4, 35, 40, false, false, 1, 1, 1, store, true);
	}
}

/* Random words; scales and biases make the values about one. */
static void qmm(kernel_run *r, uint32_t batch, uint32_t w_batch, uint32_t m, uint32_t n, uint32_t k,
                uint32_t bits, uint32_t group, bool transposed, uint32_t store)
{
	uint32_t rows = transposed ? n : k, last = transposed ? k : n, per = 32 / bits;
	uint64_t words = (uint64_t)w_batch * rows * last / per,
		 groups = (uint64_t)w_batch * rows * last / group;
	uint64_t count = (uint64_t)batch * m * n;
	double *want = mla_alloc(count * sizeof *want);
	mla_qmm q = {
		.batch = batch,
		.w_batch = w_batch,
		.m = m,
		.n = n,
		.k = k,
		.bits = bits,
		.group = group,
		.transposed = transposed,
		.store = store,
	};
	char what[80];

	q.x = kernel_input(r, (uint64_t)batch * m * k, 1.0f);
	q.words = kernel_buffer(r, words);
	for (uint64_t i = 0; i < words; i++)
		kernel_ints(q.words)[i] = (int32_t)(kernel_below(r, 1u << 31) * 2u);
	q.scales = kernel_input(r, groups, bits == 4 ? 0.1f : 0.01f);
	q.biases = kernel_input(r, groups, 1.0f);
	q.y = kernel_buffer(r, count);
	for (uint64_t z = 0; z < count; z++) {
		uint32_t b = (uint32_t)(z / n / m), i = (uint32_t)(z / n % m),
			 j = (uint32_t)(z % n);
		double s = 0;

		for (uint32_t x = 0; x < k; x++) {
			uint64_t row = (uint64_t)(b % w_batch) * rows + (transposed ? j : x);
			uint32_t col = transposed ? x : j;
			uint64_t g = row * (last / group) + col / group;
			uint32_t word =
				(uint32_t)kernel_ints(q.words)[row * (last / per) + col / per];
			uint32_t v = word >> (col % per * bits) & ((1u << bits) - 1);

			s += (double)kernel_floats(q.x)[((uint64_t)b * m + i) * k + x] *
			     (v * (double)kernel_floats(q.scales)[g] + kernel_floats(q.biases)[g]);
		}
		want[z] = s;
	}
	snprintf(what, sizeof what, "%u/%u: %u x %u x %u, %u bits, groups of %u%s", batch, w_batch,
	         m, n, k, bits, group, transposed ? ", transposed" : "");
	if (!kernel_failed(r, mla_qmm_run(r->be, &q)))
		kernel_expect(r, what, q.y, want, count, kernel_tolerance(store));
	mla_buffer_free(q.x);
	mla_buffer_free(q.words);
	mla_buffer_free(q.scales);
	mla_buffer_free(q.biases);
	mla_buffer_free(q.y);
	free(want);
}

static void quantised(kernel_run *r)
{
	for (uint32_t bits = 4; bits <= 8; bits += 4) {
		qmm(r, 1, 1, 1, 7, 64, bits, 32, true, 0);
		qmm(r, 4, 2, 3, 13, 128, bits, 64, true, 0);
		qmm(r, 4, 2, 3, 128, 11, bits, 128, false, 0);
		qmm(r, 1, 1, 19, 37, 96, bits, 32, true, 0);
		qmm(r, 2, 2, 19, 64, 5, bits, 64, false, 0);
		qmm(r, 1, 1, 2, 40, 128, bits, 128, true, 1);
	}
}

const kernel_case gemm_cases[] = {
	{"gemm", gemm_plain, false, false},
	{"gemm_batched", gemm_batched, false, false},
	{"gemm_stores", gemm_stores, false, false},
	{"quantised", quantised, false, false},
	{NULL, NULL, false, false},
};

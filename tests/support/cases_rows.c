/* Softmax, norms and rotary embedding against double. */
#include "tests/support/kernel_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/arena.h"
#include "engine/backend_ops.h"

/* What mask m adds to the score of (b, h, l, t). */
static double mask_value(const mla_mask *m, uint32_t b, uint32_t h, uint32_t l, uint32_t t)
{
	uint64_t at = m->offset + (uint64_t)b * m->step[0] + h * m->step[1] + l * m->step[2] +
	              t * m->step[3];

	if (m->kind == MLA_MASK_CAUSAL)
		return t <= m->visible + l ? 0 : -INFINITY;
	if (m->kind == MLA_MASK_BOOL)
		return kernel_floats(m->buf)[at] != 0 ? 0 : -INFINITY;
	return m->kind == MLA_MASK_ADDITIVE ? kernel_floats(m->buf)[at] : 0;
}

static void softmax(kernel_run *r, uint32_t batch, uint32_t heads, uint32_t queries, uint32_t n,
                    uint32_t kind, uint32_t store)
{
	uint64_t rows = (uint64_t)batch * heads * queries, row = 0;
	double *want = mla_alloc((rows * n + 1) * sizeof *want);
	mla_softmax s = {.batch = batch,
	                 .heads = heads,
	                 .queries = queries,
	                 .n = n,
	                 .mask = {.kind = kind, .visible = n > queries ? n - queries : 0},
	                 .scale = 0.25f,
	                 .store = store};
	char what[80];

	s.x = (mla_rows){kernel_input(r, rows * (n + 2), 30.0f), 0, n + 2};
	s.y = (mla_rows){kernel_buffer(r, rows * n), 0, n};
	if (kind == MLA_MASK_ADDITIVE || kind == MLA_MASK_BOOL) {
		s.mask.buf = kernel_input(r, (uint64_t)batch * queries * n, 4.0f);
		s.mask.step[0] = queries * n; /* the same for every head */
		s.mask.step[2] = n;
		s.mask.step[3] = 1;
		for (uint64_t i = 0; kind == MLA_MASK_BOOL && i < (uint64_t)batch * queries * n;
		     i++)
			kernel_floats(s.mask.buf)[i] = kernel_below(r, 3) != 0;
		if (kind == MLA_MASK_ADDITIVE)
			kernel_floats(s.mask.buf)[0] = -INFINITY;
	}
	for (uint32_t b = 0; b < batch; b++)
		for (uint32_t h = 0; h < heads; h++)
			for (uint32_t l = 0; l < queries; l++, row++) {
				double top = -INFINITY, z = 0, *w = want + row * n;

				for (uint32_t t = 0; t < n; t++) {
					w[t] = 0.25 * kernel_floats(s.x.buf)[row * (n + 2) + t] +
					       mask_value(&s.mask, b, h, l, t);
					top = fmax(top, w[t]);
				}
				for (uint32_t t = 0; t < n; t++)
					z += w[t] = exp(w[t] - top);
				for (uint32_t t = 0; t < n; t++)
					w[t] /= z;
			}
	snprintf(what, sizeof what, "softmax %u x %u x %u of %u, mask %u", batch, heads, queries, n,
	         kind);
	if (!kernel_failed(r, mla_softmax_run(r->be, &s)))
		kernel_expect(r, what, s.y.buf, want, rows * n, kernel_tolerance(store));
	mla_buffer_free(s.x.buf);
	mla_buffer_free(s.y.buf);
	mla_buffer_free(s.mask.buf);
	free(want);
}

static void softmaxes(kernel_run *r)
{
	static const uint32_t n[] = {1, 13, 16, 509, 1100};

	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (uint32_t kind = 0; kind < 4; kind++)
			softmax(r, 2, 2, 3, n[i], kind, 0);
	softmax(r, 1, 1, 5, 3, MLA_MASK_CAUSAL, 0); /* more queries than positions */
	softmax(r, 1, 2, 3, 700, MLA_MASK_CAUSAL, 1);
	softmax(r, 1, 2, 3, 0, MLA_MASK_NONE, 0);
}

static void norm(kernel_run *r, uint32_t rows, uint32_t n, bool layer, bool weighted,
                 uint32_t store)
{
	mla_rows x = {kernel_input(r, (uint64_t)rows * (n + 1), 3.0f), 0, n + 1};
	mla_rows y = {kernel_buffer(r, (uint64_t)rows * n), 0, n};
	mla_buffer *w = weighted ? kernel_input(r, n, 2.0f) : NULL;
	mla_buffer *bias = weighted && layer ? kernel_input(r, n, 1.0f) : NULL;
	double *want = mla_alloc(((uint64_t)rows * n + 1) * sizeof *want);
	char what[80];

	for (uint32_t i = 0; i < rows; i++) {
		const float *p = kernel_floats(x.buf) + (uint64_t)i * (n + 1);
		double mean = 0, var = 0;

		for (uint32_t j = 0; layer && j < n; j++)
			mean += p[j] / (double)n;
		for (uint32_t j = 0; j < n; j++)
			var += (p[j] - mean) * (p[j] - mean) / n;
		for (uint32_t j = 0; j < n; j++)
			want[(uint64_t)i * n + j] =
				(p[j] - mean) / sqrt(var + 1e-5f) * (w ? kernel_floats(w)[j] : 1) +
				(bias ? kernel_floats(bias)[j] : 0);
	}
	snprintf(what, sizeof what, "%s norm %u of %u", layer ? "layer" : "rms", rows, n);
	if (!kernel_failed(r,
	                   layer ? mla_layer_norm_run(r->be, y, x, w, bias, rows, n, 1e-5f, store)
	                         : mla_rms_norm_run(r->be, y, x, w, rows, n, 1e-5f, store)))
		kernel_expect(r, what, y.buf, want, (uint64_t)rows * n, kernel_tolerance(store));
	mla_buffer_free(x.buf);
	mla_buffer_free(y.buf);
	mla_buffer_free(w);
	mla_buffer_free(bias);
	free(want);
}

static void norms(kernel_run *r)
{
	static const uint32_t n[] = {1, 7, 64, 131, 2053};

	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (int k = 0; k < 4; k++)
			norm(r, 3, n[i], k & 1, k & 2, 0);
	norm(r, 2, 96, false, true, 1);
	norm(r, 2, 96, true, true, 1);
	norm(r, 0, 96, true, true, 0);
}

static void rope(kernel_run *r, uint32_t batches, uint32_t queries, uint32_t dims, uint32_t width,
                 bool interleaved, uint32_t offset, uint32_t store)
{
	uint32_t rows = batches * queries;
	mla_rope p = {
		.rows = rows,
		.queries = queries,
		.dims = dims,
		.width = width,
		.interleaved = interleaved,
		.offset = offset,
		.base = 10000,
		.scale = 1,
		.store = store,
	};
	double *want = mla_alloc(((uint64_t)rows * width + 1) * sizeof *want);
	char what[80];

	p.x = (mla_rows){kernel_input(r, (uint64_t)rows * (width + 1), 1.0f), 1, width + 1};
	p.y = (mla_rows){kernel_buffer(r, (uint64_t)rows * width), 0, width};
	p.x.offset = 0;
	for (uint32_t i = 0; i < rows; i++) {
		const float *x = kernel_floats(p.x.buf) + (uint64_t)i * (width + 1);
		double *w = want + (uint64_t)i * width, position = offset + i % queries;

		for (uint32_t j = 0; j < width; j++)
			w[j] = x[j];
		for (uint32_t j = 0; j < dims / 2; j++) {
			uint32_t a = interleaved ? 2 * j : j;
			uint32_t b = interleaved ? a + 1 : j + dims / 2;
			double angle = position * pow(10000, -2.0 * j / dims);

			w[a] = x[a] * cos(angle) - x[b] * sin(angle);
			w[b] = x[a] * sin(angle) + x[b] * cos(angle);
		}
	}
	snprintf(what, sizeof what, "rope %u of %u, from position %u", dims, width, offset);
	if (!kernel_failed(r, mla_rope_run(r->be, &p)))
		kernel_expect(r, what, p.y.buf, want, (uint64_t)rows * width,
		              kernel_tolerance(store));
	mla_buffer_free(p.x.buf);
	mla_buffer_free(p.y.buf);
	free(want);
}

static void ropes(kernel_run *r)
{
	for (int inter = 0; inter < 2; inter++) {
		rope(r, 2, 3, 64, 64, inter, 0, 0);
		rope(r, 2, 5, 64, 80, inter, 131071, 0);
		rope(r, 1, 1, 2, 3, inter, 1000000, 0);
		rope(r, 1, 7, 10, 10, inter, 511, 1);
		rope(r, 1, 3, 0, 4, inter, 9, 0);
		rope(r, 1, 3, 0, 0, inter, 9, 0);
	}
}

const kernel_case row_cases[] = {
	{"softmax", softmaxes, true, true},
	{"norm", norms, true, true},
	{"rope", ropes, false, false},
	{NULL, NULL, false, false},
};

/* The two attention tails against double, and against each other. */
#include "tests/support/kernel_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/arena.h"
#include "engine/backend_mla.h"

typedef struct {
	uint32_t r, n, p, v, batch, heads, queries, total, mask, store;
} tail_shape;

static double mask_value(const mla_tail *t, uint32_t b, uint32_t h, uint32_t l, uint32_t pos)
{
	const mla_mask *m = &t->mask;
	uint64_t at = (uint64_t)b * m->step[0] + h * m->step[1] + l * m->step[2] + pos * m->step[3];

	if (m->kind == MLA_MASK_CAUSAL)
		return pos <= m->visible + l ? 0 : -INFINITY;
	if (m->kind == MLA_MASK_BOOL)
		return kernel_floats(m->buf)[at] != 0 ? 0 : -INFINITY;
	return m->kind == MLA_MASK_ADDITIVE ? kernel_floats(m->buf)[at] : 0;
}

/* One query of one head, straight from the definition: keys expanded one position at a time. */
static void reference(double *out, const mla_tail *t, uint32_t b, uint32_t h, uint32_t l)
{
	const mla_geometry *g = &t->geometry;
	const float *q = kernel_floats(t->q_nope) +
	                 (((uint64_t)b * t->heads + h) * t->queries + l) * g->nope;
	const float *qp =
		kernel_floats(t->q_pe) + (((uint64_t)b * t->heads + h) * t->queries + l) * g->rope;
	const float *wk = kernel_floats(t->w_k.buf) + (uint64_t)h * t->w_k.head;
	const float *wv = kernel_floats(t->w_v.buf) + (uint64_t)h * t->w_v.head;
	const float *c = kernel_floats(t->latent) + (uint64_t)b * t->latent_batch;
	const float *pe = kernel_floats(t->k_pe) + t->k_pe_offset + (uint64_t)b * t->k_pe_batch;
	double *s = mla_alloc(t->total * sizeof *s), *fold = mla_alloc(g->rank * sizeof *fold);
	double top = -INFINITY, z = 0;

	for (uint32_t i = 0; i < g->rank; i++)
		for (uint32_t k = 0; k < g->nope; k++)
			fold[i] += (double)q[k] * wk[k * t->w_k.row + i * t->w_k.col];
	for (uint32_t p = 0; p < t->total; p++) {
		for (uint32_t i = 0; i < g->rank; i++)
			s[p] += fold[i] * c[(uint64_t)p * t->latent_row + i];
		for (uint32_t i = 0; i < g->rope; i++)
			s[p] += (double)qp[i] * pe[(uint64_t)p * t->k_pe_row + i];
		s[p] = s[p] * t->scale + mask_value(t, b, h, l, p);
		top = fmax(top, s[p]);
	}
	for (uint32_t p = 0; p < t->total; p++)
		z += s[p] = exp(s[p] - top);
	for (uint32_t i = 0; i < g->rank; i++) {
		fold[i] = 0;
		for (uint32_t p = 0; p < t->total; p++)
			fold[i] += s[p] / z * c[(uint64_t)p * t->latent_row + i];
	}
	for (uint32_t j = 0; j < g->value; j++) {
		out[j] = 0;
		for (uint32_t i = 0; i < g->rank; i++)
			out[j] += fold[i] * wv[i * t->w_v.row + j * t->w_v.col];
	}
	free(s);
	free(fold);
}

static void make_mask(kernel_run *r, mla_tail *t, uint32_t kind)
{
	uint64_t n = (uint64_t)t->batch * t->queries * t->total;

	t->mask = (mla_mask){.kind = kind};
	t->mask.visible = t->total > t->queries ? t->total - t->queries : 0;
	if (kind != MLA_MASK_ADDITIVE && kind != MLA_MASK_BOOL)
		return;
	t->mask.buf = kernel_input(r, n, 2.0f);
	t->mask.step[0] = t->queries * t->total;
	t->mask.step[2] = t->total;
	t->mask.step[3] = 1;
	for (uint64_t i = 0; i < n; i++) {
		bool left = i % t->total < t->total / 2 && i / t->total / t->queries == 0;

		/* The first batch is padded on the left, longer than a chunk where total allows. */
		if (kind == MLA_MASK_BOOL)
			kernel_floats(t->mask.buf)[i] = !left;
		else if (left)
			kernel_floats(t->mask.buf)[i] = -INFINITY;
	}
}

static void tail(kernel_run *r, const tail_shape *s, bool split_cache)
{
	uint32_t rows = s->batch * s->heads * s->queries, d = s->r + s->p;
	mla_tail t = {
		.geometry = {s->r, s->n, s->p, s->v},
		.batch = s->batch,
		.heads = s->heads,
		.queries = s->queries,
		.total = s->total,
		.scale = 1 / sqrtf((float)(s->n + s->p)),
		.store = s->store,
	};
	double *want = mla_alloc((uint64_t)rows * s->v * sizeof *want);
	char what[96];

	t.q_nope = kernel_input(r, (uint64_t)rows * s->n, 2.0f);
	t.q_pe = kernel_input(r, (uint64_t)rows * s->p, 2.0f);
	/* One buffer of rows c | k_pe, or two; W_k as (n, r) or as its transpose, W_v likewise. */
	t.latent = kernel_input(r, (uint64_t)s->batch * s->total * d, 1.0f);
	t.latent_row = split_cache ? s->r : d;
	t.latent_batch = s->total * d;
	t.k_pe = split_cache ? kernel_input(r, (uint64_t)s->batch * s->total * s->p, 1.0f)
	                     : t.latent;
	t.k_pe_offset = split_cache ? 0 : s->r;
	t.k_pe_row = split_cache ? s->p : d;
	t.k_pe_batch = split_cache ? s->total * s->p : s->total * d;
	t.w_k = (mla_head_weight){kernel_input(r, (uint64_t)s->heads * s->n * s->r, 0.2f), 0,
	                          s->n * s->r, split_cache ? 1 : s->r, split_cache ? s->n : 1};
	t.w_v = (mla_head_weight){kernel_input(r, (uint64_t)s->heads * s->v * s->r, 0.2f), 0,
	                          s->v * s->r, split_cache ? s->v : 1, split_cache ? 1 : s->r};
	t.out = kernel_buffer(r, (uint64_t)rows * s->v);
	make_mask(r, &t, s->mask);
	for (uint32_t i = 0; i < rows; i++)
		reference(want + (uint64_t)i * s->v, &t, i / s->queries / s->heads,
		          i / s->queries % s->heads, i % s->queries);
	snprintf(what, sizeof what, "%u/%u/%u/%u batch %u heads %u queries %u over %u mask %u",
	         s->r, s->n, s->p, s->v, s->batch, s->heads, s->queries, s->total, s->mask);
	if (!kernel_failed(r, mla_tail_absorbed(r->be, &t)))
		kernel_expect(r, what, t.out, want, (uint64_t)rows * s->v,
		              kernel_tolerance(s->store));
	if (!kernel_failed(r, mla_tail_materialised(r->be, &t)))
		kernel_expect(r, what, t.out, want, (uint64_t)rows * s->v,
		              kernel_tolerance(s->store));
	mla_buffer_free(t.q_nope);
	mla_buffer_free(t.q_pe);
	mla_buffer_free(t.latent);
	if (split_cache)
		mla_buffer_free(t.k_pe);
	mla_buffer_free(t.w_k.buf);
	mla_buffer_free(t.w_v.buf);
	mla_buffer_free(t.mask.buf);
	mla_buffer_free(t.out);
	free(want);
}

static void tails(kernel_run *r)
{
	static const tail_shape s[] = {
		/* r, n, p, v, batch, heads, queries, total, mask, store */
		{1, 1, 0, 1, 1, 1, 1, 1, MLA_MASK_NONE, 0},
		{64, 16, 8, 32, 1, 4, 1, 37, MLA_MASK_NONE, 0},
		{48, 16, 0, 24, 2, 3, 2, 131, MLA_MASK_CAUSAL, 0},
		{37, 13, 5, 19, 2, 3, 3, 67, MLA_MASK_ADDITIVE, 0},
		{64, 32, 16, 32, 1, 2, 5, 3, MLA_MASK_CAUSAL, 0}, /* more queries than positions */
		{32, 16, 8, 16, 2, 2, 4, 600, MLA_MASK_BOOL, 0},  /* a masked chunk, two splits */
		{64, 16, 8, 32, 1, 3, 2, 65, MLA_MASK_NONE, 1},
		{64, 16, 8, 32, 1, 3, 2, 65, MLA_MASK_NONE, 2},
	};

	for (size_t i = 0; i < sizeof s / sizeof *s; i++)
		tail(r, &s[i], i % 2);
}

/* More rows than one threadgroup attends for. */
static void many_rows(kernel_run *r)
{
	static const tail_shape s = {16, 8, 4, 8, 1, 19, 7, 40, MLA_MASK_CAUSAL, 0};

	tail(r, &s, false);
}

const kernel_case attend_cases[] = {
	{"tails", tails, false, true},
	{"many_rows", many_rows, false, true},
	{NULL, NULL, false, false},
};

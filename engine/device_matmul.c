/* Products: batches to the two levels of the kernel, the rest in a loop. */
#include "engine/backend_gemm.h"
#include "engine/backend_ops.h"
#include "engine/device_stage.h"

#include <string.h>

enum { A, B, OUT };

static bool small(const mla_tensor *a, const mla_tensor *b)
{
	for (uint32_t i = 0; i < 2; i++)
		if (a->shape[a->ndim - 2 + i] > UINT32_MAX ||
		    b->shape[b->ndim - 2 + i] > UINT32_MAX)
			return false;
	return true;
}

/* One B for all of them: rows of A that go on from matrix to matrix are one matrix of more rows. */
static void join_rows(mla_gemm *g, mla_device_axes *x)
{
	while (x->n) {
		uint32_t last = x->n - 1;
		uint64_t rows = (uint64_t)g->m * x->size[last];

		if (x->step[B][last] != 0 || x->step[A][last] != (uint64_t)g->a.row * g->m ||
		    x->step[OUT][last] != (uint64_t)g->c.row * g->m || rows > UINT32_MAX)
			return;
		g->m = (uint32_t)rows;
		x->n--;
	}
}

static int multiply(mla_backend *be, mla_gemm *g, mla_device_axes *x)
{
	uint64_t at[MLA_DEVICE_OPERANDS], launches = 1;
	uint32_t loops;
	int error = 0;

	join_rows(g, x);
	loops = x->n > 2 ? x->n - 2 : 0;
	if (x->n > 0) {
		g->inner = x->size[x->n - 1];
		g->a.inner = x->step[A][x->n - 1];
		g->b.inner = x->step[B][x->n - 1];
		g->c.inner = x->step[OUT][x->n - 1];
		/* One latent serves all heads: it is packed once. */
		g->b_share = g->b.inner == 0 ? g->inner : 1;
	}
	if (x->n > 1) {
		g->outer = x->size[x->n - 2];
		g->a.outer = x->step[A][x->n - 2];
		g->b.outer = x->step[B][x->n - 2];
		g->c.outer = x->step[OUT][x->n - 2];
	}
	for (uint32_t i = 0; i < loops; i++)
		launches *= x->size[i];
	for (uint64_t i = 0; i < launches && error == 0; i++) {
		mla_device__at(at, x, loops, i);
		g->a.offset = at[A];
		g->b.offset = at[B];
		g->c.offset = at[OUT];
		error = mla_gemm_run(be, g);
	}
	return error;
}

int mla_device_matmul(mla_engine *e, mla_tensor *out, const mla_tensor *a, const mla_tensor *b)
{
	const mla_tensor *tensors[] = {a, b, out};
	mla_staged sa, sb;
	const mla_staged *staged[] = {&sa, &sb, NULL};
	mla_device_axes axes;
	mla_buffer *to;
	mla_backend *be;
	mla_gemm g;
	int error;

	if (out->count == 0)
		return 1;
	be = mla_device__begin(e, "matmul",
	                       mla_device__format(a->dtype) && mla_device__format(b->dtype) &&
	                               mla_device__format(out->dtype) && small(a, b));
	if (!be)
		return 1;
	if ((error = mla_device__room(&to, e, MLA_SLOT_OUT, (uint64_t)out->count)) < 0 ||
	    (error = mla_device__stage(&sa, e, MLA_SLOT_A, a, MLA_F32)) < 0 ||
	    (error = mla_device__stage(&sb, e, MLA_SLOT_B, b, MLA_F32)) < 0)
		return error;
	g = (mla_gemm){
		.m = (uint32_t)a->shape[a->ndim - 2],
		.n = (uint32_t)b->shape[b->ndim - 1],
		.k = (uint32_t)a->shape[a->ndim - 1],
		.a = {.buf = sa.buf, .row = sa.step[a->ndim - 2], .col = sa.step[a->ndim - 1]},
		.b = {.buf = sb.buf, .row = sb.step[b->ndim - 2], .col = sb.step[b->ndim - 1]},
		.alpha = 1,
		.store = mla_device__store(out->dtype),
	};
	g.c = (mla_operand){.buf = to, .row = g.n, .col = 1};
	mla_device__axes(&axes, out->ndim - 2, out->ndim, out->shape, 3, tensors, staged);
	if ((error = multiply(be, &g, &axes)) < 0 || (error = mla_device__fetch(e, out, to)) < 0)
		return error;
	mla_device__done(e, "matmul");
	return 0;
}

/* The matrices of w that x meets: all those of w in turn, or one for everything. */
static bool takes_turns(const mla_tensor *out, const mla_quantised *w)
{
	uint32_t axes = out->ndim - 2, own = w->ndim - 2;

	for (uint32_t i = 0; i < own; i++)
		if (w->shape[i] != out->shape[axes - own + i])
			return false;
	return true;
}

static uint32_t matrices_of(const mla_quantised *w)
{
	int64_t n = 1;

	for (uint32_t i = 0; i + 2 < w->ndim; i++)
		n *= w->shape[i];
	return (uint32_t)n;
}

/* `t` with the batches of `out`: repeated where it has one matrix for several. */
static mla_tensor spread(const mla_tensor *t, const mla_tensor *out)
{
	uint32_t missing = out->ndim - t->ndim;
	mla_tensor v = *t;

	v.ndim = out->ndim;
	v.count = 1;
	for (uint32_t i = 0; i < out->ndim; i++) {
		bool own = i >= missing, matrix = i >= out->ndim - 2;
		int64_t size = own ? t->shape[i - missing] : 1;

		v.stride[i] = own && (matrix || size == out->shape[i]) ? t->stride[i - missing] : 0;
		v.shape[i] = matrix ? size : out->shape[i];
		v.count *= v.shape[i];
	}
	return v;
}

/* Of a shape [1, ...] that serves a whole axis: element `i` of it, or of the axis itself. */
static mla_tensor part_of(const mla_tensor *t, int64_t i)
{
	mla_tensor v = *t;

	v.offset += t->shape[0] == 1 ? 0 : i * t->stride[0];
	v.count = t->shape[0] ? t->count / t->shape[0] : 0;
	v.ndim--;
	memmove(v.shape, v.shape + 1, v.ndim * sizeof(v.shape[0]));
	memmove(v.stride, v.stride + 1, v.ndim * sizeof(v.stride[0]));
	return v;
}

static int quantised(mla_backend *be, mla_engine *e, mla_tensor *out, const mla_tensor *x,
                     const mla_quantised *w, bool transpose)
{
	mla_tensor wide = spread(x, out);
	uint32_t matrices = matrices_of(w), last = out->ndim - 1;
	mla_qmm q = {
		.w_batch = matrices,
		.n = (uint32_t)out->shape[last],
		.k = (uint32_t)x->shape[x->ndim - 1],
		.bits = w->bits,
		.group = w->group,
		.transposed = transpose,
		.store = mla_device__store(out->dtype),
	};
	int64_t rows = out->count / out->shape[last];
	int error;

	/* With one matrix all rows are one operand. */
	q.m = (uint32_t)(matrices == 1 ? rows : out->shape[last - 1]);
	q.batch = (uint32_t)(rows / q.m);
	if ((error = mla_device__stage_dense(&q.x, e, MLA_SLOT_A, &wide)) < 0 ||
	    (error = mla_device__stage_words(&q.words, e, MLA_SLOT_B, w->codes)) < 0 ||
	    (error = mla_device__stage_dense(&q.scales, e, MLA_SLOT_C, w->scales)) < 0 ||
	    (error = mla_device__stage_dense(&q.biases, e, MLA_SLOT_D, w->biases)) < 0 ||
	    (error = mla_device__room(&q.y, e, MLA_SLOT_OUT, (uint64_t)out->count)) < 0 ||
	    (error = mla_qmm_run(be, &q)) < 0)
		return error;
	return mla_device__fetch(e, out, q.y);
}

/* A weight for each batch but one for all its heads, as in quantised caches: batch by batch. */
static int batch_by_batch(mla_backend *be, mla_engine *e, mla_tensor *out, const mla_tensor *x,
                          const mla_quantised *w, bool transpose)
{
	mla_tensor wide = spread(x, out);
	int error = 0;

	for (int64_t i = 0; i < out->shape[0] && error == 0; i++) {
		mla_tensor codes = part_of(w->codes, i), scales = part_of(w->scales, i);
		mla_tensor biases = part_of(w->biases, i), x_part = part_of(&wide, i);
		mla_tensor out_part = part_of(out, i);
		mla_quantised part = *w;

		part.codes = &codes;
		part.scales = &scales;
		part.biases = &biases;
		part.ndim--;
		memmove(part.shape, part.shape + 1, part.ndim * sizeof(part.shape[0]));
		error = quantised(be, e, &out_part, &x_part, &part, transpose);
	}
	return error;
}

/* Weights [batch, 1, n, k] for results [batch, heads, m, n]. */
static bool for_each_batch(const mla_tensor *out, const mla_quantised *w)
{
	bool fits = w->ndim == out->ndim && w->ndim > 2 && w->shape[0] == out->shape[0];

	for (uint32_t i = 1; i + 2 < w->ndim; i++)
		fits = fits && w->shape[i] == 1;
	return fits;
}

int mla_device_quantised(mla_engine *e, mla_tensor *out, const mla_tensor *x,
                         const mla_quantised *w, bool transpose)
{
	const char *op = "quantized_matmul";
	bool turns, fits;
	mla_backend *be;
	int error;

	if (out->count == 0 || x->ndim < 2 || w->ndim < 2)
		return 1;
	turns = takes_turns(out, w) || matrices_of(w) == 1;
	fits = !w->dense && mla_device__format(x->dtype) && mla_device__format(out->dtype) &&
	       x->shape[x->ndim - 1] > 0 && out->count <= UINT32_MAX &&
	       (turns || for_each_batch(out, w));
	if (!(be = mla_device__begin(e, op, fits)))
		return 1;
	error = turns ? quantised(be, e, out, x, w, transpose)
	              : batch_by_batch(be, e, out, x, w, transpose);
	if (error == 0)
		mla_device__done(e, op);
	return error;
}

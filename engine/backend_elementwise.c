/* Shapes to launches for elementwise kernels, reductions, indexing and quantised multiplication. */
#include "engine/backend_gemm.h"
#include "engine/backend_impl.h"
#include "engine/backend_ops.h"
#include "engine/backend_view.h"

enum { ELEMENTS = 64, AXIS_GROUP = 128, RED_BYTES = 1024 / MLA_KERNEL_SIMD * 4 };
enum { SCRATCH_PANELS = 0 };

static int dense_check(const mla_view *y, const uint32_t n[3])
{
	uint64_t total = (uint64_t)n[0] * n[1];

	if (total > UINT32_MAX || (total *= n[2]) > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "result is past 32-bit indexing");
	return mla_view_check("result", y->buf, y->offset, n, (uint32_t[]){n[1] * n[2], n[2], 1},
	                      3);
}

/* Every operand of an elementwise kernel, result last. */
static int elementwise(mla_backend *be, const char *kernel, const mla_view *const *v, unsigned n_v,
                       mla_elementwise_args *args, const uint32_t n[3])
{
	mla_launch l = {
		.kernel = kernel,
		.n_buffers = n_v,
		.args = args,
		.args_size = sizeof *args,
		.threads = true,
		.grid = {(n[2] + ELEMENTS - 1) / ELEMENTS, n[1], n[0]},
		.group = 32,
		.block = {16, 16},
	};
	int error;

	if (n[0] == 0 || n[1] == 0 || n[2] == 0)
		return 0;
	if ((error = dense_check(v[n_v - 1], n)) < 0)
		return error;
	for (unsigned i = 0; i < n_v; i++) {
		l.buffer[i] = v[i]->buf;
		l.offset[i] = v[i]->offset * 4;
		if (i + 1 < n_v && (error = mla_view_check("operand", v[i]->buf, v[i]->offset, n,
		                                           v[i]->step, 3)) < 0)
			return error;
	}
	return mla_backend_launch(be, &l);
}

static mla_elementwise_args elementwise_args(uint32_t op, uint32_t store, const uint32_t n[3],
                                             const uint32_t a[3], const uint32_t b[3],
                                             const uint32_t c[3])
{
	return (mla_elementwise_args){
		op, store, n[0], n[1], n[2], a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2],
	};
}

int mla_binary_run(mla_backend *be, mla_view y, mla_view a, mla_view b, uint32_t op,
                   const uint32_t n[3], uint32_t store)
{
	mla_elementwise_args args = elementwise_args(op, store, n, a.step, b.step, a.step);

	if (op >= MLA_BINARY_N)
		return mla_error(MLA_ECONFIG, "no binary operation %u", op);
	return elementwise(be, "binary", (const mla_view *[]){&a, &b, &y}, 3, &args, n);
}

int mla_unary_run(mla_backend *be, mla_view y, mla_view a, uint32_t op, const uint32_t n[3],
                  uint32_t store)
{
	mla_elementwise_args args = elementwise_args(op, store, n, a.step, a.step, a.step);

	if (op >= MLA_UNARY_N)
		return mla_error(MLA_ECONFIG, "no unary operation %u", op);
	return elementwise(be, "unary", (const mla_view *[]){&a, &y}, 2, &args, n);
}

int mla_where_run(mla_backend *be, mla_view y, mla_view c, mla_view a, mla_view b,
                  const uint32_t n[3], uint32_t store)
{
	mla_elementwise_args args = elementwise_args(0, store, n, a.step, b.step, c.step);

	return elementwise(be, "select_where", (const mla_view *[]){&a, &b, &c, &y}, 4, &args, n);
}

static int reduce(mla_backend *be, const char *kernel, const mla_view *y, const mla_view *x,
                  uint32_t op, uint32_t outer, uint32_t n, uint32_t inner, uint32_t store)
{
	mla_reduce_args args = {
		op, store, n, x->step[0], x->step[1], x->step[2], y->step[0], y->step[2],
	};
	mla_launch l = {
		.kernel = kernel,
		.buffer = {x->buf, y->buf},
		.offset = {x->offset * 4, y->offset * 4},
		.n_buffers = 2,
		.args = &args,
		.args_size = sizeof args,
		.grid = {inner, outer, 1},
		.group = AXIS_GROUP,
		.group_bytes = 2 * 1024 * 4,
		.block = {16, 1},
	};
	int error;

	if (outer == 0 || inner == 0)
		return 0;
	if (n == 0 && op != MLA_REDUCE_SUM)
		return mla_error(MLA_ECONFIG, "%s over an empty axis", kernel);
	if ((error = mla_view_check("x", x->buf, x->offset, (uint32_t[]){outer, n, inner}, x->step,
	                            3)) < 0 ||
	    (error = mla_view_check("y", y->buf, y->offset, (uint32_t[]){outer, 1, inner}, y->step,
	                            3)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

int mla_reduce_run(mla_backend *be, mla_view y, mla_view x, uint32_t op, uint32_t outer, uint32_t n,
                   uint32_t inner, uint32_t store)
{
	if (op >= MLA_REDUCE_N)
		return mla_error(MLA_ECONFIG, "no reduction %u", op);
	return reduce(be, "reduce_axis", &y, &x, op, outer, n, inner, store);
}

int mla_argmax_run(mla_backend *be, mla_view y, mla_view x, uint32_t outer, uint32_t n,
                   uint32_t inner)
{
	return reduce(be, "argmax_axis", &y, &x, MLA_REDUCE_MAX, outer, n, inner, 0);
}

typedef struct {
	mla_view y, x, index;
	uint32_t outer, n, inner, size;
	bool put;
} along;

static int along_run(mla_backend *be, const along *g)
{
	mla_gather_args args = {
		g->inner,         g->n,         g->size,          g->x.step[0],
		g->x.step[1],     g->x.step[2], g->index.step[0], g->index.step[1],
		g->index.step[2], g->y.step[0], g->y.step[1],     g->y.step[2],
	};
	mla_launch l = {
		.kernel = g->put ? "put_along" : "take_along",
		.buffer = {g->x.buf, g->index.buf, g->y.buf},
		.offset = {g->x.offset * 4, g->index.offset * 4, g->y.offset * 4},
		.n_buffers = 3,
		.args = &args,
		.args_size = sizeof args,
		.threads = true,
		.grid = {g->inner, g->put ? g->outer : g->n, g->put ? 1 : g->outer},
		.group = 32,
		.block = {256, 16},
	};
	uint32_t whole[3] = {g->outer, g->size, g->inner}, part[3] = {g->outer, g->n, g->inner};
	int error;

	if (g->outer == 0 || g->n == 0 || g->inner == 0)
		return 0;
	if ((error = mla_view_check("x", g->x.buf, g->x.offset, g->put ? part : whole, g->x.step,
	                            3)) < 0 ||
	    (error = mla_view_check("index", g->index.buf, g->index.offset, part, g->index.step,
	                            3)) < 0 ||
	    (error = mla_view_check("y", g->y.buf, g->y.offset, g->put ? whole : part, g->y.step,
	                            3)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

int mla_take_run(mla_backend *be, mla_view y, mla_view x, mla_view index, uint32_t outer,
                 uint32_t n, uint32_t inner, uint32_t size)
{
	return along_run(be, &(along){y, x, index, outer, n, inner, size, false});
}

int mla_put_run(mla_backend *be, mla_view y, mla_view x, mla_view index, uint32_t outer, uint32_t n,
                uint32_t inner, uint32_t size)
{
	return along_run(be, &(along){y, x, index, outer, n, inner, size, true});
}

static int qmm_check(const mla_qmm *q, uint32_t rows, uint32_t last)
{
	uint32_t words, groups;
	int error;

	if (q->bits != 4 && q->bits != 8)
		return mla_error(MLA_ECONFIG, "quantisation to %u bits", q->bits);
	if ((q->group != 32 && q->group != 64 && q->group != 128) || last % q->group)
		return mla_error(MLA_ECONFIG, "quantisation of %u values in groups of %u", last,
		                 q->group);
	words = last / 32 * q->bits;
	groups = last / q->group;
	if ((error = mla_view_check("words", q->words, 0, (uint32_t[]){q->w_batch, rows, words},
	                            (uint32_t[]){rows * words, words, 1}, 3)) < 0 ||
	    (error = mla_view_check("scales", q->scales, 0, (uint32_t[]){q->w_batch, rows, groups},
	                            (uint32_t[]){rows * groups, groups, 1}, 3)) < 0 ||
	    (error = mla_view_check("biases", q->biases, 0, (uint32_t[]){q->w_batch, rows, groups},
	                            (uint32_t[]){rows * groups, groups, 1}, 3)) < 0 ||
	    (error = mla_view_check("x", q->x, 0, (uint32_t[]){q->batch, q->m, q->k},
	                            (uint32_t[]){q->m * q->k, q->k, 1}, 3)) < 0)
		return error;
	return mla_view_check("y", q->y, 0, (uint32_t[]){q->batch, q->m, q->n},
	                      (uint32_t[]){q->m * q->n, q->n, 1}, 3);
}

static int qmm_direct(mla_backend *be, const mla_qmm *q)
{
	mla_qmm_args args = {
		.m = q->m,
		.n = q->n,
		.k = q->k,
		.store = q->store,
		.bits = q->bits,
		.group = q->group,
		.x_row = q->k,
		.y_row = q->n,
		.words = q->k / 32 * q->bits,
		.groups = q->k / q->group,
		.inner = q->w_batch,
		.x_batch = q->m * q->k,
		.w_batch = q->n * (q->k / 32 * q->bits),
		.s_batch = q->n * (q->k / q->group),
		.y_batch = q->m * q->n,
	};
	mla_launch l = {
		.kernel = "qmm_dot",
		.buffer = {q->x, q->words, q->scales, q->biases, q->y},
		.n_buffers = 5,
		.args = &args,
		.args_size = sizeof args,
		.threads = true,
		.grid = {q->n, q->m, q->batch},
		.group = 32,
		.block = {32, q->m},
	};

	return mla_backend_launch(be, &l);
}

/* Many rows: unpack the weights into the panels of the plain multiplication, once for each W. */
static int qmm_panels(mla_backend *be, const mla_qmm *q, uint32_t rows, uint32_t last)
{
	uint32_t width = 2 * mla_backend_fvw(be), panels = (q->n + width - 1) / width;
	uint64_t one = (uint64_t)panels * width * q->k;
	mla_dequant_args unpack = {
		.n = q->n,
		.k = q->k,
		.width = width,
		.bits = q->bits,
		.group = q->group,
		.transposed = q->transposed,
		.words = last / 32 * q->bits,
		.groups = last / q->group,
		.w_batch = rows * (last / 32 * q->bits),
		.s_batch = rows * (last / q->group),
		.panel_batch = (uint32_t)one,
	};
	mla_gemm_args args = {
		.m = q->m,
		.n = q->n,
		.k = q->k,
		.store = q->store,
		.a_row = q->k,
		.a_k = 1,
		.packed = 1,
		.strip = 1,
		.b_k = width,
		.b_tile = width * q->k,
		.c_row = q->n,
		.c_col = 1,
		.inner = q->w_batch,
		.b_share = 1,
		.a_outer = q->w_batch * q->m * q->k,
		.a_inner = q->m * q->k,
		.b_inner = (uint32_t)one,
		.c_outer = q->w_batch * q->m * q->n,
		.c_inner = q->m * q->n,
		.alpha = 1.0f,
	};
	mla_buffer *scratch;
	mla_launch l = {
		.kernel = "dequant_panels",
		.buffer = {q->words, q->scales, q->biases},
		.n_buffers = 4,
		.args = &unpack,
		.args_size = sizeof unpack,
		.threads = true,
		.grid = {panels, (q->k + 7) / 8, q->w_batch},
		.group = 32,
		.block = {4, 64},
	};
	int error;

	if (one * q->w_batch > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "unpacked weights are past 32-bit indexing");
	if ((error = mla_backend_scratch(&scratch, be, SCRATCH_PANELS, one * q->w_batch * 4)) < 0)
		return error;
	l.buffer[3] = scratch;
	if ((error = mla_backend_launch(be, &l)) < 0)
		return error;
	l = (mla_launch){
		.kernel = "gemm",
		.buffer = {q->x, scratch, q->y},
		.n_buffers = 3,
		.args = &args,
		.args_size = sizeof args,
		.threads = true,
		.grid = {panels, (q->m + mla_backend_tile_m(be) - 1) / mla_backend_tile_m(be),
	                 q->batch},
		.group = 32,
		.block = {8, 16},
	};
	return mla_backend_launch(be, &l);
}

int mla_qmm_run(mla_backend *be, const mla_qmm *q)
{
	uint32_t rows = q->transposed ? q->n : q->k, last = q->transposed ? q->k : q->n;
	int error;

	if (q->batch == 0 || q->m == 0 || q->n == 0)
		return 0;
	if (q->w_batch == 0 || q->batch % q->w_batch)
		return mla_error(MLA_ECONFIG, "%u batches share %u weights", q->batch, q->w_batch);
	if ((error = qmm_check(q, rows, last)) < 0)
		return error;
	if (q->transposed && q->m <= 16)
		return qmm_direct(be, q);
	return qmm_panels(be, q, rows, last);
}

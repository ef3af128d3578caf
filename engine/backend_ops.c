/* Shapes to launches for the row, index and pooling kernels; see backend_elementwise.c for more. */
#include "engine/backend_ops.h"

#include <math.h>

#include "engine/backend_impl.h"
#include "engine/backend_view.h"

/* Threads of a threadgroup that shares a row, and memory for its reductions at any group size. */
enum { ROW_GROUP = 128, RED_BYTES = 1024 / MLA_KERNEL_SIMD * 4, SCRATCH_TURNS = 7 };

int mla_view_check(const char *what, const mla_buffer *buf, uint64_t offset, const uint32_t *n,
                   const uint32_t *step, int dims)
{
	uint64_t last = 0;

	for (int i = 0; i < dims; i++) {
		if (n[i] == 0)
			return 0;
		if ((last += (uint64_t)(n[i] - 1) * step[i]) > UINT32_MAX)
			return mla_error(MLA_ELIMIT, "%s is past 32-bit indexing", what);
	}
	if (!buf)
		return mla_error(MLA_ECONFIG, "%s is missing", what);
	if (offset > UINT32_MAX || (offset + last + 1) * 4 > mla_buffer_size(buf))
		return mla_error(MLA_ECONFIG, "%s reaches past its buffer", what);
	return 0;
}

static int rows_check(const char *what, const mla_rows *r, uint32_t rows, uint32_t n)
{
	return mla_view_check(what, r->buf, r->offset, (uint32_t[]){rows, n},
	                      (uint32_t[]){r->row, 1}, 2);
}

static int mask_check(const mla_mask *m, uint32_t batch, uint32_t heads, uint32_t queries,
                      uint32_t n)
{
	if (m->kind != MLA_MASK_ADDITIVE && m->kind != MLA_MASK_BOOL)
		return 0;
	return mla_view_check("mask", m->buf, m->offset, (uint32_t[]){batch, heads, queries, n},
	                      m->step, 4);
}

int mla_softmax_run(mla_backend *be, const mla_softmax *s)
{
	uint64_t rows = (uint64_t)s->batch * s->heads * s->queries;
	mla_softmax_args args = {
		.n = s->n,
		.store = s->store,
		.x_row = s->x.row,
		.y_row = s->y.row,
		.mask = s->mask.kind,
		.heads = s->heads,
		.queries = s->queries,
		.offset = s->mask.visible,
		.mask_batch = s->mask.step[0],
		.mask_head = s->mask.step[1],
		.mask_query = s->mask.step[2],
		.mask_pos = s->mask.step[3],
		.scale = s->scale,
	};
	mla_launch l = {
		.kernel = "softmax_rows",
		.buffer = {s->x.buf, s->mask.buf ? s->mask.buf : s->x.buf, s->y.buf},
		.offset = {s->x.offset * 4, s->mask.buf ? s->mask.offset * 4 : 0, s->y.offset * 4},
		.n_buffers = 3,
		.args = &args,
		.args_size = sizeof args,
		.grid = {(uint32_t)rows, 1, 1},
		.group = ROW_GROUP,
		.group_bytes = RED_BYTES,
	};
	int error;

	if (rows == 0 || s->n == 0)
		return 0;
	if (rows > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "softmax: too many rows");
	if ((error = rows_check("x", &s->x, (uint32_t)rows, s->n)) < 0 ||
	    (error = rows_check("y", &s->y, (uint32_t)rows, s->n)) < 0 ||
	    (error = mask_check(&s->mask, s->batch, s->heads, s->queries, s->n)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

static int vector_check(const char *what, mla_buffer *v, uint32_t n)
{
	return v ? mla_view_check(what, v, 0, &n, (uint32_t[]){1}, 1) : 0;
}

static int norm(mla_backend *be, mla_launch *l, const mla_rows *y, const mla_rows *x,
                mla_buffer *weight, mla_buffer *bias, uint32_t rows, const mla_norm_args *args)
{
	int error;

	if (rows == 0 || args->n == 0)
		return 0;
	if ((error = rows_check("x", x, rows, args->n)) < 0 ||
	    (error = rows_check("y", y, rows, args->n)) < 0 ||
	    (error = vector_check("weight", weight, args->n)) < 0 ||
	    (error = vector_check("bias", bias, args->n)) < 0)
		return error;
	l->args = args;
	l->args_size = sizeof *args;
	l->grid[0] = rows;
	l->grid[1] = l->grid[2] = 1;
	l->group = ROW_GROUP;
	l->group_bytes = RED_BYTES;
	return mla_backend_launch(be, l);
}

int mla_rms_norm_run(mla_backend *be, mla_rows y, mla_rows x, mla_buffer *weight, uint32_t rows,
                     uint32_t n, float eps, uint32_t store)
{
	mla_norm_args args = {n, store, x.row, y.row, weight != NULL, 0, eps};
	mla_launch l = {
		.kernel = "rms_norm",
		.buffer = {x.buf, weight ? weight : x.buf, y.buf},
		.offset = {x.offset * 4, 0, y.offset * 4},
		.n_buffers = 3,
	};

	return norm(be, &l, &y, &x, weight, NULL, rows, &args);
}

int mla_layer_norm_run(mla_backend *be, mla_rows y, mla_rows x, mla_buffer *weight,
                       mla_buffer *bias, uint32_t rows, uint32_t n, float eps, uint32_t store)
{
	mla_norm_args args = {n, store, x.row, y.row, weight != NULL, bias != NULL, eps};
	mla_launch l = {
		.kernel = "layer_norm",
		.buffer = {x.buf, weight ? weight : x.buf, bias ? bias : x.buf, y.buf},
		.offset = {x.offset * 4, 0, 0, y.offset * 4},
		.n_buffers = 4,
	};

	return norm(be, &l, &y, &x, weight, bias, rows, &args);
}

/* Frequencies in turns for one position, each as a float and what the float leaves over. */
static int rope_turns(mla_buffer **out, mla_backend *be, const mla_rope *r)
{
	const double two_pi = 6.283185307179586476925286766559;
	uint32_t half = r->dims / 2;
	float *turns;
	int error;

	if ((error = mla_backend_scratch(out, be, SCRATCH_TURNS, (uint64_t)half * 8)) < 0 ||
	    (error = mla_backend_sync(be)) < 0)
		return error;
	turns = mla_buffer_data(*out);
	for (uint32_t i = 0; i < half; i++) {
		if (r->speed) {
			turns[i] = (float)r->speed[i];
			continue;
		}
		double f = r->scale * pow(r->base, -2.0 * i / r->dims) / two_pi;

		turns[i] = (float)f;
		turns[half + i] = (float)(f - (double)turns[i]);
	}
	return 0;
}

int mla_rope_run(mla_backend *be, const mla_rope *r)
{
	mla_rope_args args = {
		r->rows,  r->queries, r->dims,   r->width,         r->interleaved,  r->store,
		r->x.row, r->y.row,   r->offset, r->speed != NULL, (float)r->scale,
	};
	mla_launch l = {
		.kernel = "rope",
		.buffer = {r->x.buf, NULL, r->y.buf},
		.offset = {r->x.offset * 4, 0, r->y.offset * 4},
		.n_buffers = 3,
		.args = &args,
		.args_size = sizeof args,
		.threads = true,
		.grid = {r->rows, 1, 1},
		.group = 32,
		.block = {8, 1},
	};
	int error;

	if (r->dims % 2 || r->dims > r->width)
		return mla_error(MLA_ECONFIG, "rope: %u dimensions of %u", r->dims, r->width);
	if (r->rows == 0 || r->width == 0)
		return 0;
	if (r->queries == 0 || r->offset < -(1 << 24) || (int64_t)r->offset + r->queries > 1 << 24)
		return mla_error(MLA_ECONFIG, "rope: position past 2^24");
	if ((error = rows_check("x", &r->x, r->rows, r->width)) < 0 ||
	    (error = rows_check("y", &r->y, r->rows, r->width)) < 0 ||
	    (error = rope_turns(&l.buffer[1], be, r)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

int mla_topk_run(mla_backend *be, mla_buffer *index, mla_rows x, uint32_t rows, uint32_t n,
                 uint32_t k)
{
	mla_topk_args args = {n, k, x.row};
	mla_launch l = {
		.kernel = "top_k",
		.buffer = {x.buf, index},
		.offset = {x.offset * 4, 0},
		.n_buffers = 2,
		.args = &args,
		.args_size = sizeof args,
		.grid = {rows, 1, 1},
		.group = ROW_GROUP,
		.group_bytes = 2 * 1024 * 4 + RED_BYTES,
	};
	int error;

	if (k > n || n >= 1u << 24)
		return mla_error(MLA_ECONFIG, "top-k: %u of %u", k, n);
	if (rows == 0 || k == 0)
		return 0;
	if ((error = rows_check("x", &x, rows, n)) < 0 ||
	    (error = mla_view_check("index", index, 0, (uint32_t[]){rows, k}, (uint32_t[]){k, 1},
	                            2)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

static int pool_check(const mla_pool_windows *p, uint32_t rows)
{
	uint32_t n[2] = {rows, p->dims};
	int error;

	if ((error = rows_check("x", &p->x, rows, p->dims)) < 0 ||
	    (error = rows_check("y", &p->y, p->count, p->dims)) < 0 || p->mode != MLA_POOL_GATED)
		return error;
	if ((error = mla_view_check("gate", p->gate.buf, p->gate.offset, n, p->gate.step, 2)) < 0)
		return error;
	n[0] = p->window;
	return mla_view_check("pos", p->pos.buf, p->pos.offset, n, p->pos.step, 2);
}

int mla_pool_windows_run(mla_backend *be, const mla_pool_windows *p)
{
	bool gated = p->mode == MLA_POOL_GATED;
	uint64_t end = ((uint64_t)p->first + p->count) * p->window;
	mla_pool_args args = {
		.mode = p->mode,
		.store = p->store,
		.first = p->first,
		.count = p->count,
		.window = p->window,
		.total = p->total,
		.dims = p->dims,
		.x_row = p->x.row,
		.gate_row = p->gate.step[0],
		.gate_col = p->gate.step[1],
		.pos_row = p->pos.step[0],
		.pos_col = p->pos.step[1],
		.y_row = p->y.row,
	};
	mla_launch l = {
		.kernel = "pool_windows",
		.buffer = {p->x.buf, gated ? p->gate.buf : p->x.buf, gated ? p->pos.buf : p->x.buf,
	                   p->y.buf},
		.offset = {p->x.offset * 4, gated ? p->gate.offset * 4 : 0,
	                   gated ? p->pos.offset * 4 : 0, p->y.offset * 4},
		.n_buffers = 4,
		.args = &args,
		.args_size = sizeof args,
		.threads = true,
		.grid = {(p->dims + 15) / 16, p->count, 1},
		.group = 32,
		.block = {16, 4},
	};
	int error;

	if (p->window == 0)
		return mla_error(MLA_ECONFIG, "pooling windows of no rows");
	if (p->count == 0 || p->dims == 0)
		return 0;
	if (end >= (uint64_t)p->total + p->window)
		return mla_error(MLA_ECONFIG, "pooling past the last window");
	if ((error = pool_check(p, end < p->total ? (uint32_t)end : p->total)) < 0)
		return error;
	return mla_backend_launch(be, &l);
}

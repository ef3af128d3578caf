/* Chooses the kernel for a matrix multiplication and packs B where its columns are not adjacent. */
#include "engine/backend_gemm.h"

#include "engine/backend_impl.h"
#include "engine/kernels/args.h"

/*
 * Below this many rows of A packing B costs more than it saves: it touches B once more, which the
 * register tile then reads m / tile_m times. Part of the result where it selects the dot kernel.
 */
enum { DIRECT_ROWS = 16, DOT_ROWS = 16, SCRATCH_PANELS = 0 };

/* The last element an operand of rows x cols touches must lie inside its buffer. */
static int check(const char *name, const mla_operand *o, uint32_t rows, uint32_t cols,
                 uint32_t outer, uint32_t inner)
{
	uint64_t last = (uint64_t)(rows - 1) * o->row, step[3];

	step[0] = (uint64_t)(cols - 1) * o->col;
	step[1] = (uint64_t)(outer - 1) * o->outer;
	step[2] = (uint64_t)(inner - 1) * o->inner;
	for (int i = 0; i < 3; i++)
		if (step[i] > UINT32_MAX || (last += step[i]) > UINT32_MAX)
			return mla_error(MLA_ELIMIT, "matrix %s is past 32-bit indexing", name);
	if (o->offset > UINT32_MAX || (o->offset + last + 1) * 4 > mla_buffer_size(o->buf))
		return mla_error(MLA_ECONFIG, "matrix %s reaches past its buffer", name);
	return 0;
}

static int check_all(const mla_gemm *g, uint32_t outer, uint32_t inner, uint32_t share)
{
	int error;

	if ((error = check("C", &g->c, g->m, g->n, outer, inner)) < 0 || g->k == 0)
		return error;
	if ((error = check("A", &g->a, g->m, g->k, outer, inner)) < 0)
		return error;
	return check("B", &g->b, g->k, g->n, outer, (inner - 1) / share + 1);
}

static mla_gemm_args arguments(const mla_gemm *g, uint32_t inner, uint32_t share)
{
	return (mla_gemm_args){
		.m = g->m,
		.n = g->n,
		.k = g->k,
		.store = g->store,
		.accumulate = g->accumulate,
		.a_row = g->a.row,
		.a_k = g->a.col,
		.b_k = g->b.row,
		.c_row = g->c.row,
		.c_col = g->c.col,
		.inner = inner,
		.b_share = share,
		.a_outer = g->a.outer,
		.a_inner = g->a.inner,
		.b_outer = g->b.outer,
		.b_inner = g->b.inner,
		.c_outer = g->c.outer,
		.c_inner = g->c.inner,
		.alpha = g->alpha,
	};
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return (uint32_t)(((uint64_t)a + b - 1) / b);
}

/* tile: tm rows and `width` columns; a thread makes a strip of them. */
static int launch(mla_backend *be, const char *kernel, const mla_gemm *g, mla_gemm_args *args,
                  mla_buffer *b, uint64_t b_offset, uint32_t tm, uint32_t width, uint32_t z)
{
	uint32_t tiles = ceil_div(g->n, width);
	mla_launch l = {
		.kernel = kernel,
		.buffer = {g->a.buf, b, g->c.buf},
		.offset = {g->a.offset * 4, b_offset * 4, g->c.offset * 4},
		.n_buffers = 3,
		.args = args,
		.args_size = sizeof *args,
		.threads = true,
		.grid = {tiles, ceil_div(g->m, tm), z},
		.group = 32,
		.block = {1, 96 / tm},
	};

	/*
	 * On a CPU a strip is as long as B allows: panels arrive in one stream that is prefetched,
	 * but the rows of A are many short ones, so each tile's should be fetched for many panels
	 * (strips of 2 ran at 0.6 of the speed). A GPU wants many threads. With few rows B is read
	 * once: spread its columns over the workers. The dot kernels have no strips.
	 */
	args->strip = mla_backend_serial(be) && tm >= 4 && l.grid[1] > 4 ? 32 : 1;
	l.grid[0] = ceil_div(tiles, args->strip);
	if (l.grid[1] <= 4)
		l.block[0] = l.grid[0] * l.grid[1] * z > 64 ? 4 : 1;
	return mla_backend_launch(be, &l);
}

static int run_packed(mla_backend *be, const mla_gemm *g, mla_gemm_args args, uint32_t outer)
{
	uint32_t width = 2 * mla_backend_fvw(be), panels = ceil_div(g->n, width);
	uint32_t z_b = outer * ((args.inner - 1) / args.b_share + 1);
	uint64_t batch = (uint64_t)panels * width * g->k;
	mla_buffer *scratch;
	mla_pack_args pack = {
		.n = g->n,
		.k = g->k,
		.width = width,
		.b_k = g->b.row,
		.b_col = g->b.col,
		.inner = (args.inner - 1) / args.b_share + 1,
		.b_outer = g->b.outer,
		.b_inner = g->b.inner,
		.panel_batch = (uint32_t)batch,
	};
	mla_launch l = {
		.kernel = "pack_panels",
		.args = &pack,
		.args_size = sizeof pack,
		.n_buffers = 2,
		.threads = true,
		.grid = {panels, ceil_div(g->k, 8), z_b},
		.group = 32,
		.block = {4, 64},
	};
	int error;

	if (batch > UINT32_MAX / (z_b ? z_b : 1))
		return mla_error(MLA_ELIMIT, "packed matrix B is past 32-bit indexing");
	if ((error = mla_backend_scratch(&scratch, be, SCRATCH_PANELS, batch * z_b * 4)) < 0)
		return error;
	l.buffer[0] = g->b.buf;
	l.buffer[1] = scratch;
	l.offset[0] = g->b.offset * 4;
	if ((error = mla_backend_launch(be, &l)) < 0)
		return error;
	args.packed = 1;
	args.b_tile = width * g->k;
	args.b_k = width;
	args.b_inner = (uint32_t)batch;
	args.b_outer = (uint32_t)batch * pack.inner;
	return launch(be, "gemm", g, &args, scratch, 0, mla_backend_tile_m(be), width,
	              outer * args.inner);
}

int mla_gemm_run(mla_backend *be, const mla_gemm *g)
{
	uint32_t outer = g->outer ? g->outer : 1, inner = g->inner ? g->inner : 1;
	uint32_t share = g->b_share ? g->b_share : 1, fvw = mla_backend_fvw(be);
	mla_gemm_args args = arguments(g, inner, share);
	int error;

	if (g->m == 0 || g->n == 0)
		return 0;
	if ((uint64_t)outer * inner > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "too many matrices in one call");
	if ((error = check_all(g, outer, inner, share)) < 0)
		return error;
	if (g->m <= DOT_ROWS && g->b.row == 1 && g->a.col == 1 && g->k > 1) {
		args.b_tile = g->b.col;
		return g->m == 1 ? launch(be, "gemm_dot_1x4", g, &args, g->b.buf, g->b.offset, 1, 4,
		                          outer * inner)
		                 : launch(be, "gemm_dot_2x2", g, &args, g->b.buf, g->b.offset, 2, 2,
		                          outer * inner);
	}
	if (g->m > DIRECT_ROWS || g->b.col != 1)
		return run_packed(be, g, args, outer);
	args.b_tile = (g->m <= 2 ? 4 : 2) * fvw;
	return launch(be,
	              g->m == 1   ? "gemm_1x4"
	              : g->m == 2 ? "gemm_2x4"
	                          : "gemm_4x2",
	              g, &args, g->b.buf, g->b.offset,
	              g->m == 1   ? 1
	              : g->m == 2 ? 2
	                          : 4,
	              args.b_tile, outer * inner);
}

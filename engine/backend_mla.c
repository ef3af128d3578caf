/*
 * Drives the attention kernels. Splits and chunks depend on the shapes only, so every device adds
 * in the same order. The materialised form expands a few heads at a time: 60 heads at 32768
 * positions would not fit in 4 GiB at once, and a few stay in the last-level cache.
 */
#include "engine/backend_mla.h"

#include "engine/backend_gemm.h"
#include "engine/backend_impl.h"
#include "engine/backend_view.h"

enum {
	CHUNK = 128, /* positions whose latent and scores fit a second-level cache */
	SPLIT = 512, /* positions of one threadgroup, more when there would be over SPLITS */
	SPLITS = 64,
	GROUP = 64,
	PASS_BYTES = 16 << 20, /* expanded keys and values of one pass */
};
enum { SCRATCH_Q = 1, SCRATCH_PART, SCRATCH_STAT, SCRATCH_SCORES, SCRATCH_KEYS, SCRATCH_CONTEXT };

static uint32_t round_up(uint32_t a, uint32_t to)
{
	return (a + to - 1) / to * to;
}

static int check_sizes(const mla_tail *t)
{
	const mla_geometry *g = &t->geometry;
	uint64_t rows = (uint64_t)t->batch * t->heads;
	int error;

	if ((error = mla_geometry_check(g)) < 0)
		return error;
	if (t->total == 0)
		return mla_error(MLA_ECONFIG, "attention over no positions");
	if ((rows *= t->queries) > 1u << 24 || t->heads > 1u << 16 || t->total > 1u << 24 ||
	    rows * (g->rank + (uint64_t)g->rope + g->nope + g->value) > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "attention of %u x %u x %u queries over %u positions",
		                 t->batch, t->heads, t->queries, t->total);
	return 0;
}

static int check(const mla_tail *t)
{
	const mla_geometry *g = &t->geometry;
	uint32_t dims[4] = {t->batch, t->heads, t->queries, g->nope};
	uint32_t step[4] = {t->heads * t->queries * g->nope, t->queries * g->nope, g->nope, 1};
	int error = check_sizes(t);

	if (error < 0)
		return error;
	if ((error = mla_view_check("q_nope", t->q_nope, 0, dims, step, 4)) < 0 ||
	    (error = mla_view_check("latent", t->latent, t->latent_offset,
	                            (uint32_t[]){t->batch, t->total, g->rank},
	                            (uint32_t[]){t->latent_batch, t->latent_row, 1}, 3)) < 0 ||
	    (error = mla_view_check("w_k", t->w_k.buf, t->w_k.offset,
	                            (uint32_t[]){t->heads, g->nope, g->rank},
	                            (uint32_t[]){t->w_k.head, t->w_k.row, t->w_k.col}, 3)) < 0 ||
	    (error = mla_view_check("w_v", t->w_v.buf, t->w_v.offset,
	                            (uint32_t[]){t->heads, g->rank, g->value},
	                            (uint32_t[]){t->w_v.head, t->w_v.row, t->w_v.col}, 3)) < 0)
		return error;
	if ((t->mask.kind == MLA_MASK_ADDITIVE || t->mask.kind == MLA_MASK_BOOL) &&
	    (error = mla_view_check("mask", t->mask.buf, t->mask.offset,
	                            (uint32_t[]){t->batch, t->heads, t->queries, t->total},
	                            t->mask.step, 4)) < 0)
		return error;
	if (g->rope) {
		dims[3] = g->rope;
		step[0] = t->heads * t->queries * g->rope;
		step[1] = t->queries * g->rope;
		step[2] = g->rope;
		if ((error = mla_view_check("q_pe", t->q_pe, 0, dims, step, 4)) < 0 ||
		    (error = mla_view_check("k_pe", t->k_pe, t->k_pe_offset,
		                            (uint32_t[]){t->batch, t->total, g->rope},
		                            (uint32_t[]){t->k_pe_batch, t->k_pe_row, 1}, 3)) < 0)
			return error;
	}
	dims[3] = g->value;
	step[0] = t->heads * t->queries * g->value;
	step[1] = t->queries * g->value;
	step[2] = g->value;
	return mla_view_check("out", t->out, 0, dims, step, 4);
}

/* One attention: q columns, keys, values, and where the result goes. */
typedef struct {
	mla_buffer *q, *k, *v, *out;
	uint64_t k_offset, v_offset, out_offset;
	uint32_t z, kv_heads, first_head, out_batch;
	uint64_t mask_offset;
	mla_attend_args args;
} attention;

/* scratch for z * n_splits of `each` elements */
static int split_scratch(mla_buffer **out, mla_backend *be, unsigned slot, const attention *a,
                         uint64_t each)
{
	uint64_t n = (uint64_t)a->z * a->args.n_splits * each;

	if (n > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "partial results are past 32-bit indexing");
	return mla_backend_scratch(out, be, slot, n * 4);
}

/* Cuts p->total positions into splits; rows: padded to a vector. */
static void cut(mla_attend_args *p, uint32_t rows)
{
	p->split = round_up(p->total / SPLITS > SPLIT ? p->total / SPLITS : SPLIT, CHUNK);
	p->n_splits = (p->total + p->split - 1) / p->split;
	p->chunk = CHUNK;
	p->s_batch = CHUNK * (rows < MLA_ROW_BLOCK ? rows : MLA_ROW_BLOCK);
}

static int attend(mla_backend *be, const mla_tail *t, attention *a, uint32_t store)
{
	mla_attend_args *p = &a->args;
	uint32_t blocks = (p->rows + MLA_ROW_BLOCK - 1) / MLA_ROW_BLOCK;
	uint32_t rows = round_up(p->rows, mla_backend_fvw(be));
	bool masked = t->mask.kind == MLA_MASK_ADDITIVE || t->mask.kind == MLA_MASK_BOOL;
	bool rope = p->pe_dim != 0;
	mla_buffer *part, *stat, *scores;
	mla_merge_args merge;
	mla_launch l;
	int error;

	p->total = t->total;
	cut(p, rows);
	p->kv_heads = a->kv_heads;
	p->mask = t->mask.kind;
	p->queries = t->queries;
	p->offset = t->mask.visible;
	p->mask_batch = t->mask.step[0];
	p->mask_head = t->mask.step[1];
	p->mask_query = t->mask.step[2];
	p->mask_pos = t->mask.step[3];
	p->scale = t->scale;
	if ((error = split_scratch(&part, be, SCRATCH_PART, a, (uint64_t)p->rows * p->v_dim)) < 0 ||
	    (error = split_scratch(&stat, be, SCRATCH_STAT, a, (uint64_t)p->rows * 2)) < 0 ||
	    (error = split_scratch(&scores, be, SCRATCH_SCORES, a, (uint64_t)blocks * p->s_batch)) <
	            0)
		return error;
	l = (mla_launch){
		.kernel = "attend_split",
		.buffer = {a->q, a->k, rope ? t->k_pe : a->k, a->v, masked ? t->mask.buf : a->q,
	                   part, stat, scores},
		.offset = {0, a->k_offset * 4, rope ? t->k_pe_offset * 4 : 0, a->v_offset * 4,
	                   masked ? (t->mask.offset + a->mask_offset) * 4 : 0},
		.n_buffers = 8,
		.args = p,
		.args_size = sizeof *p,
		.grid = {p->n_splits, blocks, a->z},
		.group = GROUP,
		.group_bytes = 3 * MLA_ROW_BLOCK * 4,
	};
	if ((error = mla_backend_launch(be, &l)) < 0)
		return error;
	merge = (mla_merge_args){p->rows, p->n_splits, p->v_dim, store, p->v_dim, a->out_batch};
	l = (mla_launch){
		.kernel = "attend_merge",
		.buffer = {part, stat, a->out},
		.offset = {0, 0, a->out_offset * 4},
		.n_buffers = 3,
		.args = &merge,
		.args_size = sizeof merge,
		.threads = true,
		.grid = {(p->v_dim + 15) / 16, p->rows, a->z},
		.group = 32,
		.block = {64, 1},
	};
	return mla_backend_launch(be, &l);
}

/* Columns of q from z blocks of dense rows. */
static int columns(mla_backend *be, mla_buffer *q, mla_buffer *from, uint64_t from_offset,
                   const mla_columns_args *args, uint32_t z)
{
	uint32_t fvw = mla_backend_fvw(be);
	mla_launch l = {
		.kernel = "query_columns",
		.buffer = {from, q},
		.offset = {from_offset * 4, 0},
		.n_buffers = 2,
		.args = args,
		.args_size = sizeof *args,
		.threads = true,
		.grid = {(args->k + 15) / 16, (args->rows + fvw - 1) / fvw, z},
		.group = 32,
		.block = {64, 4},
	};

	return args->k ? mla_backend_launch(be, &l) : 0;
}

/* q' = q_nope W_k, stored by `store` as a runtime would, then both parts as columns. */
static int absorbed_query(mla_backend *be, mla_buffer *q, mla_buffer *folded, const mla_tail *t,
                          uint32_t q_batch)
{
	const mla_geometry *g = &t->geometry;
	uint32_t dims = g->rank + g->rope, rows = t->heads * t->queries;
	uint32_t fvw = mla_backend_fvw(be);
	mla_gemm fold = {
		.m = t->queries,
		.n = g->rank,
		.k = g->nope,
		.outer = t->batch,
		.inner = t->heads,
		.a = {t->q_nope, 0, g->nope, 1, rows * g->nope, t->queries * g->nope},
		.b = {t->w_k.buf, t->w_k.offset, t->w_k.row, t->w_k.col, 0, t->w_k.head},
		.c = {folded, 0, g->rank, 1, rows * g->rank, t->queries * g->rank},
		.alpha = 1.0f,
		.store = t->store,
	};
	mla_columns_args part = {rows, g->rank, 0, g->rank, rows * g->rank, dims * fvw, q_batch};
	int error;

	if ((error = mla_gemm_run(be, &fold)) < 0 ||
	    (error = columns(be, q, folded, 0, &part, t->batch)) < 0)
		return error;
	part = (mla_columns_args){rows,           g->rope,    g->rank, g->rope,
	                          rows * g->rope, dims * fvw, q_batch};
	return columns(be, q, t->q_pe, 0, &part, t->batch);
}

int mla_tail_absorbed(mla_backend *be, const mla_tail *t)
{
	const mla_geometry *g = &t->geometry;
	uint32_t rows = t->heads * t->queries, dims = g->rank + g->rope;
	uint32_t q_batch = round_up(rows, mla_backend_fvw(be)) * dims;
	mla_buffer *q, *context;
	int error;

	if ((error = check(t)) < 0 || t->batch == 0 || rows == 0)
		return error;
	if ((error = mla_backend_scratch(&q, be, SCRATCH_Q, (uint64_t)t->batch * q_batch * 4)) <
	            0 ||
	    (error = mla_backend_scratch(&context, be, SCRATCH_CONTEXT,
	                                 (uint64_t)t->batch * rows * g->rank * 4)) < 0 ||
	    (error = absorbed_query(be, q, context, t, q_batch)) < 0)
		return error;
	attention a = {
		.q = q,
		.k = t->latent,
		.v = t->latent,
		.k_offset = t->latent_offset,
		.v_offset = t->latent_offset,
		.out = context,
		.out_batch = rows * g->rank,
		.z = t->batch,
		.kv_heads = 1,
		.args =
			{
				.rows = rows,
				.k_dim = g->rank,
				.pe_dim = g->rope,
				.v_dim = g->rank,
				.k_row = t->latent_row,
				.pe_row = t->k_pe_row,
				.v_row = t->latent_row,
				.k_batch = t->latent_batch,
				.pe_batch = t->k_pe_batch,
				.v_batch = t->latent_batch,
				.q_batch = q_batch,
				.q_vec = dims * mla_backend_fvw(be),
			},
	};
	if ((error = attend(be, t, &a, t->store)) < 0)
		return error;
	mla_gemm out = {
		.m = t->queries,
		.n = g->value,
		.k = g->rank,
		.outer = t->batch,
		.inner = t->heads,
		.a = {context, 0, g->rank, 1, rows * g->rank, t->queries * g->rank},
		.b = {t->w_v.buf, t->w_v.offset, t->w_v.row, t->w_v.col, 0, t->w_v.head},
		.c = {t->out, 0, g->value, 1, rows * g->value, t->queries * g->value},
		.alpha = 1.0f,
		.store = t->store,
	};
	return mla_gemm_run(be, &out);
}

/* Where expanded keys (or values) are: element (h, t, i) at h head + t row + i. */
typedef struct {
	uint32_t head, row;
} expanded;

/*
 * latent x (r, width) of heads [h0, h0 + n). Weights whose columns go on from head to head are one
 * wide product, [total][heads][width]; others one for each head, [heads][total][width].
 */
static int expand(expanded *out, mla_backend *be, const mla_tail *t, uint32_t b, uint32_t h0,
                  uint32_t n, mla_buffer *to, uint64_t to_offset, const mla_head_weight *w,
                  uint32_t w_row, uint32_t w_col, uint32_t width)
{
	bool wide = w->head == (uint64_t)width * w_col;
	mla_gemm e = {
		.m = t->total,
		.n = wide ? n * width : width,
		.k = t->geometry.rank,
		.inner = wide ? 1 : n,
		.a = {t->latent, t->latent_offset + (uint64_t)b * t->latent_batch, t->latent_row, 1,
	              0, 0},
		.b = {w->buf, w->offset + (uint64_t)h0 * w->head, w_row, w_col, 0, w->head},
		.alpha = 1.0f,
		.store = t->store,
	};

	*out = wide ? (expanded){width, n * width} : (expanded){t->total * width, width};
	e.c = (mla_operand){to, to_offset, out->row, 1, 0, out->head};
	return mla_gemm_run(be, &e);
}

/* One pass: batch b, heads [h0, h0 + n). */
static int materialised_pass(mla_backend *be, const mla_tail *t, uint32_t b, uint32_t h0,
                             uint32_t n, mla_buffer *q, mla_buffer *kv)
{
	const mla_geometry *g = &t->geometry;
	uint32_t dims = g->nope + g->rope, rows = t->queries, q_vec = dims * mla_backend_fvw(be);
	uint32_t q_batch = round_up(rows, mla_backend_fvw(be)) * dims;
	uint64_t first = (uint64_t)b * t->heads + h0, v_at = (uint64_t)n * t->total * g->nope;
	mla_columns_args nope = {rows, g->nope, 0, g->nope, rows * g->nope, q_vec, q_batch};
	mla_columns_args pe = {rows, g->rope, g->nope, g->rope, rows * g->rope, q_vec, q_batch};
	attention a = {
		.q = q,
		.k = kv,
		.v = kv,
		.v_offset = v_at,
		.out = t->out,
		.out_offset = first * rows * g->value,
		.out_batch = rows * g->value,
		.z = n,
		.kv_heads = n,
		.mask_offset = (uint64_t)b * t->mask.step[0] + (uint64_t)h0 * t->mask.step[1],
		.args =
			{
				.rows = rows,
				.k_dim = g->nope,
				.pe_dim = g->rope,
				.v_dim = g->value,
				.pe_row = t->k_pe_row,
				.q_batch = q_batch,
				.q_vec = q_vec,
			},
	};
	mla_tail one = *t; /* the rotary keys of this batch */
	expanded k, v;
	int error;

	one.k_pe_offset += (uint64_t)b * t->k_pe_batch;
	if ((error = expand(&k, be, t, b, h0, n, kv, 0, &t->w_k, t->w_k.col, t->w_k.row, g->nope)) <
	            0 ||
	    (error = expand(&v, be, t, b, h0, n, kv, v_at, &t->w_v, t->w_v.row, t->w_v.col,
	                    g->value)) < 0 ||
	    (error = columns(be, q, t->q_nope, first * rows * g->nope, &nope, n)) < 0 ||
	    (error = columns(be, q, t->q_pe, first * rows * g->rope, &pe, n)) < 0)
		return error;
	a.args.k_row = k.row;
	a.args.k_head = k.head;
	a.args.v_row = v.row;
	a.args.v_head = v.head;
	return attend(be, &one, &a, t->store);
}

int mla_tail_materialised(mla_backend *be, const mla_tail *t)
{
	const mla_geometry *g = &t->geometry;
	uint64_t head = (uint64_t)t->total * (g->nope + (uint64_t)g->value) * 4;
	uint32_t n = head ? (uint32_t)(PASS_BYTES / head) : 1;
	mla_buffer *q, *kv;
	int error;

	n = n < 1 ? 1 : n > t->heads ? t->heads : n;
	if ((error = check(t)) < 0 || t->batch == 0 || t->heads == 0 || t->queries == 0)
		return error;
	if (n * head / 4 > UINT32_MAX)
		return mla_error(MLA_ELIMIT,
		                 "expanded keys of %u positions are past 32-bit indexing",
		                 t->total);
	if ((error = mla_backend_scratch(&q, be, SCRATCH_Q,
	                                 (uint64_t)n * (g->nope + g->rope) *
	                                         round_up(t->queries, 16) * 4)) < 0 ||
	    (error = mla_backend_scratch(&kv, be, SCRATCH_KEYS, n * head)) < 0)
		return error;
	for (uint32_t b = 0; b < t->batch; b++)
		for (uint32_t h = 0; h < t->heads; h += n) {
			uint32_t now = t->heads - h < n ? t->heads - h : n;

			if ((error = materialised_pass(be, t, b, h, now, q, kv)) < 0)
				return error;
		}
	return 0;
}

/* What attend() borrows. */
static uint64_t attend_bytes(const mla_backend *be, const mla_tail *t, uint64_t rows,
                             uint64_t v_dim, uint64_t z)
{
	mla_attend_args p = {.total = t->total};
	uint64_t blocks = (rows + MLA_ROW_BLOCK - 1) / MLA_ROW_BLOCK;

	cut(&p, round_up((uint32_t)rows, mla_backend_fvw(be)));
	return z * p.n_splits * (rows * (v_dim + 2) + blocks * p.s_batch) * 4;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int mla_tail_scratch(uint64_t *out, const mla_backend *be, const mla_tail *t)
{
	const mla_geometry *g = &t->geometry;
	uint64_t b = t->batch, h = t->heads, rows = h * t->queries;
	uint32_t width = 2 * mla_backend_fvw(be), lanes = round_up(t->queries, 16);
	uint64_t keys = t->total * ((uint64_t)g->nope + g->value) * 4, pass;
	int error = check_sizes(t);

	if (error < 0)
		return error;
	pass = most(1, keys ? PASS_BYTES / keys : 1);
	pass = pass > h ? h : pass;
	/* Packed weights; of the buffers that both forms use, the larger ones. */
	*out = b * h * 4 *
	       most(round_up(g->rank, width) * (uint64_t)g->nope,
	            round_up(g->value, width) * (uint64_t)g->rank);
	*out += 4 * most(b * (rows + 16) * (g->rank + (uint64_t)g->rope),
	                 pass * lanes * (g->nope + (uint64_t)g->rope));
	*out += b * rows * g->rank * 4 + pass * keys;
	*out += attend_bytes(be, t, rows, g->rank, b) +
	        attend_bytes(be, t, t->queries, g->value, pass);
	return 0;
}

static int check_rows(const char *what, const mla_attend_rows *r, const mla_attend *s, uint32_t n)
{
	return mla_view_check(what, r->buf, 0, (uint32_t[]){s->batch, s->kv_heads, s->total, n},
	                      (uint32_t[]){r->batch, r->head, r->row, 1}, 4);
}

static int check_attend(const mla_attend *s)
{
	uint64_t rows = (uint64_t)s->batch * s->heads;
	int error;

	if (!s->total || !s->kv_heads || s->heads % s->kv_heads || !s->queries)
		return mla_error(MLA_ECONFIG, "attention of %u heads over %u with %u positions",
		                 s->heads, s->kv_heads, s->total);
	if (s->kv_heads != 1 && s->kv_heads != s->heads && s->mask.step[1])
		return mla_error(MLA_ECONFIG, "a mask for each head of grouped heads");
	if (rows > 1u << 24 || (rows *= s->queries) > 1u << 24 || s->total > 1u << 24 ||
	    rows * ((uint64_t)s->k_dim + s->v_dim) > UINT32_MAX)
		return mla_error(MLA_ELIMIT, "attention of %u x %u x %u queries over %u positions",
		                 s->batch, s->heads, s->queries, s->total);
	if ((error = check_rows("keys", &s->k, s, s->k_dim)) < 0 ||
	    (error = check_rows("values", &s->v, s, s->v_dim)) < 0 ||
	    (error = mla_view_check("queries", s->q, 0, (uint32_t[]){(uint32_t)rows, s->k_dim},
	                            (uint32_t[]){s->k_dim, 1}, 2)) < 0 ||
	    (error = mla_view_check("result", s->out, 0, (uint32_t[]){(uint32_t)rows, s->v_dim},
	                            (uint32_t[]){s->v_dim, 1}, 2)) < 0)
		return error;
	if (s->mask.kind != MLA_MASK_ADDITIVE && s->mask.kind != MLA_MASK_BOOL)
		return 0;
	return mla_view_check("mask", s->mask.buf, s->mask.offset,
	                      (uint32_t[]){s->batch, s->heads, s->queries, s->total}, s->mask.step,
	                      4);
}

int mla_attend_run(mla_backend *be, const mla_attend *s)
{
	mla_tail t = {.queries = s->queries, .total = s->total, .mask = s->mask, .scale = s->scale};
	uint32_t q_vec = s->k_dim * mla_backend_fvw(be), rows, q_batch;
	mla_columns_args part;
	mla_buffer *q;
	attention a;
	int error;

	if ((error = check_attend(s)) < 0 || s->batch == 0 || s->heads == 0 || s->v_dim == 0)
		return error;
	rows = s->heads / s->kv_heads * s->queries;
	q_batch = round_up(rows, mla_backend_fvw(be)) * s->k_dim;
	part = (mla_columns_args){rows, s->k_dim, 0, s->k_dim, rows * s->k_dim, q_vec, q_batch};
	a = (attention){
		.k = s->k.buf,
		.v = s->v.buf,
		.out = s->out,
		.out_batch = rows * s->v_dim,
		.z = s->batch * s->kv_heads,
		.kv_heads = s->kv_heads,
		.args =
			{
				.rows = rows,
				.k_dim = s->k_dim,
				.v_dim = s->v_dim,
				.k_row = s->k.row,
				.v_row = s->v.row,
				.k_batch = s->k.batch,
				.k_head = s->k.head,
				.v_batch = s->v.batch,
				.v_head = s->v.head,
				.q_batch = q_batch,
				.q_vec = q_vec,
			},
	};
	if ((error = mla_backend_scratch(&q, be, SCRATCH_Q, (uint64_t)a.z * q_batch * 4)) < 0 ||
	    (error = columns(be, q, s->q, 0, &part, a.z)) < 0)
		return error;
	a.q = q;
	return attend(be, &t, &a, s->store);
}

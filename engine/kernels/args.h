/*
 * The argument structs of the kernels: one definition for the .metal files and for their C hosts.
 * 32-bit scalars only, so that the layout is the same for every compiler (mslgen refuses more).
 * Sizes and strides count elements; "store" says how a result is rounded before it is stored.
 */
#ifndef MLA_ENGINE_KERNELS_ARGS_H
#define MLA_ENGINE_KERNELS_ARGS_H

enum { MLA_STORE_F32 = 0, MLA_STORE_BF16 = 1, MLA_STORE_F16 = 2 };

/* Batches are numbered z = outer * inner + i; an operand moves by _outer and _inner. */
typedef struct {
	unsigned int m, n, k, store;
	unsigned int accumulate; /* start from what C holds */
	unsigned int strip;      /* tiles of one thread, side by side */
	unsigned int a_row, a_k;
	unsigned int packed;      /* B is in panels as wide as the tile, padded */
	unsigned int b_k, b_tile; /* tile j of B starts at j * b_tile, its columns are adjacent */
	unsigned int c_row, c_col;
	unsigned int inner, b_share; /* b_share batches of A use one of B */
	unsigned int a_outer, a_inner, b_outer, b_inner, c_outer, c_inner;
	float alpha;
} mla_gemm_args;

/* panel[j][k][width] = B[k * b_k + (j * width + c) * b_col], zero where the column is past n. */
typedef struct {
	unsigned int n, k, width;
	unsigned int b_k, b_col;
	unsigned int inner, b_outer, b_inner, panel_batch;
} mla_pack_args;

/*
 * Attention of `rows` queries over `total` positions of one KV head, positions cut into splits. The
 * absorbed form has one KV head and rows = heads * queries; the materialised form has one for each
 * head and rows = queries. z counts batches times KV heads.
 */
enum { MLA_MASK_NONE = 0, MLA_MASK_CAUSAL = 1, MLA_MASK_ADDITIVE = 2, MLA_MASK_BOOL = 3 };
enum { MLA_ROW_BLOCK = 128 }; /* rows one threadgroup attends for */

typedef struct {
	unsigned int rows;
	unsigned int total, split, n_splits, chunk;
	unsigned int k_dim, pe_dim, v_dim;
	unsigned int k_row, pe_row, v_row;
	unsigned int kv_heads; /* z = batch * kv_heads + head */
	unsigned int k_batch, k_head, pe_batch, v_batch, v_head;
	unsigned int q_batch; /* of z */
	unsigned int q_vec;   /* (k_dim + pe_dim) * FVW: a vector of queries in q */
	unsigned int s_batch; /* of a threadgroup's scores, [vector of queries][chunk][FVW] */
	unsigned int mask, queries,
		offset; /* causal: position t is seen by query l when t <= offset + l */
	unsigned int mask_batch, mask_head, mask_query, mask_pos;
	float scale;
} mla_attend_args;

typedef struct {
	unsigned int rows, n_splits, v_dim, store;
	unsigned int out_row, out_batch; /* of z */
} mla_merge_args;

/* Columns first .. of q above = k columns of `rows` rows; a row past the last becomes zero. */
typedef struct {
	unsigned int rows, k, first;
	unsigned int from_row, from_batch, q_vec, q_batch;
} mla_columns_args;

/* Rows of n elements, one threadgroup each. */
typedef struct {
	unsigned int n, store;
	unsigned int x_row, y_row;
	unsigned int mask, heads, queries,
		offset; /* row = (batch * heads + head) * queries + query */
	unsigned int mask_batch, mask_head, mask_query, mask_pos;
	float scale;
} mla_softmax_args;

typedef struct {
	unsigned int n, store;
	unsigned int x_row, y_row;
	unsigned int weight, bias; /* 1: there is one */
	float eps;
} mla_norm_args;

/* Pairs are (i, i + dims / 2), or (2 i, 2 i + 1) when interleaved; columns past dims are copied. */
typedef struct {
	unsigned int rows, queries, dims, width, interleaved, store;
	unsigned int x_row, y_row;
	int offset;           /* position of query 0; row = any * queries + query */
	unsigned int rounded; /* 1: turns[] are radians, and angles are rounded to f32 */
	float scale;          /* of positions, where rounded */
} mla_rope_args;

enum {
	MLA_ADD,
	MLA_SUB,
	MLA_MUL,
	MLA_DIV,
	MLA_MAX,
	MLA_MIN,
	MLA_EQ,
	MLA_NE,
	MLA_LT,
	MLA_LE,
	MLA_GT,
	MLA_GE,
	MLA_AND,
	MLA_OR,
	MLA_BINARY_N
};
enum {
	MLA_COPY,
	MLA_NEG,
	MLA_ABS,
	MLA_SQUARE,
	MLA_SQRT,
	MLA_RSQRT,
	MLA_RECIPROCAL,
	MLA_EXP,
	MLA_SIGMOID,
	MLA_SILU,
	MLA_RELU,
	MLA_TANH,
	MLA_FLOOR,
	MLA_NOT,
	MLA_UNARY_N
};

/* y[i0][i1][i2] dense; an operand that is broadcast along a dimension has stride 0 there. */
typedef struct {
	unsigned int op, store;
	unsigned int n0, n1, n2;
	unsigned int a0, a1, a2, b0, b1, b2, c0, c1, c2;
} mla_elementwise_args;

enum { MLA_REDUCE_SUM, MLA_REDUCE_MEAN, MLA_REDUCE_MAX, MLA_REDUCE_MIN, MLA_REDUCE_N };

/* x[o][a][i] over a -> y[o][i]; a threadgroup for each (i, o). */
typedef struct {
	unsigned int op, store, n;
	unsigned int x_outer, x_axis, x_inner, y_outer, y_inner;
} mla_reduce_args;

/* [o][a][i] with a the indexed axis: n of them in the indices, `size` in x. */
typedef struct {
	unsigned int inner, n, size;
	unsigned int x_outer, x_axis, x_inner;
	unsigned int i_outer, i_axis, i_inner;
	unsigned int y_outer, y_axis, y_inner;
} mla_gather_args;

typedef struct {
	unsigned int n, k;
	unsigned int x_row;
} mla_topk_args;

enum { MLA_POOL_MEAN, MLA_POOL_MAX, MLA_POOL_GATED };

/* Window first + w covers rows (first + w) * window ... of x; rows past `total` do not count. */
typedef struct {
	unsigned int mode, store;
	unsigned int first, count, window, total, dims;
	unsigned int x_row, gate_row, gate_col, pos_row, pos_col, y_row;
} mla_pool_args;

/*
 * Affine quantisation along the last axis, as MLX has it: 32 / bits values in a word, the lowest
 * bits first; value = q * scale + bias with one scale and bias for each `group` values.
 */
typedef struct {
	unsigned int m, n, k, store; /* y[m][n] = x[m][k] w; transposed: w is [n][k], else [k][n] */
	unsigned int bits, group;
	unsigned int x_row, y_row;
	unsigned int words, groups; /* of one row of w */
	unsigned int inner, x_batch, w_batch, s_batch, y_batch;
} mla_qmm_args;

/* w -> panels for the kernel "gemm". */
typedef struct {
	unsigned int n, k, width, bits, group, transposed;
	unsigned int words, groups, w_batch, s_batch, panel_batch;
} mla_dequant_args;

#endif

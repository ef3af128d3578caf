/*
 * The two attention tails of a latent layer, from per-head queries to per-head outputs (MLA.md of
 * the study calls them absorbed and materialised). f32 accumulation; what a runtime would store as
 * a tensor (folded query, expanded keys and values, context, output) is rounded by `store`, scores
 * and weights stay f32, as in a fused attention kernel.
 */
#ifndef MLA_ENGINE_BACKEND_MLA_H
#define MLA_ENGINE_BACKEND_MLA_H

#include "analyzer/geometry.h"
#include "engine/backend_ops.h"

/* A per-head weight: element (h, i, j) is at offset + h head + i row + j col. */
typedef struct {
	mla_buffer *buf;
	uint64_t offset;
	uint32_t head, row, col;
} mla_head_weight;

typedef struct {
	mla_geometry geometry;
	uint32_t batch, heads, queries, total; /* total: cached positions after the update */
	mla_buffer *q_nope, *q_pe;             /* dense [batch][heads][queries][n or rope] */
	mla_buffer *latent;                    /* [batch][total], rows `latent_row` apart */
	uint64_t latent_offset;
	uint32_t latent_row, latent_batch;
	mla_buffer *k_pe; /* the same; not read when rope is 0 */
	uint64_t k_pe_offset;
	uint32_t k_pe_row, k_pe_batch;
	mla_head_weight w_k; /* (n, r) */
	mla_head_weight w_v; /* (r, v) */
	mla_mask mask;
	float scale;
	uint32_t store;
	mla_buffer *out; /* dense [batch][heads][queries][v] */
} mla_tail;

/* Element (b, h, t, i) is at b batch + h head + t row + i; step 0 shares. */
typedef struct {
	mla_buffer *buf;
	uint32_t batch, head, row;
} mla_attend_rows;

/*
 * softmax(scale q k^T + mask) v with heads / kv_heads query heads to each head of keys and values.
 * Where that is neither 1 nor all of them a mask is the same for every head.
 */
typedef struct {
	uint32_t batch, heads, kv_heads, queries, total, k_dim, v_dim;
	mla_buffer *q; /* dense [batch][heads][queries][k_dim] */
	mla_attend_rows k, v;
	mla_mask mask;
	float scale;
	uint32_t store;
	mla_buffer *out; /* dense [batch][heads][queries][v_dim] */
} mla_attend;

int mla_attend_run(mla_backend *be, const mla_attend *s);

/* MLA_ECONFIG for shapes that do not fit their buffers, MLA_ELIMIT for what memory does not hold.
 */
int mla_tail_absorbed(mla_backend *be, const mla_tail *t);
int mla_tail_materialised(mla_backend *be, const mla_tail *t);

/* Memory that both forms together borrow from the backend at most. Looks at the sizes only, so it
 * can be asked before there are inputs. MLA_ELIMIT for sizes that are refused anyway. */
int mla_tail_scratch(uint64_t *out, const mla_backend *be, const mla_tail *t);

#endif

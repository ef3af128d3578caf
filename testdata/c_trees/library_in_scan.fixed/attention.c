/* The decision, with the library in the scan beside it. */
#include "graph.h"

static tensor *attention(context *ctx, const model *m, int il, tensor *x, int n_kv, int expand)
{
	const layer_weights *l = &m->layer[il];
	tensor *q_nope = mul_mat(ctx, l->wq_b, x);
	tensor *kv_cache = view_2d(ctx, m->kv_cache, m->kv_lora_rank, n_kv, m->kv_cache->nb[1], 0);
	tensor *out;

	if (expand) {
		tensor *w = view_2d(ctx, l->wkv_b, l->wkv_b->ne[0], 64, l->wkv_b->nb[1], 0);
		tensor *kv = mul_mat(ctx, w, kv_cache);
		tensor *k = split(ctx, kv, 0), *v = split(ctx, kv, 1);

		out = mul_mat(ctx, cont(ctx, v), soft_max(ctx, mul_mat(ctx, k, q_nope), m->mask));
	} else {
		tensor *q = mul_mat(ctx, l->wk_b, q_nope);
		tensor *kq = soft_max(ctx, mul_mat(ctx, kv_cache, q), m->mask);

		out = mul_mat(ctx, l->wv_b, mul_mat(ctx, cont(ctx, kv_cache), kq));
	}
	return out;
}

/*
 * The largest number of queries for which absorbed attention takes no more multiply-adds
 * than expanding a long cache: r d / (2 r - d), d = nope + v; at least 1.
 */
static inline long long mla_max_absorbed_queries(long long rank, long long nope, long long v)
{
	const long long limit = 2147483647;
	long long d, saved, queries;

	/* An unsigned difference below zero is beyond the limit. */
	if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)
		return 1;
	d = nope + v;
	saved = 2 * rank - d;
	if (saved <= 0)
		return 1;
	queries = rank * d / saved;
	return queries < 1 ? 1 : queries;
}

tensor *build(context *ctx, const model *m, tensor *x, int n_kv, int n_tokens)
{
	const int expand = n_tokens > mla_max_absorbed_queries(m->kv_lora_rank, m->qk_nope_head_dim, m->v_head_dim); // expect: MLA002 select

	for (int il = 0; il < 8; il++)
		x = attention(ctx, m, il, x, n_kv, expand);
	return x;
}

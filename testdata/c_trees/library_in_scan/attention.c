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

tensor *build(context *ctx, const model *m, tensor *x, int n_kv, int n_tokens)
{
	const int expand = n_tokens >= 128; // expect: MLA002 select

	for (int il = 0; il < 8; il++)
		x = attention(ctx, m, il, x, n_kv, expand);
	return x;
}

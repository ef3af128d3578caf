/* A graph of nodes; the sizes are members of a struct that a parameter leads to. */
struct node;
struct sizes {
	unsigned n_lora_kv, n_head_nope, n_rot, n_head_v;
};
struct model {
	struct sizes hp;
	struct node *wk_b, *wv_b, *wkv_b;
};
struct cells {
	int used;
	struct node *latent;
};

struct node *mul_mat(struct node *w, struct node *x);
struct node *sdpa(struct node *q, struct node *k, struct node *v);

/* Two ways to the same output.
 * Kept together with its comment. */
struct node *attention(const struct model *m, const struct cells *kv_cache, struct node *q,
                       int n_tokens, int no_mla)
{
	struct node *kv;

	if (1 == n_tokens && !no_mla) /* expect: MLA001 select */
		return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), kv_cache->latent, kv_cache->latent));
	kv = mul_mat(m->wkv_b, kv_cache->latent);
	return sdpa(q, kv, kv);
}

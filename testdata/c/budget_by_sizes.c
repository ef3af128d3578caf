/* A buffer is sized by the decision; only the sizes themselves say what it is for. */
struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

struct model {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
};

struct tensor *attention(const struct model *m, struct tensor *q, int n_tokens)
{
	struct tensor *kv;

	if (n_tokens < 32) /* expect: MLA002 select */
		return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
	kv = mul_mat(m->wkv_b, m->latent);
	return sdpa(q, kv, kv);
}

long room(int kv_lora_rank, int nope, int vdim, int n_kv, int n_tokens)
{
	if (n_tokens < 64) /* expect: MLA004 mirror */
		return n_kv + 2l * kv_lora_rank;
	return n_kv * (nope + vdim + 1l);
}

int threads(int n_tokens)
{
	return n_tokens < 48 ? 4 : 16; /* expect: kept unrelated */
}

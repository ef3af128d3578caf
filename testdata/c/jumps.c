/* An arm that is reached by a goto. */
struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

struct model {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
};

struct tensor *jumps(const struct model *m, struct tensor *q, int n_tokens)
{
	struct tensor *kv;

	if (n_tokens != 1) /* expect: MLA001 select */
		goto wide;
	return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
wide:
	kv = mul_mat(m->wkv_b, m->latent);
	return sdpa(q, kv, kv);
}

/* Both come to the label: the arms are what they are without it. */
struct tensor *joins(const struct model *m, struct tensor *q, int n_tokens, int *seen)
{
	if (n_tokens == 1) /* expect: kept unrelated */
		goto out;
	*seen = n_tokens;
out:
	return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
}

/* Each arm has an `if` of its own. */
struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

struct model {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
};

struct tensor *two_tests(const struct model *m, struct tensor *q, int n_tokens)
{
	struct tensor *out = 0, *kv;

	if (n_tokens == 1) /* expect: MLA001 select */
		out = mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
	if (n_tokens > 1) { /* expect: MLA001 select */
		kv = mul_mat(m->wkv_b, m->latent);
		out = sdpa(q, kv, kv);
	}
	return out;
}

/* Between 2 and 8 nothing is computed. */
struct tensor *gap(const struct model *m, struct tensor *q, int n_tokens)
{
	struct tensor *out = 0, *kv;

	if (n_tokens > 8) { /* expect: MLA002 select */
		kv = mul_mat(m->wkv_b, m->latent);
		out = sdpa(q, kv, kv);
	}
	if (n_tokens == 1) /* expect: MLA004 select */
		out = mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
	return out;
}

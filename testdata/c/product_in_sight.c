/* The library is in the scan: its product and its links between nodes have bodies. */
struct sizes {
	int kv_lora_rank, qk_nope_head_dim, v_head_dim;
};

typedef struct tensor {
	int op;
	long ne[4];
	struct tensor *src[2];
} tensor;

tensor *new_tensor(int n, const long *ne);
tensor *attend(tensor *q, tensor *k, tensor *v);

tensor *mul_mat(tensor *a, tensor *b)
{
	const long ne[4] = {a->ne[1], b->ne[1], b->ne[2], b->ne[3]};
	tensor *result = new_tensor(4, ne);

	result->op = 7;
	result->src[0] = a;
	result->src[1] = b;
	return result;
}

static tensor *source_of(tensor *t)
{
	return t->op == 9 ? t->src[0] : t;
}

tensor *build(const struct sizes *s, tensor *x, tensor *wq, tensor *wk_b, tensor *wv_b,
              tensor *kv_latent, int n_tokens)
{
	tensor *q_nope = mul_mat(wq, source_of(x));
	tensor *out;

	if (n_tokens == 1) { // expect: MLA001 select
		tensor *q = mul_mat(wk_b, q_nope);

		out = attend(q, kv_latent, kv_latent);
		out = mul_mat(wv_b, out);
	} else {
		tensor *k = mul_mat(wk_b, source_of(kv_latent));
		tensor *v = mul_mat(wv_b, kv_latent);

		out = attend(q_nope, k, v);
	}
	return out;
}

/* The only call hands over a constant: the other arm is looked at by itself. */
struct sizes { int kv_lora_rank, qk_nope_head_dim, v_head_dim; };
float *matmul(const float *w, const float *x);
float *attend(const float *q, const float *k, const float *v);

static float *layer(const struct sizes *s, const float *wk_b, const float *wv_b, float *q_nope,
                    float *kv_latent, int n_tokens, int plain)
{
	if (plain)
		return attend(q_nope, kv_latent, kv_latent);
	if (n_tokens == 1) /* expect: MLA001 select */
		return matmul(wv_b, attend(matmul(wk_b, q_nope), kv_latent, kv_latent));
	return attend(q_nope, matmul(wk_b, kv_latent), matmul(wv_b, kv_latent));
}

float *build(const struct sizes *s, const float *wk_b, const float *wv_b, float *q_nope,
             float *kv_latent, int n_tokens)
{
	if (n_tokens <= 4) /* expect: kept unrelated */
		return layer(s, wk_b, wv_b, q_nope, kv_latent, n_tokens, 1);
	return q_nope;
}

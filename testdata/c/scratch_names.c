/* A scratch field may have the name of a weight: what is stored in it says what it is. */
struct run {
	float *q_absorb, *latent_cache, *out;
	const float *wk_b, *wv_b, *kv_b;
	int kv_lora_rank, qk_nope_head_dim, v_head_dim;
};

float *matmul(const float *w, const float *x, int rows);
float *attend(const float *q, const float *k, const float *v);

void layer(struct run *s, float *q_nope, int n_tokens)
{
	if (n_tokens == 1) { /* expect: MLA001 select */
		s->q_absorb = matmul(s->wk_b, q_nope, s->kv_lora_rank);
		s->out = attend(s->q_absorb, s->latent_cache, s->latent_cache);
		s->out = matmul(s->wv_b, s->out, s->v_head_dim);
	} else {
		float *kv = matmul(s->kv_b, s->latent_cache, s->v_head_dim);

		s->out = attend(q_nope, kv, kv);
	}
}

/* A follow-up belongs to the select of its own function, and to none in an arm that excludes it. */
struct tensor;
struct layer {
	struct tensor *wk_b, *wv_b, *wkv_b;
};
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *flash_attention(struct tensor *q, struct tensor *k, struct tensor *v);

struct tensor *first(const struct layer *l, struct tensor *latent, struct tensor *q, int n_tokens)
{
	struct tensor *kv = latent, *out;

	if (n_tokens <= 8) /* expect: MLA002 select */
		q = mul_mat(l->wk_b, q);
	else
		kv = mul_mat(l->wkv_b, latent);
	out = flash_attention(q, kv, kv);
	if (n_tokens == 1) /* expect: MLA004 followup */
		out = mul_mat(l->wv_b, out);
	return out;
}

struct tensor *second(const struct layer *l, struct tensor *latent, struct tensor *q, int n_tokens)
{
	struct tensor *kv = latent, *out;

	if (n_tokens <= 24) /* expect: MLA002 select */
		q = mul_mat(l->wk_b, q);
	else
		kv = mul_mat(l->wkv_b, latent);
	out = flash_attention(q, kv, kv);
	if (n_tokens <= 24) /* expect: MLA002 followup */
		out = mul_mat(l->wv_b, out);
	return out;
}

/* What folds the query of the second arm is not in sight. */
struct tensor *attend_somehow(const struct layer *l, struct tensor *latent, struct tensor *q);

struct tensor *either(const struct layer *l, struct tensor *latent, struct tensor *q, int n_tokens, int other)
{
	struct tensor *kv = latent, *out;

	if (!other) {
		if (n_tokens <= 6) /* expect: MLA002 select */
			q = mul_mat(l->wk_b, q);
		else
			kv = mul_mat(l->wkv_b, latent);
		return flash_attention(q, kv, kv);
	}
	out = flash_attention(q, latent, latent);
	if (n_tokens <= 3) /* expect: kept unrelated */
		out = mul_mat(l->wv_b, out);
	return out;
}

/* The follow-up is in a function that the select's own calls; off by one. */
static struct tensor *finish(const struct layer *l, struct tensor *out, int n_tokens)
{
	if (n_tokens < 12) /* expect: MLA004 followup */
		out = mul_mat(l->wv_b, out);
	return out;
}

struct tensor *third(const struct layer *l, struct tensor *latent, struct tensor *q, int n_tokens)
{
	struct tensor *kv = latent;

	if (n_tokens <= 12) /* expect: MLA002 select */
		q = mul_mat(l->wk_b, q);
	else
		kv = mul_mat(l->wkv_b, latent);
	return finish(l, flash_attention(q, kv, kv), n_tokens);
}

/* Widened, and the follow-up forgotten. */
struct tensor *fourth(const struct layer *l, struct tensor *latent, struct tensor *q, int n_tokens, int rank, int nope)
{
	struct tensor *kv = latent, *out;

	if (n_tokens <= rank * nope / (2 * rank - nope)) /* expect: kept already-widened */
		q = mul_mat(l->wk_b, q);
	else
		kv = mul_mat(l->wkv_b, latent);
	out = flash_attention(q, kv, kv);
	if (n_tokens == 1) /* expect: MLA004 followup */
		out = mul_mat(l->wv_b, out);
	return out;
}

struct sizes {
	int rank, nope, vdim;
};

void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

#ifdef NO_DRAFT
void draft_step(void);
#else
/* Compiled by default. */
void draft_step(const struct sizes *s, float *q, const float *cache, float *out, int n_tokens)
{
	if (n_tokens == 1) { /* expect: MLA001 select */
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
	} else {
		expand_latent(cache);
		attend_full(q, out);
	}
}
#endif

void target_step(const struct sizes *s, float *q, const float *cache, float *out, int n_tokens)
{
	if (n_tokens >= 64) { /* expect: MLA002 select */
		expand_latent(cache);
		attend_full(q, out);
		return;
	}
	absorb_query(q);
	attend_latent(q);
	project_latent(out);
}

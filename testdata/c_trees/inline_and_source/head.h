#pragma once
// A decision in a header, and one of the source that includes it: the function is defined once.
struct sizes { int rank, nope, vdim; };

void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

/* One layer. */
static inline void head(const sizes &s, float *q, const float *cache, float *out, int n_tokens)
{
	if (n_tokens == 1) { // expect: MLA001 select
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
		return;
	}
	expand_latent(cache);
	attend_full(q, out);
}

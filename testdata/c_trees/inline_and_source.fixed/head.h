#pragma once
// A decision in a header, and one of the source that includes it: the function is defined once.
struct sizes { int rank, nope, vdim; };

void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

/*
 * The largest number of queries for which absorbed attention takes no more multiply-adds
 * than expanding a long cache: r d / (2 r - d), d = nope + v; at least 1.
 */
static inline long long mla_max_absorbed_queries(long long rank, long long nope, long long v)
{
	const long long limit = 2147483647;
	long long d, saved, queries;

	/* An unsigned difference below zero is beyond the limit. */
	if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)
		return 1;
	d = nope + v;
	saved = 2 * rank - d;
	if (saved <= 0)
		return 1;
	queries = rank * d / saved;
	return queries < 1 ? 1 : queries;
}

/* One layer. */
static inline void head(const sizes &s, float *q, const float *cache, float *out, int n_tokens)
{
	if (n_tokens <= mla_max_absorbed_queries(s.rank, s.nope, s.vdim)) { // expect: MLA001 select
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
		return;
	}
	expand_latent(cache);
	attend_full(q, out);
}

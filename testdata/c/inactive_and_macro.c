/* A comparison out of a macro, under a condition that does not hold here. */
#define FEW(n) ((n) <= 6)

struct tensor;
struct tensor *absorb_query(struct tensor *q);
struct tensor *attend_latent(struct tensor *q);
struct tensor *project_latent(struct tensor *context);
struct tensor *expand_latent(int layer);
struct tensor *attend_full(struct tensor *q, struct tensor *kv);

#ifdef WITH_ATTENTION
struct tensor *layer(struct tensor *q, int n_tokens)
{
	if (FEW(n_tokens)) /* expect: MLA002 select */
		return project_latent(attend_latent(absorb_query(q)));
	return attend_full(q, expand_latent(0));
}
#endif

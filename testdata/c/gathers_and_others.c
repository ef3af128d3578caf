/* Tests of a query count that stay as they are. */
struct tensor;
struct tensor *get_rows(struct tensor *x, struct tensor *rows);
struct tensor *attend_latent(struct tensor *q, struct tensor *kv);

struct tensor *sparse(struct tensor *q, struct tensor *latent, struct tensor *top_k, int n_tokens)
{
	if (n_tokens == 1) /* expect: kept sparse-gather */
		latent = get_rows(latent, top_k);
	return attend_latent(q, latent);
}

int logits_wanted(int n_tokens, int all)
{
	return n_tokens == 1 || all; /* expect: kept unrelated */
}

/* Counts of something else, and limits that are no number, are not listed. */
int others(int num_rows, int n_outputs, int token, int n_tokens, int chunk)
{
	return (num_rows > 1) + (n_outputs == 1) + (token >= 9) + (n_tokens > chunk);
}

/* Nothing of a latent in what is called here. */
void log_latent(int few);

static void attend(float *q, const float *cache, float *out, int few)
{
	(void)q;
	(void)cache;
	(void)out;
	log_latent(few);
}

void second(float *q, const float *cache, float *out, int n_tokens)
{
	attend(q, cache, out, n_tokens <= 16); /* expect: kept unrelated */
}

/* The function with the test does not parse: no verdict. */
void stay_latent(int n);
void expand_latent(int n);

void run(int n_tokens)
{
	if (n_tokens <= 4 { /* expect: unanalysed - */
		stay_latent(n_tokens);
	) else [
		expand_latent(n_tokens);
	}
}

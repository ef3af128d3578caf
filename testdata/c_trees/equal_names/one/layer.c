/* Two files of one name, each with a static function of one name: only this one decides. */
void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

static void attend(float *q, const float *cache, float *out, int few)
{
	if (few) {
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
	} else {
		expand_latent(cache);
		attend_full(q, out);
	}
}

void first(float *q, const float *cache, float *out, int n_tokens)
{
	attend(q, cache, out, n_tokens <= 4); /* expect: MLA002 select */
}

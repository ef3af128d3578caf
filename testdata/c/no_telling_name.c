/* The count of queries is known by the loop that it ends, in a function that it is handed to. */
static float sum_of_products(const float *a, const float *b, int n)
{
	float s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

static void each(const float *wk_b, const float *wv_b, const float *latent, const float *q,
                 float *out, float *room, int rank, int nope, int vdim, int width, int n_kv,
                 int narrow)
{
	float *p = room, *f = p + n_kv, *context = f + rank, *k = context + rank,
	      *v = k + n_kv * nope;

	if (!narrow)
		for (int t = 0; t < n_kv; t++) {
			for (int i = 0; i < nope; i++)
				k[t * nope + i] =
					sum_of_products(wk_b + i * rank, latent + t * rank, rank);
			for (int j = 0; j < vdim; j++)
				v[t * vdim + j] =
					sum_of_products(wv_b + j * rank, latent + t * rank, rank);
		}
	for (int s = 0; s < width; s++) {
		if (narrow)
			for (int i = 0; i < nope; i++)
				for (int r = 0; r < rank; r++)
					f[r] += q[s * nope + i] * wk_b[i * rank + r];
		for (int t = 0; t < n_kv; t++)
			p[t] = narrow ? sum_of_products(f, latent + t * rank, rank)
			              : sum_of_products(q + s * nope, k + t * nope, nope);
		if (narrow) {
			for (int t = 0; t < n_kv; t++)
				for (int r = 0; r < rank; r++)
					context[r] += p[t] * latent[t * rank + r];
			for (int j = 0; j < vdim; j++)
				out[s * vdim + j] = sum_of_products(wv_b + j * rank, context, rank);
			continue;
		}
		for (int t = 0; t < n_kv; t++)
			for (int j = 0; j < vdim; j++)
				out[s * vdim + j] += p[t] * v[t * vdim + j];
	}
}

void layer(const float *wk_b, const float *wv_b, const float *latent, const float *q, float *out,
           float *room, int rank, int nope, int vdim, int width, int n_kv)
{
	int narrow = 0;

	if (7 > width) /* expect: MLA002 select */
		narrow = 1;
	each(wk_b, wv_b, latent, q, out, room, rank, nope, vdim, width, n_kv, narrow);
}

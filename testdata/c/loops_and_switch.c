/* Scalar code; the case label 1 decides. */
static float product(const float *a, const float *b, int n)
{
	float s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

void head(const float *wk_b, const float *wv_b, const float *latent, const float *q, float *out,
          float *p, float *folded, float *context, float *k, float *v, int rank, int nope, int vdim,
          int n_q, int n_kv)
{
	switch (n_q) {
	case 1: /* expect: MLA001 select */
		for (int i = 0; i < nope; i++)
			for (int r = 0; r < rank; r++)
				folded[r] += q[i] * wk_b[i * rank + r];
		for (int t = 0; t < n_kv; t++)
			p[t] = product(folded, latent + t * rank, rank);
		for (int t = 0; t < n_kv; t++)
			for (int r = 0; r < rank; r++)
				context[r] += p[t] * latent[t * rank + r];
		for (int j = 0; j < vdim; j++)
			out[j] = product(wv_b + j * rank, context, rank);
		break;
	default:
		for (int t = 0; t < n_kv; t++) {
			for (int i = 0; i < nope; i++)
				k[t * nope + i] = product(wk_b + i * rank, latent + t * rank, rank);
			for (int j = 0; j < vdim; j++)
				v[t * vdim + j] = product(wv_b + j * rank, latent + t * rank, rank);
		}
		for (int s = 0; s < n_q; s++)
			for (int t = 0; t < n_kv; t++)
				p[t] = product(q + s * nope, k + t * nope, nope);
	}
}

/* What the arms use is declared in a header that is not here: no verdict, and not a clean one. */
#include "runtime/engine.h"

static void folded(const struct engine *e, const float *q, float *out)
{
	mul_mat(e->q_lat, e->wk_b, q, e->kv_lora_rank);
	flash(e->ctx, e->q_lat, e->latent);
	mul_mat(out, e->wv_b, e->ctx, e->v_head_dim);
}

static void expanded(const struct engine *e, const float *q, float *out)
{
	mul_mat(e->kv, e->wkv_b, e->latent, e->kv_lora_rank);
	flash(out, q, e->kv);
}

void step(const struct engine *e, const float *q, float *out, int n_tokens)
{
	if (n_tokens == 1) /* expect: unanalysed - */
		folded(e, q, out);
	else
		expanded(e, q, out);
}

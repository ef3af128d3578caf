#include "context.h"

void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

void other_attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens)
{
    const int wide = n_tokens > mla_max_absorbed_queries(c->sizes.kv_rank, c->sizes.nope, c->sizes.vdim) && c->settings.mla_mode > 1; /* expect: MLA002 select */

    if (!wide) {
        absorb_query(q);
        attend_latent(q);
        project_latent(out);
        return;
    }
    expand_latent(cache);
    attend_full(q, out);
}

/* Two copies of one decision in two files, a mirror in a third, and a decision of its own here. */
#include "context.h"

void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void attend_full(const float *q, float *out);

void attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens)
{
    if (n_tokens >= 128 && c->settings.mla_mode > 1) { /* expect: MLA002 select */
        expand_latent(cache);
        attend_full(q, out);
        return;
    }
    absorb_query(q);
    attend_latent(q);
    project_latent(out);
}

void draft_attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens)
{
    if (n_tokens <= 4) { /* expect: MLA002 select */
        absorb_query(q);
        attend_latent(q);
        project_latent(out);
    } else {
        expand_latent(cache);
        attend_full(q, out);
    }
}

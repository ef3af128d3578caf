#include "head.h"

namespace model {

void draft(const sizes &s, float *q, const float *cache, float *out, int n_tokens)
{
	if (n_tokens > mla_max_absorbed_queries(s.rank, s.nope, s.vdim)) { // expect: MLA002 select
		expand_latent(cache);
		attend_full(q, out);
	} else {
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
	}
}

} // namespace model

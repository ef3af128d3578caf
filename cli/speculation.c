/* The arithmetic of speculation.h. */
#include "cli/speculation.h"

void mla_speculate(mla_depth *out, const double *accept, const double *verify, uint32_t depth,
                   double decode, double draft)
{
	double tokens = 1, all = 1;

	for (uint32_t i = 0; i < depth; i++) {
		all *= accept[i];
		tokens += all;
		out[i].tokens = tokens;
		out[i].verify = verify[i];
		out[i].step = verify[i] + (i + 1) * draft;
		out[i].speedup = tokens * decode / out[i].step;
	}
}

uint32_t mla_best_depth(const mla_depth *v, uint32_t n)
{
	double best = 1;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < n; i++)
		if (v[i].speedup > best) {
			best = v[i].speedup;
			depth = i + 1;
		}
	return depth;
}

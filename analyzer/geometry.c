/* Threshold arithmetic. The only place where the formula is written in C. */
#include "analyzer/geometry.h"

static int check_dim(const char *name, uint32_t value, uint32_t min)
{
	if (value < min)
		return mla_error(MLA_ECONFIG, "%s must be at least %u, not %u", name, min, value);
	if (value > MLA_DIM_MAX)
		return mla_error(MLA_ECONFIG, "%s is %u; sizes above %d are refused", name, value,
		                 MLA_DIM_MAX);
	return 0;
}

int mla_geometry_check(const mla_geometry *g)
{
	int error;

	if ((error = check_dim("kv_lora_rank", g->rank, 1)) < 0 ||
	    (error = check_dim("qk_nope_head_dim", g->nope, 1)) < 0 ||
	    (error = check_dim("qk_rope_head_dim", g->rope, 0)) < 0)
		return error;
	return check_dim("v_head_dim", g->value, 1);
}

uint32_t mla_geometry_threshold(const mla_geometry *g, int64_t cache_len)
{
	uint64_t r = g->rank;
	uint64_t d = (uint64_t)g->nope + g->value;
	uint64_t queries;

	if (2 * r <= d)
		return 1;
	/* r d <= 2^41 and T <= 2^20, so no product here passes 2^62. */
	if (cache_len > 0)
		queries = r * d * (uint64_t)cache_len / (r * d + (2 * r - d) * (uint64_t)cache_len);
	else
		queries = r * d / (2 * r - d);
	return queries > 1 ? (uint32_t)queries : 1;
}

// The two halves of an attention chunk that stand between its products: masks and the running
// softmax. Columns of S are queries, so a vector holds FVW queries and no lane is summed with
// another.
#ifndef MLA_ATTEND_H
#define MLA_ATTEND_H
#include "tile.h"

// The scaled and masked score of query row `row` of batch z at position t.
static inline float masked(float raw, device const float *mask, constant mla_attend_args &p, uint z,
                           uint row, uint t)
{
	uint query = row % p.queries;
	uint head = z % p.kv_heads + row / p.queries;
	float s = raw * p.scale;
	if (p.mask == MLA_MASK_CAUSAL)
		return t <= p.offset + query ? s : NEG_INF;
	uint at = z / p.kv_heads * p.mask_batch + head * p.mask_head + query * p.mask_query +
	          t * p.mask_pos;
	if (p.mask == MLA_MASK_BOOL)
		return mask[at] != 0.0f ? s : NEG_INF;
	return fma(raw, p.scale, mask[at]);
}

// s[t][FVW] for nt positions from t0 on becomes exp(s - max); m and z carry the maximum
// and the sum over the chunks so far, factor is what the sums of earlier chunks shrink by.
static inline void softmax_columns(device float *s, device const float *mask,
                                   constant mla_attend_args &p, uint z, uint row, uint t0, uint nt,
                                   threadgroup float *m, threadgroup float *sum,
                                   threadgroup float *factor)
{
	fvec before, total;
	fvec top = vset(NEG_INF);
	fvec zs = vset(0.0f);
	bool open =
		p.mask == MLA_MASK_NONE || (p.mask == MLA_MASK_CAUSAL && t0 + nt <= p.offset + 1);
	before = top;
	total = zs;
	for (uint l = 0; l < FVW; l++) {
		before[l] = m[l];
		total[l] = sum[l];
	}
	for (uint t = 0; t < nt; t++) {
		device float *at = s + t * FVW;
		fvec raw = vld(at);
		fvec v = raw * vset(p.scale);
		if (!open) {
			for (uint l = 0; l < FVW; l++)
				v[l] = masked(raw[l], mask, p, z, min(row + l, p.rows - 1), t0 + t);
		}
		vst(at, v);
		top = vmax(top, v);
	}
	top = vmax(before, top);
	// Nothing visible yet: the maximum is -inf, and -inf - -inf would be a NaN.
	fvec base = vkeep(top, -3.40282347e38f, top);
	for (uint t = 0; t < nt; t++) {
		device float *at = s + t * FVW;
		fvec e = exp_neg(vld(at) - base);
		vst(at, e);
		zs = zs + e;
	}
	fvec f = exp_neg(before - base);
	total = fma(total, f, zs);
	for (uint l = 0; l < FVW; l++) {
		m[l] = top[l];
		sum[l] = total[l];
		factor[l] = f[l];
	}
}
#endif

// Softmax, RMSNorm and LayerNorm over rows: a threadgroup for each row, which its threads share in
// blocks of sixteen.
#include "prelude.h"

static inline float row_masked(float raw, device const float *mask, constant mla_softmax_args &p,
			       uint row, uint t)
{
	uint query = row % p.queries;
	float s = raw * p.scale;
	if (p.mask == MLA_MASK_NONE)
		return s;
	if (p.mask == MLA_MASK_CAUSAL)
		return t <= p.offset + query ? s : NEG_INF;
	uint at = row / p.queries / p.heads * p.mask_batch +
		  row / p.queries % p.heads * p.mask_head + query * p.mask_query + t * p.mask_pos;
	if (p.mask == MLA_MASK_BOOL)
		return mask[at] != 0.0f ? s : NEG_INF;
	return fma(raw, p.scale, mask[at]);
}

kernel void softmax_rows(device const float *x [[buffer(0)]], device const float *mask [[buffer(1)]],
			 device float *y [[buffer(2)]], constant mla_softmax_args &p [[buffer(3)]],
			 threadgroup float *red [[threadgroup(0)]],
			 uint3 tg [[threadgroup_position_in_grid]],
			 uint tid [[thread_index_in_threadgroup]],
			 uint3 ntg [[threads_per_threadgroup]])
{
	device const float *from = x + tg.x * p.x_row;
	device float *to = y + tg.x * p.y_row;
	lanes peak = lanes_set(NEG_INF);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(from + b, p.n - b, NEG_INF);
		if (p.mask == MLA_MASK_NONE) {
			for (uint j = 0; j < LANE_VECS; j++)
				v.v[j] = v.v[j] * vset(p.scale);
		} else {
			for (uint j = 0; j < LANES; j++)
				if (b + j < p.n)
					v.v[j / FVW][j % FVW] = row_masked(v.v[j / FVW][j % FVW],
									   mask, p, tg.x, b + j);
		}
		for (uint j = 0; j < LANE_VECS; j++)
			peak.v[j] = vmax(peak.v[j], v.v[j]);
		lanes_store(to + b, v, p.n - b);
	}
	float top = group_max(lanes_max(peak), red, tid, ntg.x);
	lanes acc = lanes_set(0.0f);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(to + b, p.n - b, NEG_INF);
		for (uint j = 0; j < LANE_VECS; j++) {
			v.v[j] = exp_neg(v.v[j] - vset(top));
			acc.v[j] = acc.v[j] + v.v[j];
		}
		lanes_store(to + b, v, p.n - b);
	}
	float r = 1.0f / group_sum(lanes_sum(acc), red, tid, ntg.x);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(to + b, p.n - b, 0.0f);
		for (uint j = 0; j < LANE_VECS; j++)
			v.v[j] = v.v[j] * vset(r);
		lanes_store(to + b, lanes_stored(v, p.store), p.n - b);
	}
}

kernel void rms_norm(device const float *x [[buffer(0)]], device const float *weight [[buffer(1)]],
		     device float *y [[buffer(2)]], constant mla_norm_args &p [[buffer(3)]],
		     threadgroup float *red [[threadgroup(0)]],
		     uint3 tg [[threadgroup_position_in_grid]],
		     uint tid [[thread_index_in_threadgroup]],
		     uint3 ntg [[threads_per_threadgroup]])
{
	device const float *from = x + tg.x * p.x_row;
	device float *to = y + tg.x * p.y_row;
	lanes acc = lanes_set(0.0f);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(from + b, p.n - b, 0.0f);
		for (uint j = 0; j < LANE_VECS; j++)
			acc.v[j] = fma(v.v[j], v.v[j], acc.v[j]);
	}
	float mean = group_sum(lanes_sum(acc), red, tid, ntg.x) / (float)p.n;
	float r = rsqrt_of(mean + p.eps);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES)
		for (uint j = b; j < min(b + LANES, p.n); j++) {
			float v = stored(from[j] * r, p.store);
			to[j] = p.weight ? stored(v * weight[j], p.store) : v;
		}
}

kernel void layer_norm(device const float *x [[buffer(0)]], device const float *weight [[buffer(1)]],
		       device const float *bias [[buffer(2)]], device float *y [[buffer(3)]],
		       constant mla_norm_args &p [[buffer(4)]],
		       threadgroup float *red [[threadgroup(0)]],
		       uint3 tg [[threadgroup_position_in_grid]],
		       uint tid [[thread_index_in_threadgroup]],
		       uint3 ntg [[threads_per_threadgroup]])
{
	device const float *from = x + tg.x * p.x_row;
	device float *to = y + tg.x * p.y_row;
	lanes acc = lanes_set(0.0f);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(from + b, p.n - b, 0.0f);
		for (uint j = 0; j < LANE_VECS; j++)
			acc.v[j] = acc.v[j] + v.v[j];
	}
	float mean = group_sum(lanes_sum(acc), red, tid, ntg.x) / (float)p.n;
	acc = lanes_set(0.0f);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES) {
		lanes v = lanes_load(from + b, p.n - b, mean);
		for (uint j = 0; j < LANE_VECS; j++) {
			fvec d = v.v[j] - vset(mean);
			acc.v[j] = fma(d, d, acc.v[j]);
		}
	}
	float var = group_sum(lanes_sum(acc), red, tid, ntg.x) / (float)p.n;
	float r = rsqrt_of(var + p.eps);
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES)
		for (uint j = b; j < min(b + LANES, p.n); j++) {
			float v = (from[j] - mean) * r;
			float w = p.weight ? weight[j] : 1.0f;
			to[j] = stored(fma(v, w, p.bias ? bias[j] : 0.0f), p.store);
		}
}

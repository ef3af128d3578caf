// Reductions along one axis, a threadgroup for each result.
#include "prelude.h"

static inline float combine(uint op, float a, float b)
{
	if (op == MLA_REDUCE_MAX)
		return max(a, b);
	if (op == MLA_REDUCE_MIN)
		return min(a, b);
	return a + b;
}

kernel void reduce_axis(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
			constant mla_reduce_args &p [[buffer(2)]],
			threadgroup float *red [[threadgroup(0)]],
			uint3 tg [[threadgroup_position_in_grid]],
			uint tid [[thread_index_in_threadgroup]],
			uint3 ntg [[threads_per_threadgroup]])
{
	device const float *from = x + tg.y * p.x_outer + tg.x * p.x_inner;
	bool is_max = p.op == MLA_REDUCE_MAX;
	bool is_min = p.op == MLA_REDUCE_MIN;
	float start = is_max ? NEG_INF : is_min ? -NEG_INF : 0.0f;
	float nan_seen = 0.0f; // max and min drop a NaN by themselves
	float part[LANES];
	for (uint j = 0; j < LANES; j++)
		part[j] = start;
	for (uint b = tid * LANES; b < p.n; b += ntg.x * LANES)
		for (uint j = 0; j < LANES; j++)
			if (b + j < p.n) {
				float v = from[(b + j) * p.x_axis];
				part[j] = combine(p.op, part[j], v);
				nan_seen = v != v ? 1.0f : nan_seen;
			}
	for (uint h = LANES / 2; h; h /= 2)
		for (uint j = 0; j < h; j++)
			part[j] = combine(p.op, part[j], part[j + h]);
	float r;
	if (is_max)
		r = group_max(part[0], red, tid, ntg.x);
	else if (is_min)
		r = -group_max(-part[0], red, tid, ntg.x);
	else
		r = group_sum(part[0], red, tid, ntg.x);
	nan_seen = group_max(nan_seen, red, tid, ntg.x);
	if (p.op == MLA_REDUCE_MEAN)
		r = r / (float)p.n;
	if (nan_seen != 0.0f)
		r = as_type<float>(0x7fc00000u);
	if (tid == 0)
		y[tg.y * p.y_outer + tg.x * p.y_inner] = stored(r, p.store);
}

// The index of the first largest element. Threadgroup memory: a value and an index for each thread.
kernel void argmax_axis(device const float *x [[buffer(0)]], device int *y [[buffer(1)]],
			constant mla_reduce_args &p [[buffer(2)]],
			threadgroup float *best [[threadgroup(0)]],
			uint3 tg [[threadgroup_position_in_grid]],
			uint tid [[thread_index_in_threadgroup]],
			uint3 ntg [[threads_per_threadgroup]])
{
	device const float *from = x + tg.y * p.x_outer + tg.x * p.x_inner;
	float value = NEG_INF;
	uint at = p.n;
	for (uint i = tid; i < p.n; i += ntg.x)
		if (at == p.n || from[i * p.x_axis] > value) {
			value = from[i * p.x_axis];
			at = i;
		}
	best[tid] = value;
	best[ntg.x + tid] = as_type<float>(at);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	if (tid != 0)
		return;
	for (uint t = 1; t < ntg.x; t++) {
		uint other = as_type<uint>(best[ntg.x + t]);
		if (other < p.n && (best[t] > value || (best[t] == value && other < at))) {
			value = best[t];
			at = other;
		}
	}
	y[tg.y * p.y_outer + tg.x * p.y_inner] = (int)at;
}

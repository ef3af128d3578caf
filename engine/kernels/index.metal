// Gather and scatter along an axis, and the k largest of a row as a set.
#include "prelude.h"

// y[o][a][i] = x[o][index[o][a][i]][i]; negative indices count from the end, a wrong one gives NaN.
kernel void take_along(device const float *x [[buffer(0)]], device const int *index [[buffer(1)]],
		       device float *y [[buffer(2)]], constant mla_gather_args &p [[buffer(3)]],
		       uint3 gid [[thread_position_in_grid]])
{
	if (gid.x >= p.inner)
		return;
	int k = index[gid.z * p.i_outer + gid.y * p.i_axis + gid.x * p.i_inner];
	if (k < 0)
		k = k + (int)p.size;
	bool fine = k >= 0 && k < (int)p.size;
	float v = as_type<float>(0x7fc00000u);
	if (fine)
		v = x[gid.z * p.x_outer + (uint)k * p.x_axis + gid.x * p.x_inner];
	y[gid.z * p.y_outer + gid.y * p.y_axis + gid.x * p.y_inner] = v;
}

// y[o][index[o][a][i]][i] = x[o][a][i], the last of equal indices winning: a thread for each (o,
// i).
kernel void put_along(device const float *x [[buffer(0)]], device const int *index [[buffer(1)]],
		      device float *y [[buffer(2)]], constant mla_gather_args &p [[buffer(3)]],
		      uint3 gid [[thread_position_in_grid]])
{
	if (gid.x >= p.inner)
		return;
	for (uint a = 0; a < p.n; a++) {
		int k = index[gid.y * p.i_outer + a * p.i_axis + gid.x * p.i_inner];
		if (k < 0)
			k = k + (int)p.size;
		if (k >= 0 && k < (int)p.size)
			y[gid.y * p.y_outer + (uint)k * p.y_axis + gid.x * p.y_inner] =
				x[gid.y * p.x_outer + a * p.x_axis + gid.x * p.x_inner];
	}
}

// Floats in the order of unsigned integers.
static inline uint rank_key(float x)
{
	uint u = as_type<uint>(x);
	return u & 0x80000000u ? ~u : u | 0x80000000u;
}

// index[row] = the k largest of x[row] in ascending order of index; of equal ones the first. The
// k-th largest key is found bit by bit. Threadgroup memory: two floats for each thread, and red.
kernel void top_k(device const float *x [[buffer(0)]], device int *index [[buffer(1)]],
		  constant mla_topk_args &p [[buffer(2)]],
		  threadgroup float *memory [[threadgroup(0)]],
		  uint3 tg [[threadgroup_position_in_grid]],
		  uint tid [[thread_index_in_threadgroup]],
		  uint3 ntg [[threads_per_threadgroup]])
{
	device const float *row = x + tg.x * p.x_row;
	threadgroup float *red = memory + 2 * ntg.x;
	uint share = (p.n + ntg.x - 1) / ntg.x;
	uint i0 = min(tid * share, p.n);
	uint i1 = min(i0 + share, p.n);
	uint key = 0;
	for (uint bit = 0x80000000u; bit; bit >>= 1) {
		uint above = 0;
		for (uint i = i0; i < i1; i++)
			above += rank_key(row[i]) >= (key | bit) ? 1u : 0u;
		// Counts below 2^24 are exact in a float.
		if (group_sum((float)above, red, tid, ntg.x) >= (float)p.k)
			key = key | bit;
	}
	uint over = 0;
	uint equal = 0;
	for (uint i = i0; i < i1; i++) {
		uint k = rank_key(row[i]);
		over += k > key ? 1u : 0u;
		equal += k == key ? 1u : 0u;
	}
	memory[tid] = (float)over;
	memory[ntg.x + tid] = (float)equal;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	uint total = 0;
	uint over_before = 0;
	uint equal_before = 0;
	for (uint t = 0; t < ntg.x; t++) {
		total += (uint)memory[t];
		over_before += t < tid ? (uint)memory[t] : 0u;
		equal_before += t < tid ? (uint)memory[ntg.x + t] : 0u;
	}
	uint wanted = p.k - total; // of the equal ones
	device int *out = index + tg.x * p.k;
	for (uint i = i0; i < i1; i++) {
		uint k = rank_key(row[i]);
		bool take = k > key || (k == key && equal_before < wanted);
		if (take)
			out[over_before + min(equal_before, wanted)] = (int)i;
		over_before += k > key ? 1u : 0u;
		equal_before += k == key ? 1u : 0u;
	}
}

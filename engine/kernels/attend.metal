// Attention over a latent or an expanded cache. Positions are cut into splits (a threadgroup each)
// and splits into chunks, so that a chunk of the latent is still in cache when its scores turn into
// weights; attend_merge joins the splits. Every sum runs over positions in order, so the result
// depends on split and chunk but not on the number of threads.
#include "attend.h"

// Scores of TM positions and TNV vectors of queries: over the latent, then over the rotary part.
template <int TM, int TNV>
static inline void score_tile(device const float *q, device const float *k, device const float *pe,
			      device float *s, constant mla_attend_args &p, uint t, uint nt)
{
	device const float *rows[TM];
	tile<TM, TNV> c;
	tile_zero(c);
	for (int i = 0; i < TM; i++)
		rows[i] = k + min(t + (uint)i, nt - 1) * p.k_row;
	tile_fma_packed(c, rows, q, (int)p.k_dim);
	for (int i = 0; i < TM; i++)
		rows[i] = pe + min(t + (uint)i, nt - 1) * p.pe_row;
	tile_fma_packed(c, rows, q + p.k_dim * TNV * FVW, (int)p.pe_dim);
	for (int i = 0; i < TM; i++) {
		if (t + (uint)i >= nt)
			break;
		for (int j = 0; j < TNV; j++)
			vst(s + ((uint)j * p.chunk + t + (uint)i) * FVW, c.v[i][j]);
	}
}

// O[row .. row + TM)[panel] of nt positions more, the earlier ones shrunk by factor.
template <int TM>
static inline void value_tile(device const float *s, device const float *v, device float *o,
			      threadgroup const float *factor, constant mla_attend_args &p, uint row,
			      uint rows, uint nt, uint cols, bool first)
{
	// Where tiles divide vectors their rows are neighbours, so one address serves them all.
	const bool together = FVW % TILE_M == 0 && FVW % TM == 0;
	device const float *a[TM];
	tile<TM, 2> c;
	tile_zero(c);
	for (int i = 0; i < TM; i++) {
		uint r = min(row + (uint)i, rows - 1);
		uint at = together ? row : r;
		a[i] = s + (at / FVW * p.chunk) * FVW + at % FVW + (together ? i : 0);
		if (first)
			continue;
		device const float *from = o + r * p.v_dim;
		fvec f = vset(factor[r]);
		for (int j = 0; j < 2; j++)
			c.v[i][j] = (cols == 2 * FVW ? vld(from + (uint)j * FVW)
						     : vld_n(from + (uint)j * FVW, 1,
							     lanes_of(cols, j))) *
				    f;
	}
	if (cols == 2 * FVW)
		tile_fma_rows<TM, 2, (int)FVW>(c, a, v, (int)p.v_row, (int)nt);
	else
		tile_fma_part(c, a, FVW, v, p.v_row, nt, cols);
	for (int i = 0; i < TM; i++) {
		if (row + (uint)i >= rows)
			break;
		device float *to = o + (row + (uint)i) * p.v_dim;
		for (int j = 0; j < 2; j++) {
			if (cols == 2 * FVW)
				vst(to + (uint)j * FVW, c.v[i][j]);
			else
				vst_n(to + (uint)j * FVW, 1, lanes_of(cols, j), c.v[i][j]);
		}
	}
}

// Tiles of TILE_M rows, the last ones of 4 where that wastes less: 16 = 6 + 6 + 4, 128 = 20 * 6 + 4
// + 4.
static inline uint wide_tiles(uint rows)
{
	uint n = rows / TILE_M;
	uint rest = rows % TILE_M;
	if (rest > 4)
		return n + 1;
	if (rest != 0 && n > 0 && rest + TILE_M <= 8)
		return n - 1;
	return n;
}

static inline uint row_tiles(uint rows)
{
	uint wide = wide_tiles(rows);
	return wide * TILE_M >= rows ? wide : wide + (rows - wide * TILE_M + 3) / 4;
}

kernel void attend_split(device const float *q [[buffer(0)]], device const float *k [[buffer(1)]],
			 device const float *pe [[buffer(2)]], device const float *v [[buffer(3)]],
			 device const float *mask [[buffer(4)]], device float *part [[buffer(5)]],
			 device float *stat [[buffer(6)]], device float *scratch [[buffer(7)]],
			 constant mla_attend_args &p [[buffer(8)]],
			 threadgroup float *memory [[threadgroup(0)]],
			 uint3 tg [[threadgroup_position_in_grid]],
			 uint tid [[thread_index_in_threadgroup]],
			 uint3 ntg [[threads_per_threadgroup]])
{
	uint batch = tg.z / p.kv_heads;
	uint head = tg.z % p.kv_heads;
	uint r0 = tg.y * MLA_ROW_BLOCK;
	uint rows = min((uint)MLA_ROW_BLOCK, p.rows - r0);
	uint vecs = (rows + FVW - 1) / FVW;
	uint place = tg.z * p.n_splits + tg.x;
	uint blocks = (p.rows + MLA_ROW_BLOCK - 1) / MLA_ROW_BLOCK;
	uint t1 = min(p.total, (tg.x + 1) * p.split);
	device const float *qb = q + tg.z * p.q_batch + r0 / FVW * p.q_vec;
	device const float *kb = k + batch * p.k_batch + head * p.k_head;
	device const float *peb = pe + batch * p.pe_batch;
	device const float *vb = v + batch * p.v_batch + head * p.v_head;
	device float *o = part + (place * p.rows + r0) * p.v_dim;
	device float *s = scratch + (place * blocks + tg.y) * p.s_batch;
	threadgroup float *m = memory;
	threadgroup float *sum = memory + MLA_ROW_BLOCK;
	threadgroup float *factor = memory + 2 * MLA_ROW_BLOCK;
	uint panels = (p.v_dim + 2 * FVW - 1) / (2 * FVW);
	uint row_n = row_tiles(rows);
	uint wide = wide_tiles(rows);

	for (uint i = tid; i < vecs; i += ntg.x)
		for (uint l = 0; l < FVW; l++) {
			m[i * FVW + l] = NEG_INF;
			sum[i * FVW + l] = 0.0f;
		}
	for (uint t0 = tg.x * p.split; t0 < t1; t0 += p.chunk) {
		uint nt = min(p.chunk, t1 - t0);
		uint pairs = vecs / 2;
		uint tiles = (nt + TILE_M - 1) / TILE_M;
		uint tall = (nt + 7) / 8;
		// The rows of the latent stay in cache while the queries pass.
		for (uint i = tid; i < pairs * tiles; i += ntg.x) {
			uint pair = i % pairs * 2;
			score_tile<TILE_M, 2>(qb + pair * p.q_vec, kb + t0 * p.k_row,
					      peb + t0 * p.pe_row, s + pair * p.chunk * FVW, p,
					      i / pairs * TILE_M, nt);
		}
		// Eight chains keep two multiply-add pipes of four cycles busy; more rows would
		// need more addresses than there are registers.
		if (vecs % 2)
			for (uint i = tid; i < tall; i += ntg.x)
				score_tile<8, 1>(qb + pairs * 2 * p.q_vec,
							  kb + t0 * p.k_row, peb + t0 * p.pe_row,
							  s + pairs * 2 * p.chunk * FVW, p,
							  i * 8, nt);
		threadgroup_barrier(mem_flags::mem_device);
		for (uint i = tid; i < vecs; i += ntg.x)
			softmax_columns(s + i * p.chunk * FVW, mask, p, tg.z, r0 + i * FVW, t0, nt,
					m + i * FVW, sum + i * FVW, factor + i * FVW);
		threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
		for (uint i = tid; i < panels * row_n; i += ntg.x) {
			uint c0 = i / row_n * 2 * FVW;
			uint r = i % row_n;
			uint cols = min(2 * FVW, p.v_dim - c0);
			bool first = t0 == tg.x * p.split;
			if (r < wide)
				value_tile<TILE_M>(s, vb + t0 * p.v_row + c0, o + c0, factor, p,
						   r * TILE_M, rows, nt, cols, first);
			else
				value_tile<4>(s, vb + t0 * p.v_row + c0, o + c0, factor, p,
					      wide * TILE_M + (r - wide) * 4, rows, nt, cols, first);
		}
		threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
	}
	for (uint i = tid; i < rows; i += ntg.x) {
		stat[(place * p.rows + r0 + i) * 2] = m[i];
		stat[(place * p.rows + r0 + i) * 2 + 1] = sum[i];
	}
}

// A thread joins sixteen columns of one row.
kernel void attend_merge(device const float *part [[buffer(0)]],
			 device const float *stat [[buffer(1)]], device float *out [[buffer(2)]],
			 constant mla_merge_args &p [[buffer(3)]],
			 uint3 gid [[thread_position_in_grid]])
{
	uint c0 = gid.x * LANES;
	if (c0 >= p.v_dim)
		return;
	uint cols = min(LANES, p.v_dim - c0);
	uint first = gid.z * p.n_splits * p.rows + gid.y;
	float top = NEG_INF;
	for (uint s = 0; s < p.n_splits; s++)
		top = max(top, stat[(first + s * p.rows) * 2]);
	float base = top >= -3.40282347e38f ? top : 0.0f;
	float z = 0.0f;
	lanes acc = lanes_set(0.0f);
	for (uint s = 0; s < p.n_splits; s++) {
		uint at = first + s * p.rows;
		float w = exp_neg(stat[at * 2] - base);
		z = fma(stat[at * 2 + 1], w, z);
		lanes v = lanes_load(part + at * p.v_dim + c0, cols, 0.0f);
		for (uint j = 0; j < LANE_VECS; j++)
			acc.v[j] = fma(v.v[j], vset(w), acc.v[j]);
	}
	device float *to = out + gid.z * p.out_batch + gid.y * p.out_row + c0;
	for (uint j = 0; j < LANE_VECS; j++)
		acc.v[j] = acc.v[j] / vset(z);
	lanes_store(to, lanes_stored(acc, p.store), cols);
}

// Queries into panels of two vectors, [dim][2 * FVW], a last odd vector into one of its own;
// sixteen columns at a time. gid.y counts vectors.
kernel void query_columns(device const float *from [[buffer(0)]], device float *q [[buffer(1)]],
			  constant mla_columns_args &p [[buffer(2)]],
			  uint3 gid [[thread_position_in_grid]])
{
	uint k0 = gid.x * 16;
	if (k0 >= p.k)
		return;
	device const float *a = from + gid.z * p.from_batch;
	uint vecs = (p.rows + FVW - 1) / FVW;
	uint width = gid.y + 1 == vecs && vecs % 2 ? FVW : 2 * FVW;
	device float *to = q + gid.z * p.q_batch + gid.y / 2 * 2 * p.q_vec + gid.y % 2 * FVW +
			   p.first * width;
	for (uint l = 0; l < FVW; l++) {
		uint row = gid.y * FVW + l;
		for (uint k = k0; k < min(k0 + 16, p.k); k++)
			to[k * width + l] = row < p.rows ? a[row * p.from_row + k] : 0.0f;
	}
}

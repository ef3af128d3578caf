// Matrix multiplication C = alpha A B, f32 accumulation, rounding on store. A thread owns one
// register tile; there is no barrier. Operands are strided, so a transpose costs nothing here, but
// the columns of a B tile must be adjacent: pack_panels makes them so.
#include "tile.h"

struct gemm_batch {
	device const float *a;
	device const float *b;
	device float *c;
};

static inline gemm_batch gemm_at(device const float *a, device const float *b, device float *c,
				 constant mla_gemm_args &g, uint z)
{
	uint outer = z / g.inner;
	uint i = z % g.inner;
	gemm_batch r;
	r.a = a + outer * g.a_outer + i * g.a_inner;
	r.b = b + outer * g.b_outer + i / g.b_share * g.b_inner;
	r.c = c + outer * g.c_outer + i * g.c_inner;
	return r;
}

// What storing needs of the arguments, as copies: stores to C could change those, for all a
// compiler knows, and it would read them again for every tile.
struct gemm_out {
	uint c_row, c_col, store;
	float alpha;
};

template <int TM, int TNV>
static inline void gemm_store(thread tile<TM, TNV> &t, device float *c, gemm_out g,
			      uint rows, uint cols)
{
	if (rows >= TM && cols == TNV * FVW && g.c_col == 1) {
		for (int i = 0; i < TM; i++)
			for (int j = 0; j < TNV; j++)
				vst(c + (uint)i * g.c_row + (uint)j * FVW,
				    stored(t.v[i][j] * vset(g.alpha), g.store));
		return;
	}
	for (int i = 0; i < TM; i++)
		for (int j = 0; j < TNV && (uint)i < rows; j++)
			vst_n(c + (uint)i * g.c_row + (uint)j * FVW * g.c_col, g.c_col,
			      lanes_of(cols, j), stored(t.v[i][j] * vset(g.alpha), g.store));
}

// A thread makes `strip` tiles of the same rows, one after the other.
template <int TM, int TNV>
static inline void gemm_strip(device const float *a, device const float *b, device float *c,
			      constant mla_gemm_args &g, uint3 gid)
{
	gemm_out to;
	to.c_row = g.c_row;
	to.c_col = g.c_col;
	to.store = g.store;
	to.alpha = g.alpha;
	uint n = g.n;
	int k = (int)g.k;
	uint b_tile = g.b_tile;
	bool fast = g.packed && g.a_k == 1 && !g.accumulate;
	uint m0 = gid.y * TM;
	if (m0 >= g.m)
		return;
	uint rows_left = g.m - m0;
	uint last = (gid.x + 1) * g.strip;
	gemm_batch at = gemm_at(a, b, c, g, gid.z);
	device const float *rows[TM];
	for (int i = 0; i < TM; i++)
		rows[i] = at.a + min(m0 + (uint)i, g.m - 1) * g.a_row;
	at.c += m0 * g.c_row;
	for (uint x = gid.x * g.strip; x < last; x++) {
		uint n0 = x * TNV * FVW;
		if (n0 >= n)
			break;
		uint cols = min((uint)TNV * FVW, n - n0);
		device const float *panel = at.b + x * b_tile;
		device float *out = at.c + n0 * to.c_col;
		if (fast) {
			// By itself, so that its accumulators are registers from first to last.
			tile<TM, TNV> t;
			tile_zero(t);
			tile_fma_packed(t, rows, panel, k);
			gemm_store(t, out, to, rows_left, cols);
			continue;
		}
		tile<TM, TNV> t;
		tile_zero(t);
		for (int i = 0; i < TM && g.accumulate; i++)
			for (int j = 0; j < TNV; j++)
				t.v[i][j] = vld_n(out + min((uint)i, g.m - 1 - m0) * g.c_row +
							  (uint)j * FVW * g.c_col,
						  g.c_col, lanes_of(cols, j));
		if (cols == TNV * FVW)
			tile_fma(t, rows, (int)g.a_k, panel, (int)g.b_k, (int)g.k);
		else
			tile_fma_part(t, rows, g.a_k, panel, g.b_k, g.k, cols);
		gemm_store(t, out, to, rows_left, cols);
	}
}

#define GEMM(name, TM, TNV)                                                                        \
	kernel void name(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], \
			 device float *c [[buffer(2)]], constant mla_gemm_args &g [[buffer(3)]],   \
			 uint3 gid [[thread_position_in_grid]])                                    \
	{                                                                                          \
		gemm_strip<TM, TNV>(a, b, c, g, gid);                                              \
	}

GEMM(gemm, TILE_M, 2)
GEMM(gemm_1x4, 1, 4)
GEMM(gemm_2x4, 2, 4)
GEMM(gemm_4x2, 4, 2)

// C = alpha A B^T with k adjacent in both, for few rows of A: sixteen partial sums per element.
template <int TM, int TN>
static inline void gemm_dot_tile(device const float *a, device const float *b, device float *c,
				 constant mla_gemm_args &g, uint3 gid)
{
	uint m0 = gid.y * TM;
	uint n0 = gid.x * TN;
	if (m0 >= g.m || n0 >= g.n)
		return;
	gemm_batch at = gemm_at(a, b, c, g, gid.z);
	lanes acc[TM][TN];
	for (int i = 0; i < TM; i++)
		for (int j = 0; j < TN; j++)
			acc[i][j] = lanes_set(0.0f);
	for (uint k = 0; k < g.k; k += LANES) {
		lanes bv[TN];
		for (int j = 0; j < TN; j++)
			bv[j] = lanes_load(at.b + min(n0 + (uint)j, g.n - 1) * g.b_tile + k,
					   g.k - k, 0.0f);
		for (int i = 0; i < TM; i++) {
			lanes av = lanes_load(at.a + min(m0 + (uint)i, g.m - 1) * g.a_row + k,
					      g.k - k, 0.0f);
			for (int j = 0; j < TN; j++)
				for (uint l = 0; l < LANE_VECS; l++)
					acc[i][j].v[l] = fma(av.v[l], bv[j].v[l], acc[i][j].v[l]);
		}
	}
	for (int i = 0; i < TM; i++)
		for (int j = 0; j < TN; j++)
			if (m0 + (uint)i < g.m && n0 + (uint)j < g.n) {
				device float *p = at.c + (m0 + (uint)i) * g.c_row +
						  (n0 + (uint)j) * g.c_col;
				float s = lanes_sum(acc[i][j]);
				if (g.accumulate)
					s = s + *p;
				*p = stored(s * g.alpha, g.store);
			}
}

#define GEMM_DOT(name, TM, TN)                                                                     \
	kernel void name(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], \
			 device float *c [[buffer(2)]], constant mla_gemm_args &g [[buffer(3)]],   \
			 uint3 gid [[thread_position_in_grid]])                                    \
	{                                                                                          \
		gemm_dot_tile<TM, TN>(a, b, c, g, gid);                                            \
	}

GEMM_DOT(gemm_dot_1x4, 1, 4)
GEMM_DOT(gemm_dot_2x2, 2, 2)

// A thread copies eight rows of one panel: threads = panels x ceil(k / 8) x batches.
kernel void pack_panels(device const float *b [[buffer(0)]], device float *panels [[buffer(1)]],
			constant mla_pack_args &p [[buffer(2)]],
			uint3 gid [[thread_position_in_grid]])
{
	uint n0 = gid.x * p.width;
	uint k0 = gid.y * 8;
	if (n0 >= p.n || k0 >= p.k)
		return;
	uint kn = min(8u, p.k - k0);
	uint cols = min(p.width, p.n - n0);
	device const float *from = b + gid.z / p.inner * p.b_outer + gid.z % p.inner * p.b_inner +
				   k0 * p.b_k + n0 * p.b_col;
	device float *to = panels + gid.z * p.panel_batch + (gid.x * p.k + k0) * p.width;
	if (p.b_col == 1) {
		for (uint k = 0; k < kn; k++)
			for (uint c = 0; c < p.width; c++)
				to[k * p.width + c] = c < cols ? from[k * p.b_k + c] : 0.0f;
	} else {
		for (uint c = 0; c < p.width; c++)
			for (uint k = 0; k < kn; k++)
				to[k * p.width + c] =
					c < cols ? from[k * p.b_k + c * p.b_col] : 0.0f;
	}
}

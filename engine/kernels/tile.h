// A register tile: TM rows x TNV vectors of C, one multiply-add chain over k for each element. The
// chain of an element is the same for every tile shape, so tile shapes never change a result.
#ifndef MLA_TILE_H
#define MLA_TILE_H
#include "prelude.h"

template <int TM, int TNV> struct tile {
	fvec v[TM][TNV];
};

template <int TM, int TNV> static inline void tile_zero(thread tile<TM, TNV> &c)
{
	for (int i = 0; i < TM; i++)
		for (int j = 0; j < TNV; j++)
			c.v[i][j] = vset(0.0f);
}

// n lanes, `step` apart. Only a copy is indexed by a variable: an accumulator that is would live in
// memory.
static inline fvec vld_n(device const float *p, uint step, uint n)
{
	fvec r = vset(0.0f);
	for (uint l = 0; l < FVW; l++)
		if (l < n)
			r[l] = p[l * step];
	return r;
}

static inline void vst_n(device float *p, uint step, uint n, fvec v)
{
	for (uint l = 0; l < FVW; l++)
		if (l < n)
			p[l * step] = v[l];
}

// How many of `cols` columns fall into vector j of a tile.
static inline uint lanes_of(uint cols, int j)
{
	uint before = (uint)j * FVW;
	return cols > before ? min(cols - before, FVW) : 0u;
}

// One step of the chain, at a[i][at + then]; `then` is a constant and so a displacement, which
// at + then would not be (clang makes it at | then where at is a multiple of 4). Signed indices and
// strides the compiler knows, so that every address is a register and a constant: with more
// registers for addresses the accumulators spill.
template <int TM, int TNV>
static inline void tile_step(thread tile<TM, TNV> &c, device const float *thread *a, int at,
                             int then, device const float *b)
{
	fvec bv[TNV];
	for (int j = 0; j < TNV; j++)
		bv[j] = vld(b + j * (int)FVW);
	for (int i = 0; i < TM; i++) {
		fvec s = vset((a[i] + at)[then]);
		for (int j = 0; j < TNV; j++)
			c.v[i][j] = fma(s, bv[j], c.v[i][j]);
	}
}

// a[i] is row i of A, its elements A_K apart; b is row 0 of B, its rows b_k apart. Four steps at a
// time, because the loop itself would cost a fifth.
template <int TM, int TNV, int A_K>
static inline void tile_fma_rows(thread tile<TM, TNV> &c, device const float *thread *a,
                                 device const float *b, int b_k, int n)
{
	int k = 0;
	for (; k + 4 <= n; k += 4)
		for (int u = 0; u < 4; u++) {
			tile_step(c, a, k * A_K, u * A_K, b);
			b += b_k;
		}
	for (; k < n; k++) {
		tile_step(c, a, k * A_K, 0, b);
		b += b_k;
	}
}

// B in panels as wide as the tile, A along its rows.
template <int TM, int TNV>
static inline void tile_fma_packed(thread tile<TM, TNV> &c, device const float *thread *a,
                                   device const float *b, int n)
{
	tile_fma_rows<TM, TNV, 1>(c, a, b, TNV * (int)FVW, n);
}

// Any strides.
template <int TM, int TNV>
static inline void tile_fma(thread tile<TM, TNV> &c, device const float *thread *a, int a_k,
                            device const float *b, int b_k, int n)
{
	for (int k = 0; k < n; k++) {
		tile_step(c, a, k * a_k, 0, b);
		b += b_k;
	}
}

// The same with only `cols` columns of B readable.
template <int TM, int TNV>
static inline void tile_fma_part(thread tile<TM, TNV> &c, device const float *thread *a, uint a_k,
                                 device const float *b, uint b_k, uint n, uint cols)
{
	for (uint k = 0; k < n; k++) {
		fvec bv[TNV];
		for (int j = 0; j < TNV; j++)
			bv[j] = vld_n(b + j * (int)FVW, 1, lanes_of(cols, j));
		b += b_k;
		for (int i = 0; i < TM; i++) {
			fvec s = vset(a[i][k * a_k]);
			for (int j = 0; j < TNV; j++)
				c.v[i][j] = fma(s, bv[j], c.v[i][j]);
		}
	}
}
#endif

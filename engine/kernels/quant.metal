// Multiplication with affine-quantised weights: directly for few rows of x, through panels for
// many.
#include "prelude.h"

static inline float dequant(device const uint *row, device const float *scales,
			    device const float *biases, uint bits, uint group, uint i)
{
	uint per_word = 32 / bits;
	uint q = row[i / per_word] >> (i % per_word * bits) & ((1u << bits) - 1);
	return fma((float)q, scales[i / group], biases[i / group]);
}

// y = x w^T, w [n][k] along k: sixteen partial sums for each element, TN outputs for each thread.
kernel void qmm_dot(device const float *x [[buffer(0)]], device const uint *w [[buffer(1)]],
		    device const float *scales [[buffer(2)]],
		    device const float *biases [[buffer(3)]], device float *y [[buffer(4)]],
		    constant mla_qmm_args &p [[buffer(5)]],
		    uint3 gid [[thread_position_in_grid]])
{
	if (gid.x >= p.n || gid.y >= p.m)
		return;
	uint i = gid.z;
	device const float *a = x + i * p.x_batch + gid.y * p.x_row;
	device const uint *row = w + i % p.inner * p.w_batch + gid.x * p.words;
	device const float *s = scales + i % p.inner * p.s_batch + gid.x * p.groups;
	device const float *b = biases + i % p.inner * p.s_batch + gid.x * p.groups;
	lanes acc = lanes_set(0.0f);
	uint per_word = 32 / p.bits;
	uint low = (1u << p.bits) - 1;
	for (uint k = 0; k < p.k; k += LANES) {
		fvec scale = vset(s[k / p.group]);
		fvec bias = vset(b[k / p.group]);
		lanes v = lanes_load(a + k, LANES, 0.0f);
		lanes q = lanes_set(0.0f);
		for (uint j = 0; j < LANES; j++)
			q.v[j / FVW][j % FVW] = (float)(row[(k + j) / per_word] >>
								((k + j) % per_word * p.bits) &
							low);
		for (uint j = 0; j < LANE_VECS; j++)
			acc.v[j] = fma(v.v[j], fma(q.v[j], scale, bias), acc.v[j]);
	}
	y[i * p.y_batch + gid.y * p.y_row + gid.x] = stored(lanes_sum(acc), p.store);
}

// As pack_panels, from quantised w: [n][k] when transposed, else [k][n].
kernel void dequant_panels(device const uint *w [[buffer(0)]],
			   device const float *scales [[buffer(1)]],
			   device const float *biases [[buffer(2)]],
			   device float *panels [[buffer(3)]],
			   constant mla_dequant_args &p [[buffer(4)]],
			   uint3 gid [[thread_position_in_grid]])
{
	uint n0 = gid.x * p.width;
	if (n0 >= p.n)
		return;
	device const uint *wb = w + gid.z * p.w_batch;
	device const float *sb = scales + gid.z * p.s_batch;
	device const float *bb = biases + gid.z * p.s_batch;
	device float *to = panels + gid.z * p.panel_batch + gid.x * p.k * p.width;
	for (uint k = gid.y * 8; k < min(gid.y * 8 + 8, p.k); k++)
		for (uint c = 0; c < p.width; c++) {
			uint row = p.transposed ? n0 + c : k;
			uint col = p.transposed ? k : n0 + c;
			to[k * p.width + c] =
				n0 + c < p.n ? dequant(wb + row * p.words, sb + row * p.groups,
						       bb + row * p.groups, p.bits, p.group, col)
					     : 0.0f;
		}
}

// Pooling of a sequence in windows, for a range of windows only: appending tokens cannot change a
// window that is already full. A thread makes sixteen columns of one window.
#include "prelude.h"

kernel void pool_windows(device const float *x [[buffer(0)]], device const float *gate [[buffer(1)]],
			 device const float *pos [[buffer(2)]], device float *y [[buffer(3)]],
			 constant mla_pool_args &p [[buffer(4)]],
			 uint3 gid [[thread_position_in_grid]])
{
	uint first = (p.first + gid.y) * p.window;
	if (gid.y >= p.count || first >= p.total)
		return;
	uint n = min(p.window, p.total - first);
	for (uint d = gid.x * LANES; d < min((gid.x + 1) * LANES, p.dims); d++) {
		device const float *from = x + first * p.x_row + d;
		device const float *g = gate + first * p.gate_row + d * p.gate_col;
		device const float *e = pos + d * p.pos_col;
		float r = p.mode == MLA_POOL_MAX ? NEG_INF : 0.0f;
		float z = 0.0f;
		float top = NEG_INF;
		for (uint j = 0; p.mode == MLA_POOL_GATED && j < n; j++)
			top = max(top, g[j * p.gate_row] + e[j * p.pos_row]);
		for (uint j = 0; j < n; j++) {
			float v = from[j * p.x_row];
			if (p.mode == MLA_POOL_MAX) {
				r = v != v || r != r ? as_type<float>(0x7fc00000u) : max(r, v);
			} else if (p.mode == MLA_POOL_MEAN) {
				r = r + v;
			} else {
				float w = exp_neg(g[j * p.gate_row] + e[j * p.pos_row] - top);
				z = z + w;
				r = fma(w, v, r);
			}
		}
		if (p.mode == MLA_POOL_MEAN)
			r = r / (float)n;
		else if (p.mode == MLA_POOL_GATED)
			r = r / z;
		y[gid.y * p.y_row + d] = stored(r, p.store);
	}
}

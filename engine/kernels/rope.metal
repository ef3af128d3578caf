// Rotary embedding. The angle is kept in turns, split in two floats, so that position 131072 is as
// exact as position 1: a plain f32 product would be wrong by milliradians there.
#include "prelude.h"

struct sin_cos {
	float s, c;
};

// hi + lo: turns for one position.
static inline sin_cos rotation(float position, float hi, float lo)
{
	float p = position * hi;
	float e = fma(position, lo, exact_fma(position, hi, -p));
	float quarter = rint(p * 4.0f);
	float r = fma(4.0f, e, fma(4.0f, p, -quarter)); // in quarter turns, about -0.5 to 0.5
	float x = r * 1.57079632679f;
	float z = x * x;
	float s = fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
	s = fma(s, z, -1.6666654611e-1f);
	s = fma(s * z, x, x);
	float c = fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
	c = fma(c, z, 4.166664568298827e-2f);
	c = fma(c * z, z, fma(-0.5f, z, 1.0f));
	uint quadrant = (uint)(int)quarter & 3u;
	sin_cos out;
	out.s = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
	out.c = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
	return out;
}

// A thread turns one row. turns[i] is the rounded frequency of pair i, turns[dims / 2 + i] the
// rest; or the radians of pair i at position 1.
kernel void rope(device const float *x [[buffer(0)]], device const float *turns [[buffer(1)]],
		 device float *y [[buffer(2)]], constant mla_rope_args &p [[buffer(3)]],
		 uint3 gid [[thread_position_in_grid]])
{
	if (gid.x >= p.rows)
		return;
	device const float *from = x + gid.x * p.x_row;
	device float *to = y + gid.x * p.y_row;
	float position = (float)(p.offset + (int)(gid.x % p.queries));
	if (p.rounded)
		position = position * p.scale;
	uint half_dims = p.dims / 2;
	for (uint i = 0; i < half_dims; i++) {
		sin_cos r;
		if (p.rounded) // as frameworks do it: the angle is an f32, 1 / (2 pi) in two of them
			r = rotation(position * turns[i], 0.15915494f, 6.4206382e-9f);
		else
			r = rotation(position, turns[i], turns[half_dims + i]);
		uint a = p.interleaved ? 2 * i : i;
		uint b = p.interleaved ? 2 * i + 1 : i + half_dims;
		float u = from[a];
		float v = from[b];
		float vs = v * r.s;
		float vc = v * r.c;
		to[a] = stored(fma(u, r.c, -vs), p.store);
		to[b] = stored(fma(u, r.s, vc), p.store);
	}
	for (uint i = 2 * half_dims; i < p.width; i++)
		to[i] = from[i];
}

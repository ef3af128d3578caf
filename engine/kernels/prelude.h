// What every .metal file starts with, and the only text that knows the target. On Metal fvec is a
// float4; elsewhere the shim gives the same names (mslgen puts it in front).
#ifndef MLA_PRELUDE_H
#define MLA_PRELUDE_H
#include "args.h"

#ifdef __METAL_VERSION__
#include <metal_stdlib>
using namespace metal;
typedef float4 fvec;
#define FVW 4u
#define TILE_M 4
#define SIMD_WIDTH 32u
static inline fvec vld(device const float *p)
{
	return fvec(*(device const packed_float4 *)p);
}
static inline void vst(device float *p, fvec v)
{
	*(device packed_float4 *)p = packed_float4(v);
}
static inline float exact_fma(float a, float b, float c)
{
	return fma(a, b, c);
}
static inline fvec vset(float s)
{
	return fvec(s);
}
static inline fvec vmax(fvec a, fvec b)
{
	return select(b, a, a > b);
}
static inline fvec vkeep(fvec x, float lo, fvec a)
{
	return select(fvec(0.0f), a, x >= fvec(lo));
}
static inline fvec vscale2(fvec a, fvec t)
{
	return as_type<fvec>(as_type<uint4>(a) + (as_type<uint4>(t) << 23));
}
static inline fvec vbf16(fvec a)
{
	uint4 u = as_type<uint4>(a);
	uint4 r = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
	return select(as_type<fvec>(r), a, a != a);
}
#else
using namespace metal;
#endif

// Numbers that no target may choose for itself: every multiply-add is an fma(), every function a
// polynomial, every sum has a fixed order. So the bits do not depend on who runs them.

#define NEG_INF as_type<float>(0xff800000u)

// Round to nearest, ties to even; a NaN stays a NaN.
static inline float bf16_round(float x)
{
	uint u = as_type<uint>(x);
	if ((u & 0x7fffffffu) > 0x7f800000u)
		return x;
	u += 0x7fffu + ((u >> 16) & 1u);
	return as_type<float>(u & 0xffff0000u);
}

static inline float f16_round(float x)
{
	uint u = as_type<uint>(x);
	uint a = u & 0x7fffffffu;
	if (a > 0x7f800000u)
		return x;
	if (a >= 0x477ff000u) // 65520 and up
		return as_type<float>((u & 0x80000000u) | 0x7f800000u);
	if (a < 0x38800000u) // below 2^-14 the spacing is 2^-24
		return as_type<float>(as_type<uint>(rint(as_type<float>(a) * 16777216.0f) *
		                                    5.9604644775390625e-8f) |
		                      (u & 0x80000000u));
	u += 0xfffu + ((u >> 13) & 1u);
	return as_type<float>(u & 0xffffe000u);
}

static inline float stored(float x, uint store)
{
	return store == MLA_STORE_BF16 ? bf16_round(x) : store == MLA_STORE_F16 ? f16_round(x) : x;
}

static inline fvec stored(fvec v, uint store)
{
	if (store == MLA_STORE_BF16)
		return vbf16(v);
	if (store == MLA_STORE_F16) {
		fvec r = v;
		for (uint l = 0; l < FVW; l++)
			r[l] = f16_round(v[l]);
		return r;
	}
	return v;
}

// exp for x <= 0 (Cephes expf coefficients). 2^n comes from the low bits of x * log2(e) + 1.5 *
// 2^23. Near -87 the result would be subnormal, which GPUs flush: it is 0 everywhere instead. The
// bit arithmetic could turn a NaN into a number, so y is added once more, times zero.
static inline fvec exp_neg(fvec x)
{
	fvec y = vmax(vset(-87.0f), x); // in this order a NaN stays
	fvec magic = vset(12582912.0f);
	fvec t = fma(y, vset(1.44269504f), magic);
	fvec n = t - magic;
	fvec r = fma(n, vset(-0.693359375f), y);
	r = fma(n, vset(2.12194440e-4f), r);
	fvec p = fma(vset(1.9875691500e-4f), r, vset(1.3981999507e-3f));
	p = fma(p, r, vset(8.3334519073e-3f));
	p = fma(p, r, vset(4.1665795894e-2f));
	p = fma(p, r, vset(1.6666665459e-1f));
	p = fma(p, r, vset(5.0000001201e-1f));
	p = fma(p, r * r, r + vset(1.0f));
	return fma(y, vset(0.0f), vkeep(y, -86.99999f, vscale2(p, t)));
}

static inline float exp_neg(float x)
{
	float y = max(-87.0f, x);
	float t = fma(y, 1.44269504f, 12582912.0f);
	float n = t - 12582912.0f;
	float r = fma(n, -0.693359375f, y);
	r = fma(n, 2.12194440e-4f, r);
	float p = fma(1.9875691500e-4f, r, 1.3981999507e-3f);
	p = fma(p, r, 8.3334519073e-3f);
	p = fma(p, r, 4.1665795894e-2f);
	p = fma(p, r, 1.6666665459e-1f);
	p = fma(p, r, 5.0000001201e-1f);
	p = fma(p, r * r, r + 1.0f);
	float e = as_type<float>(as_type<uint>(p) + (as_type<uint>(t) << 23));
	return fma(y, 0.0f, y >= -86.99999f ? e : 0.0f);
}

// exp over the whole range: inf above, 0 where the result would be subnormal.
static inline float exp_of(float x)
{
	float y = max(-87.0f, x);
	y = y > 88.7228f ? 88.7228f : y;
	float t = fma(y, 1.44269504f, 12582912.0f);
	float n = t - 12582912.0f;
	float r = fma(n, -0.693359375f, y);
	r = fma(n, 2.12194440e-4f, r);
	float p = fma(1.9875691500e-4f, r, 1.3981999507e-3f);
	p = fma(p, r, 8.3334519073e-3f);
	p = fma(p, r, 4.1665795894e-2f);
	p = fma(p, r, 1.6666665459e-1f);
	p = fma(p, r, 5.0000001201e-1f);
	p = fma(p, r * r, r + 1.0f);
	float e = as_type<float>(as_type<uint>(p) + (as_type<uint>(t) << 23));
	if (x > 88.7228f)
		return as_type<float>(0x7f800000u);
	return fma(y, 0.0f, y >= -86.99999f ? e : 0.0f);
}

static inline float sigmoid_of(float x)
{
	float e = exp_neg(x < 0.0f ? x : -x);
	return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// Near zero the quotient would cancel, so an odd polynomial (Cephes tanhf) serves there.
static inline float tanh_of(float x)
{
	float a = x < 0.0f ? -x : x;
	if (a < 0.625f) {
		float z = x * x;
		float p = fma(-5.70498872745e-3f, z, 2.06390887954e-2f);
		p = fma(p, z, -5.37397155531e-2f);
		p = fma(p, z, 1.33314422036e-1f);
		p = fma(p, z, -3.33332819422e-1f);
		return fma(p * z, x, x);
	}
	float e = exp_neg(-2.0f * a);
	float r = (1.0f - e) / (1.0f + e);
	return x < 0.0f ? -r : r;
}

// 1 / sqrt(x) by Newton from a first guess in the exponent, because GPUs differ in the last bit of
// theirs. x must be a positive normal number; 0 gives inf, a negative number or a NaN gives NaN.
static inline float rsqrt_of(float x)
{
	if (!(x > 0.0f))
		return x == 0.0f ? as_type<float>(0x7f800000u) : as_type<float>(0x7fc00000u);
	if (x > 3.40282347e38f)
		return 0.0f;
	float y = as_type<float>(0x5f375a86u - (as_type<uint>(x) >> 1));
	float h = x * 0.5f;
	for (uint i = 0; i < 4; i++) {
		float hy = h * y;
		y = y * fma(-hy, y, 1.5f);
	}
	return y;
}

// Sixteen lanes, whatever the vector width: the order of a sum must not depend on it.
#define LANES 16u
#define LANE_VECS (LANES / FVW)

struct lanes {
	fvec v[LANE_VECS];
};

static inline lanes lanes_set(float s)
{
	lanes r;
	for (uint j = 0; j < LANE_VECS; j++)
		r.v[j] = vset(s);
	return r;
}

// n < 16 takes that many and fills the rest.
static inline lanes lanes_load(device const float *p, uint n, float fill)
{
	lanes r = lanes_set(fill);
	if (n >= LANES) {
		for (uint j = 0; j < LANE_VECS; j++)
			r.v[j] = vld(p + j * FVW);
	} else {
		for (uint j = 0; j < LANES; j++)
			if (j < n)
				r.v[j / FVW][j % FVW] = p[j];
	}
	return r;
}

static inline void lanes_store(device float *p, lanes a, uint n)
{
	if (n >= LANES) {
		for (uint j = 0; j < LANE_VECS; j++)
			vst(p + j * FVW, a.v[j]);
	} else {
		for (uint j = 0; j < LANES; j++)
			if (j < n)
				p[j] = a.v[j / FVW][j % FVW];
	}
}

static inline lanes lanes_stored(lanes a, uint store)
{
	for (uint j = 0; j < LANE_VECS; j++)
		a.v[j] = stored(a.v[j], store);
	return a;
}

static inline float lanes_sum(lanes a)
{
	float x[LANES];
	for (uint j = 0; j < LANES; j++)
		x[j] = a.v[j / FVW][j % FVW];
	for (uint h = LANES / 2; h; h /= 2)
		for (uint j = 0; j < h; j++)
			x[j] = x[j] + x[j + h];
	return x[0];
}

static inline float lanes_max(lanes a)
{
	float m = a.v[0][0];
	for (uint j = 1; j < LANES; j++)
		m = max(m, a.v[j / FVW][j % FVW]);
	return m;
}

// Over the threads of a threadgroup: inside a simdgroup by exchange, then through red[], which has
// one float for each simdgroup. Every thread gets the result.
static inline float group_sum(float x, threadgroup float *red, uint tid, uint ntg)
{
	for (uint o = SIMD_WIDTH / 2; o; o /= 2)
		x = x + simd_shuffle_xor(x, (ushort)o);
	if (tid % SIMD_WIDTH == 0)
		red[tid / SIMD_WIDTH] = x;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	x = red[0];
	for (uint i = 1; i < ntg / SIMD_WIDTH; i++)
		x = x + red[i];
	threadgroup_barrier(mem_flags::mem_threadgroup);
	return x;
}

static inline float group_max(float x, threadgroup float *red, uint tid, uint ntg)
{
	for (uint o = SIMD_WIDTH / 2; o; o /= 2)
		x = max(x, simd_shuffle_xor(x, (ushort)o));
	if (tid % SIMD_WIDTH == 0)
		red[tid / SIMD_WIDTH] = x;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	x = red[0];
	for (uint i = 1; i < ntg / SIMD_WIDTH; i++)
		x = max(x, red[i]);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	return x;
}
#endif

/* Conversions by integer code, so that they are the same on every machine. Owns no tensors. */
#include "engine/dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* digits: bits of the significand with the hidden one; low: exponent of the smallest normal. */
static const struct {
	const char *name;
	uint8_t size, digits;
	int16_t low;
	double lowest;
} formats[] = {
	[MLA_BOOL] = {"bool", 1, 0, 0, 0},
	[MLA_I32] = {"int32", 4, 0, 0, INT32_MIN},
	[MLA_F16] = {"float16", 2, 11, -14, -65504.0},
	[MLA_BF16] = {"bfloat16", 2, 8, -126, -0x1.fep127},
	[MLA_F32] = {"float32", 4, 24, -126, -FLT_MAX},
	[MLA_F64] = {"float64", 8, 53, -1022, -DBL_MAX},
};

size_t mla_dtype_size(mla_dtype d)
{
	return formats[d].size;
}

const char *mla_dtype_name(mla_dtype d)
{
	return formats[d].name;
}

mla_dtype mla_dtype_promote(mla_dtype a, mla_dtype b)
{
	if ((a == MLA_F16 && b == MLA_BF16) || (a == MLA_BF16 && b == MLA_F16))
		return MLA_F32;
	return a > b ? a : b;
}

static uint32_t f32_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static float f32_from_bits(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

uint16_t mla_bf16_from_f32(float x)
{
	uint32_t u = f32_bits(x);

	/* The rounding increment would carry a NaN with low payload bits into an infinity. */
	if ((u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

uint16_t mla_f16_from_f32(float x)
{
	uint32_t u = f32_bits(x);
	uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
	uint32_t rest, half;
	int shift = 13;

	u &= 0x7fffffff;
	if (u > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (u >= 0x47800000) /* 2^16 and above, infinity included */
		return (uint16_t)(sign | 0x7c00);
	if (u < 0x33000000) /* below half of the smallest subnormal, 2^-25 */
		return sign;
	if (u < 0x38800000) { /* below 2^-14: a subnormal, in units of 2^-24 */
		shift = 126 - (int)(u >> 23);
		u = (u & 0x7fffff) | 0x800000;
	} else {
		u -= 112u << 23; /* the biases are 127 and 15 */
	}
	rest = u & ((1u << shift) - 1);
	half = 1u << (shift - 1);
	u >>= shift;
	/* A carry out of the significand rightly raises the exponent, up to infinity. */
	if (rest > half || (rest == half && (u & 1)))
		u++;
	return (uint16_t)(sign | u);
}

float mla_f16_to_f32(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
	uint32_t magnitude = bits & 0x7fff;
	float x;

	if (magnitude >= 0x7c00)
		return f32_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
	if (magnitude >= 0x400)
		return f32_from_bits(sign | ((magnitude << 13) + (112u << 23)));
	x = (float)magnitude * 0x1p-24f;
	return sign ? -x : x;
}

double mla_dtype_round(mla_dtype d, double x)
{
	switch (d) {
	case MLA_BOOL:
		return x != 0;
	case MLA_I32:
		if (isnan(x))
			return 0;
		return x <= INT32_MIN ? INT32_MIN : x >= INT32_MAX ? INT32_MAX : trunc(x);
	case MLA_F16:
		return mla_f16_to_f32(mla_f16_from_f32((float)x));
	case MLA_BF16:
		return mla_bf16_to_f32(mla_bf16_from_f32((float)x));
	case MLA_F32:
		return (float)x;
	case MLA_F64:
		break;
	}
	return x;
}

double mla_dtype_lowest(mla_dtype d)
{
	return formats[d].lowest;
}

double mla_dtype_ulp(mla_dtype d, double magnitude)
{
	int exponent;

	if (!mla_dtype_is_float(d))
		return 1;
	if (!isfinite(magnitude))
		return NAN;
	exponent = magnitude == 0 ? formats[d].low : ilogb(magnitude);
	if (exponent < formats[d].low)
		exponent = formats[d].low;
	return ldexp(1, exponent - (formats[d].digits - 1));
}

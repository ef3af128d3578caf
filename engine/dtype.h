/*
 * The number formats of the engine: size, name, promotion, rounding, unit in the last place.
 *
 * Values travel as double inside the engine; every format here embeds in it exactly. A store to a
 * narrower float goes through f32 first, then to nearest even, because that is what a framework
 * that computes in f32 and stores bf16 or f16 does. NaN stays NaN, overflow becomes infinity,
 * subnormal numbers are kept.
 */
#ifndef MLA_ENGINE_DTYPE_H
#define MLA_ENGINE_DTYPE_H

#include "analyzer/base.h"

/* In the order of promotion, but for f16 with bf16, which meet in f32. */
typedef enum { MLA_BOOL, MLA_I32, MLA_F16, MLA_BF16, MLA_F32, MLA_F64 } mla_dtype;

size_t mla_dtype_size(mla_dtype d);      /* bytes */
const char *mla_dtype_name(mla_dtype d); /* "bool", "int32", "float16", "bfloat16", ... */

static inline bool mla_dtype_is_float(mla_dtype d)
{
	return d >= MLA_F16;
}

/* The format in which two arrays meet, as in MLX and PyTorch. */
mla_dtype mla_dtype_promote(mla_dtype a, mla_dtype b);

uint16_t mla_bf16_from_f32(float x);
uint16_t mla_f16_from_f32(float x);
float mla_f16_to_f32(uint16_t bits);

static inline float mla_bf16_to_f32(uint16_t bits)
{
	union {
		uint32_t u;
		float f;
	} x = {(uint32_t)bits << 16};

	return x.f;
}

/*
 * What a store of `x` to `d` leaves. bool: x != 0; i32: truncated, and held at the ends of the
 * range (a NaN gives 0), where C would be undefined.
 */
double mla_dtype_round(mla_dtype d, double x);

/* The most negative finite number of a float format: finfo(dtype).min. */
double mla_dtype_lowest(mla_dtype d);

/*
 * The distance between neighbours of format `d` around |magnitude| (2^-11 for bf16 at 0.1). At 0 it
 * is the smallest subnormal; of a NaN or an infinity it is NaN. 1 for the integers.
 */
double mla_dtype_ulp(mla_dtype d, double magnitude);

#endif

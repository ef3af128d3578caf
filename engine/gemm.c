/*
 * The inner loop of the reference multiplication, in 16-byte vectors spelled out: gcc at -O2 leaves
 * the plain loop scalar. Owns no memory.
 */
#include "engine/gemm.h"

#include <string.h>

typedef float vec_f32 __attribute__((vector_size(16)));
typedef double vec_f64 __attribute__((vector_size(16)));

/* `real` in vectors of `lanes`: 4 rows by 2 vectors, so that 8 sums, 2 b and 1 a stay in registers.
 */
#define TILE(name, real, vec, lanes)                                                    \
	void name(real *c, int64_t pitch, const real *a, const real *b, int64_t k)      \
	{                                                                               \
		vec r0 = {0}, r1 = {0}, r2 = {0}, r3 = {0};                             \
		vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, x, y;                       \
                                                                                        \
		for (int64_t i = 0; i < k; i++, a += MLA_GEMM_ROWS, b += 2 * (lanes)) { \
			memcpy(&x, b, sizeof(x));                                       \
			memcpy(&y, b + (lanes), sizeof(y));                             \
			r0 += a[0] * x;                                                 \
			s0 += a[0] * y;                                                 \
			r1 += a[1] * x;                                                 \
			s1 += a[1] * y;                                                 \
			r2 += a[2] * x;                                                 \
			s2 += a[2] * y;                                                 \
			r3 += a[3] * x;                                                 \
			s3 += a[3] * y;                                                 \
		}                                                                       \
		memcpy(c, &r0, sizeof(r0));                                             \
		memcpy(c + (lanes), &s0, sizeof(s0));                                   \
		memcpy(c + pitch, &r1, sizeof(r1));                                     \
		memcpy(c + pitch + (lanes), &s1, sizeof(s1));                           \
		memcpy(c + 2 * pitch, &r2, sizeof(r2));                                 \
		memcpy(c + 2 * pitch + (lanes), &s2, sizeof(s2));                       \
		memcpy(c + 3 * pitch, &r3, sizeof(r3));                                 \
		memcpy(c + 3 * pitch + (lanes), &s3, sizeof(s3));                       \
	}

TILE(mla_gemm_tile_f32, float, vec_f32, MLA_GEMM_COLUMNS_F32 / 2)
TILE(mla_gemm_tile_f64, double, vec_f64, MLA_GEMM_COLUMNS_F64 / 2)

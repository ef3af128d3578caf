/*
 * The inner loop of the reference multiplication, in vectors spelled out: gcc at -O2 leaves the
 * plain loop scalar. Owns no memory.
 */
#include "engine/gemm.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * One tile function: 4 rows by 2 vectors of `lanes` numbers, so that 8 sums, 2 b and 1 a stay in
 * registers. Vectors never cross a call: their passing depends on the instruction set.
 */
#define TILE(name, attribute, real, lanes)                                               \
	attribute static void name(real *c, int64_t pitch, const real *a, const real *b, \
	                           int64_t k)                                            \
	{                                                                                \
		typedef real vec __attribute__((vector_size((lanes) * sizeof(real))));   \
		vec r0 = {0}, r1 = {0}, r2 = {0}, r3 = {0};                              \
		vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, x, y;                        \
                                                                                         \
		for (int64_t i = 0; i < k; i++, a += MLA_GEMM_ROWS, b += 2 * (lanes)) {  \
			memcpy(&x, b, sizeof(x));                                        \
			memcpy(&y, b + (lanes), sizeof(y));                              \
			r0 += a[0] * x;                                                  \
			s0 += a[0] * y;                                                  \
			r1 += a[1] * x;                                                  \
			s1 += a[1] * y;                                                  \
			r2 += a[2] * x;                                                  \
			s2 += a[2] * y;                                                  \
			r3 += a[3] * x;                                                  \
			s3 += a[3] * y;                                                  \
		}                                                                        \
		memcpy(c, &r0, sizeof(r0));                                              \
		memcpy(c + (lanes), &s0, sizeof(s0));                                    \
		memcpy(c + pitch, &r1, sizeof(r1));                                      \
		memcpy(c + pitch + (lanes), &s1, sizeof(s1));                            \
		memcpy(c + 2 * pitch, &r2, sizeof(r2));                                  \
		memcpy(c + 2 * pitch + (lanes), &s2, sizeof(s2));                        \
		memcpy(c + 3 * pitch, &r3, sizeof(r3));                                  \
		memcpy(c + 3 * pitch + (lanes), &s3, sizeof(s3));                        \
	}

/* Both formats in vectors of `bytes`, and their description. */
#define VARIANT(id, attribute, bytes)                       \
	TILE(tile_f32_##id, attribute, float, (bytes) / 4)  \
	TILE(tile_f64_##id, attribute, double, (bytes) / 8) \
	static const mla_gemm id = {#id, (bytes) / 2, (bytes) / 4, tile_f32_##id, tile_f64_##id};

#define NOTHING
VARIANT(baseline, NOTHING, 16)

#if defined(__x86_64__)
VARIANT(avx2, __attribute__((target("avx2"))), 32)
VARIANT(avx512, __attribute__((target("avx512f"))), 64)

const mla_gemm *mla_gemm_variant(uint32_t i)
{
	const mla_gemm *const all[] = {&avx512, &avx2, &baseline};
	const bool runs[] = {__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx2"),
	                     true};

	for (int v = 0; v < 3; v++)
		if (runs[v] && i-- == 0)
			return all[v];
	return NULL;
}
#else
const mla_gemm *mla_gemm_variant(uint32_t i)
{
	return i == 0 ? &baseline : NULL;
}
#endif

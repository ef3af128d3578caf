/*
 * Dense matrix multiplication of one matrix pair at a time, the engine's reference kernel.
 *
 * c (m x n) = a (m x k) b (k x n), with packed operands. Each element is one chain of k products
 * and sums in order, in f32 or in f64, without contraction: an element does not depend on m, on n
 * or on the vector width, so every variant below gives the same bits.
 */
#ifndef MLA_ENGINE_GEMM_H
#define MLA_ENGINE_GEMM_H

#include <stdint.h>

/* Rows of a tile. Packed a is [k][ROWS], a packed panel of b is [k][columns]. */
enum { MLA_GEMM_ROWS = 4 };

/*
 * A tile is written to c row by row, `pitch` elements apart. Pad with zeros what it has too much.
 */
typedef struct {
	const char *name; /* of the instruction set */
	int64_t columns_f32, columns_f64;
	void (*tile_f32)(float *c, int64_t pitch, const float *a, const float *b, int64_t k);
	void (*tile_f64)(double *c, int64_t pitch, const double *a, const double *b, int64_t k);
} mla_gemm;

/* Variant i of those this machine can run, the widest first; NULL behind the last. */
const mla_gemm *mla_gemm_variant(uint32_t i);

#endif

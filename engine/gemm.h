/*
 * Dense matrix multiplication of one matrix pair at a time, the engine's reference kernel.
 *
 * c (m x n) = a (m x k) b (k x n), with packed operands. Each element is one chain of k products
 * and sums in order, in f32 or in f64, without contraction: an element does not depend on m, on n
 * or on the machine's vector width.
 */
#ifndef MLA_ENGINE_GEMM_H
#define MLA_ENGINE_GEMM_H

#include <stdint.h>

/* Rows and columns of one tile. Packed a is [k][ROWS], a packed panel of b is [k][COLUMNS]. */
enum { MLA_GEMM_ROWS = 4, MLA_GEMM_COLUMNS_F32 = 8, MLA_GEMM_COLUMNS_F64 = 4 };

/* One tile into c, row by row, `pitch` elements apart. Pad with zeros what a tile has too much. */
void mla_gemm_tile_f32(float *c, int64_t pitch, const float *a, const float *b, int64_t k);
void mla_gemm_tile_f64(double *c, int64_t pitch, const double *a, const double *b, int64_t k);

#endif

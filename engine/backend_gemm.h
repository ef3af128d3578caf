/*
 * Matrix multiplication over strided, batched operands: C = alpha A B, f32 accumulation (MLX and
 * PyTorch semantics), rounded on store. Which kernel runs depends on the shapes only, never on the
 * device, so results do not either.
 */
#ifndef MLA_ENGINE_BACKEND_GEMM_H
#define MLA_ENGINE_BACKEND_GEMM_H

#include "engine/backend.h"

/* Element (i, j) of batch (o, b) is at offset + i row + j col + o outer + b inner, in elements. */
typedef struct {
	mla_buffer *buf;
	uint64_t offset;
	uint32_t row, col, outer, inner;
} mla_operand;

typedef struct {
	uint32_t m, n, k;
	uint32_t outer, inner; /* batch sizes; 0 counts as 1 */
	uint32_t b_share; /* inner batches of A and C that use one of B (KV heads); 0 counts as 1 */
	mla_operand a;    /* m x k */
	mla_operand b;    /* k x n */
	mla_operand c;    /* m x n */
	float alpha;
	bool accumulate; /* C = alpha (C + A B) */
	uint32_t store;  /* MLA_STORE_*, engine/kernels/args.h */
} mla_gemm;

/* MLA_ECONFIG when an operand reaches past its buffer, MLA_ELIMIT past 32-bit indexing. */
int mla_gemm_run(mla_backend *be, const mla_gemm *g);

#endif

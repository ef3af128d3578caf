/*
 * Rotary position embedding, as MLX's fast.rope.
 *
 * x [..., positions, width]: of the last axis the first `dims` numbers are rotated in pairs, the
 * rest pass. Pair i of position p is turned by (p + offset) scale base^(-2 i / dims), or by
 * (p + offset) scale / frequencies[i]. Interleaved ("traditional") pairs are numbers 2 i and
 * 2 i + 1; otherwise i and i + dims / 2. Angles and their sine and cosine are rounded to f32 on the
 * way, as there, except in an oracle engine.
 */
#ifndef MLA_ENGINE_ROPE_H
#define MLA_ENGINE_ROPE_H

#include "engine/tensor.h"

typedef struct {
	int64_t dims; /* even, at most the width; 0 rotates nothing */
	bool interleaved;
	double base;                   /* 10000 in most models; not used with frequencies */
	double scale;                  /* 1 but for linear position scaling */
	const mla_tensor *frequencies; /* NULL, or [dims / 2] */
	const mla_tensor *offset;      /* NULL for 0, a number, or [size of x's first axis] */
} mla_rope_options;

/* Stored in the format of x. */
int mla_rope(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_rope_options *options);

#endif

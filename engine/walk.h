/*
 * Going over several strided tensors at once, row by row, and the rows themselves.
 *
 * Shared inside the engine. Operands of fewer dimensions are aligned at the last axis and size 1
 * repeats, as in NumPy; whether the shapes fit must have been checked. Axes that lie behind each
 * other in every operand are joined, so that rows are long wherever they can be.
 */
#ifndef MLA_ENGINE_WALK_H
#define MLA_ENGINE_WALK_H

#include "engine/tensor.h"

enum { MLA_WALK_OPERANDS = 4, MLA_ROW = 512 };

typedef struct {
	int64_t width;                   /* elements of a row; 0 when there is nothing to do */
	int64_t at[MLA_WALK_OPERANDS];   /* where the present row starts, in elements */
	int64_t step[MLA_WALK_OPERANDS]; /* between elements of a row */
	uint32_t operands, outer;
	bool started;
	int64_t shape[MLA_DIMS], index[MLA_DIMS];
	int64_t stride[MLA_WALK_OPERANDS][MLA_DIMS];
} mla_walk;

void mla_walk_start(mla_walk *w, uint32_t ndim, const int64_t *shape, uint32_t operands,
                    const mla_tensor *const *tensors);
bool mla_walk_next(mla_walk *w);

/*
 * Instead of rows of elements: lines along an axis. Each position at[i] + k step[i], k < width, is
 * where a line of operand i starts; the line runs along its own stride of that axis. All operands
 * have the dimensions of the first; sizes along the axis may differ, the others broadcast.
 */
void mla_walk_lines(mla_walk *w, uint32_t axis, uint32_t operands,
                    const mla_tensor *const *tensors);

/* Where line `number`, in row-major order, along the last axis starts. */
int64_t mla_walk_line(const mla_tensor *t, int64_t number);

/* n elements from element `at` of the buffer on, `step` apart. Stores round to the format. */
void mla_row_load(double *dst, const mla_tensor *t, int64_t at, int64_t step, int64_t n);
void mla_row_load_f32(float *dst, const mla_tensor *t, int64_t at, int64_t step, int64_t n);
void mla_row_store(mla_tensor *t, int64_t at, int64_t step, const double *src, int64_t n);
void mla_row_store_f32(mla_tensor *t, int64_t at, int64_t step, const float *src, int64_t n);
/* The operand as the operation sees it: converted to the format in which the operands meet. */
void mla_row_convert(double *row, mla_dtype from, mla_dtype to, int64_t n);

#endif

/*
 * Tensors to buffers of a backend and back. Only engine/device*.c include this.
 *
 * A backend has one buffer for each operand of an operation, kept from call to call and charged to
 * the memory of the engine; everything in it is f32, or a word of 32 bits.
 */
#ifndef MLA_ENGINE_DEVICE_STAGE_H
#define MLA_ENGINE_DEVICE_STAGE_H

#include "engine/backend.h"
#include "engine/device.h"

typedef enum {
	MLA_SLOT_A,
	MLA_SLOT_B,
	MLA_SLOT_C,
	MLA_SLOT_D,
	MLA_SLOT_OUT,
	MLA_DEVICE_SLOTS
} mla_device_slot;

/* A tensor in a buffer. Axes of size 1 and repeated ones have step 0. */
typedef struct {
	mla_buffer *buf;
	uint32_t step[MLA_DIMS];
} mla_staged;

/* The backend to launch on, or NULL: the caller computes, counted under `op`. */
mla_backend *mla_device__begin(mla_engine *e, const char *op, bool takes);
/* Counts a computed operation. */
void mla_device__done(mla_engine *e, const char *op);

/* f32, bf16 or f16. */
static inline bool mla_device__format(mla_dtype d)
{
	return d == MLA_F32 || d == MLA_BF16 || d == MLA_F16;
}
uint32_t mla_device__store(mla_dtype d); /* MLA_STORE_* */

/*
 * Copies a tensor, rounded to `as`, in the order in which it lies in memory: transposed and
 * repeated axes cost nothing. MLA_ELIMIT past 2^32 elements or the memory of the engine.
 */
int mla_device__stage(mla_staged *out, mla_engine *e, mla_device_slot slot, const mla_tensor *t,
                      mla_dtype as);
/* In row-major order, repeated axes written out. */
int mla_device__stage_dense(mla_buffer **out, mla_engine *e, mla_device_slot slot,
                            const mla_tensor *t);
/* The same for int32, bit by bit. */
int mla_device__stage_words(mla_buffer **out, mla_engine *e, mla_device_slot slot,
                            const mla_tensor *t);
/* Room for results, contents undefined. */
int mla_device__room(mla_buffer **out, mla_engine *e, mla_device_slot slot, uint64_t elements);
/* Waits, and copies out->count results in row-major order. */
int mla_device__fetch(mla_engine *e, mla_tensor *out, mla_buffer *from);

/* The axes of a shape, outermost first, with those joined that lie behind each other everywhere. */
enum { MLA_DEVICE_OPERANDS = 4 };
typedef struct {
	uint32_t n, size[MLA_DIMS];
	uint32_t step[MLA_DEVICE_OPERANDS][MLA_DIMS];
} mla_device_axes;

/*
 * Of the first `axes` axes of `shape`; operand i (tensor and where it is) may have fewer axes in
 * all, aligned at the last of ndim. staged[i] NULL: row-major over all of `shape`.
 */
void mla_device__axes(mla_device_axes *out, uint32_t axes, uint32_t ndim, const int64_t *shape,
                      uint32_t operands, const mla_tensor *const *tensors,
                      const mla_staged *const *staged);
/* Position `i` of the first n axes: offsets of the operands, in elements. */
void mla_device__at(uint64_t at[MLA_DEVICE_OPERANDS], const mla_device_axes *x, uint32_t n,
                    uint64_t i);

#endif

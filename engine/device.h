/*
 * Where a tensor operation meets the kernels. An engine with a backend asks here first; the code of
 * the operation itself is the f64 oracle, and what serves where no kernel fits.
 *
 * Each mla_device_ operation returns 0 when the kernels computed `out`, 1 when the caller has to
 * (there is no backend, or no kernel takes these formats, shapes or values), or a negative code.
 * Both are counted (mla_uses). `out` is new, contiguous, and has its format: shapes were checked.
 * Kernels compute in f32 and round to the format of `out` on store.
 */
#ifndef MLA_ENGINE_DEVICE_H
#define MLA_ENGINE_DEVICE_H

#include "engine/elementwise.h"
#include "engine/quant.h"

typedef struct mla_device mla_device;

mla_device *mla_device_new(mla_backend *backend);
void mla_device_free(mla_device *d); /* NULL is fine */
const mla_uses *mla_device_uses(const mla_device *d);

/* Counts an operation on `t` that has no kernel; returns 1. */
int mla_device_none(mla_engine *e, const mla_tensor *t, const char *op);

/* device_matmul.c: a @ b, and x @ w with the codes as they are */
int mla_device_matmul(mla_engine *e, mla_tensor *out, const mla_tensor *a, const mla_tensor *b);
int mla_device_quantised(mla_engine *e, mla_tensor *out, const mla_tensor *x,
                         const mla_quantised *w, bool transpose);

/* device_elementwise.c; operands are taken in the format `meet` */
int mla_device_binary(mla_engine *e, mla_tensor *out, mla_binary op, const mla_tensor *a,
                      const mla_tensor *b, mla_dtype meet, const char *name);
int mla_device_unary(mla_engine *e, mla_tensor *out, mla_unary op, const mla_tensor *a,
                     const char *name);
int mla_device_where(mla_engine *e, mla_tensor *out, const mla_tensor *condition,
                     const mla_tensor *a, const mla_tensor *b);

/* device_rows.c: kernels go along the last axis */
typedef enum { MLA_DEVICE_SUM, MLA_DEVICE_MEAN, MLA_DEVICE_MAX, MLA_DEVICE_MIN } mla_device_sum;

int mla_device_softmax(mla_engine *e, mla_tensor *out, const mla_tensor *t, uint32_t axis);
int mla_device_norm(mla_engine *e, mla_tensor *out, const mla_tensor *x, const mla_tensor *weight,
                    const mla_tensor *bias, double epsilon, bool centre, const char *name);
/* lines [..., n] to out [...] */
int mla_device_reduce(mla_engine *e, mla_tensor *out, mla_device_sum op, const mla_tensor *lines,
                      const char *name);

typedef struct {
	int64_t dims;
	bool interleaved;
	double scale;
	const double *speed;      /* [dims / 2]: radians of a pair at position 1, each an f32 */
	const mla_tensor *offset; /* as in mla_rope_options */
} mla_device_rotation;

int mla_device_rope(mla_engine *e, mla_tensor *out, const mla_tensor *x,
                    const mla_device_rotation *r);

/* device_index.c: along `axis`; positions that do not exist are left to the caller to refuse */
int mla_device_take(mla_engine *e, mla_tensor *out, const mla_tensor *t, const mla_tensor *at,
                    uint32_t axis);
/* into `out`, which holds the values that stay; at and values have one shape */
int mla_device_put(mla_engine *e, mla_tensor *out, const mla_tensor *at, const mla_tensor *values,
                   uint32_t axis);
/* positions of mla_argpartition, kth counted from the start */
int mla_device_partition(mla_engine *e, mla_tensor *out, const mla_tensor *t, uint32_t axis,
                         int64_t kth);

/* device_attention.c: arguments of mla_attention, in one kernel; scores stay f32 */
int mla_device_attention(mla_engine *e, mla_tensor *out, const mla_tensor *q, const mla_tensor *k,
                         const mla_tensor *v, double scale, const mla_tensor *mask);

#endif

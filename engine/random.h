/*
 * Numbers that are the same on every machine: a counter through SplitMix64's finaliser (Steele,
 * Lea, Flood, "Fast splittable pseudorandom number generators", 2014), integers until the last
 * exact step, and no function of libm. Not for secrets.
 */
#ifndef MLA_ENGINE_RANDOM_H
#define MLA_ENGINE_RANDOM_H

#include "engine/tensor.h"

/* A stream is independent of every other pair of seed and stream. */
typedef struct {
	uint64_t state;
} mla_random;

mla_random mla_random_stream(uint64_t seed, uint64_t stream);
uint64_t mla_random_u64(mla_random *r);
double mla_random_uniform(mla_random *r); /* [0, 1), a multiple of 2^-53 */
/* Mean 0, deviation 1, within +-6: a sum of twelve uniform numbers, which needs no logarithm. */
double mla_random_normal(mla_random *r);

/*
 * New tensors in row-major order of drawing. Values are rounded to `grid` and then stored as `d`,
 * so that an f64 and a bf16 engine can be given the very same numbers.
 */
int mla_random_normals(mla_tensor **out, mla_engine *e, mla_dtype d, mla_dtype grid, uint32_t ndim,
                       const int64_t *shape, mla_random *r, double deviation);
int mla_random_uniforms(mla_tensor **out, mla_engine *e, mla_dtype d, mla_dtype grid, uint32_t ndim,
                        const int64_t *shape, mla_random *r, double low, double high);

#endif

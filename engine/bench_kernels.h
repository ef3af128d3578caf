/*
 * The device of a bench: the engine's kernels on a backend, the same inputs for both sides.
 * Attention is one layer's, from the queries of each head to its outputs; projections before and
 * after it, the mask's making and the indexer are not in it. Pooling is that of a sparse indexer:
 * gated windows of MLA_BENCH_POOL_WINDOW rows of MLA_BENCH_POOL_DIMS columns.
 */
#ifndef MLA_ENGINE_BENCH_KERNELS_H
#define MLA_ENGINE_BENCH_KERNELS_H

#include "engine/backend.h"
#include "engine/bench.h"

enum { MLA_BENCH_POOL_WINDOW = 4, MLA_BENCH_POOL_DIMS = 128 };

typedef struct mla_bench_kernels mla_bench_kernels;

/*
 * Checks every point before anything is allocated: MLA_ELIMIT says which one needs how much more
 * than `max_bytes`, which must be the backend's limit. `be` and `spec` must outlive the result.
 */
int mla_bench_kernels_new(mla_bench_kernels **out, mla_backend *be, const mla_bench_spec *spec,
                          const mla_bench_point *points, uint32_t n, uint64_t max_bytes);
void mla_bench_kernels_free(mla_bench_kernels *k); /* NULL is fine */

mla_bench_device mla_bench_kernels_device(mla_bench_kernels *k);

#endif

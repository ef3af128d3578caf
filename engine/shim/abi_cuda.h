/* What generated CUDA code and its host share, beside abi.h. */
#ifndef MLA_ENGINE_SHIM_ABI_CUDA_H
#define MLA_ENGINE_SHIM_ABI_CUDA_H

#include "engine/shim/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	void *buf[MLA_KERNEL_BUFFERS];
} mla_cuda_call;

/* __global__ function(mla_cuda_call, argument struct) */
typedef struct {
	const char *name;
	unsigned n_buffers, args_size;
	const void *function;
} mla_cuda_kernel;

extern const mla_cuda_kernel *const mla_cuda_kernels[]; /* generated; tables end with name NULL */

/* The runtime behind a C face (engine/backend_cuda.cu). NULL is success, else a message. */
const char *mla_cuda_open(char *name, unsigned size);
const char *mla_cuda_alloc(void **out, unsigned long long bytes); /* managed, zeroed */
void mla_cuda_free(void *p);
const char *mla_cuda_launch(const mla_cuda_kernel *k, mla_cuda_call call, const void *args,
                            const unsigned grid[3], unsigned threads, unsigned group_bytes);
const char *mla_cuda_sync(void);

#ifdef __cplusplus
}
#endif

#endif

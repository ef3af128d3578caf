// The CUDA runtime calls behind plain C functions; everything else is in backend_cuda.c. Built by
// `make CUDA=1` only.
#include "engine/shim/abi_cuda.h"

#include <cuda_runtime.h>
#include <stdio.h>

static const char *text(cudaError_t e)
{
	return e == cudaSuccess ? nullptr : cudaGetErrorString(e);
}

const char *mla_cuda_open(char *name, unsigned size)
{
	cudaDeviceProp p;
	cudaError_t e = cudaGetDeviceProperties(&p, 0);

	if (e != cudaSuccess)
		return text(e);
	snprintf(name, size, "%s", p.name);
	return p.warpSize == MLA_KERNEL_SIMD ? nullptr : "unexpected warp size";
}

const char *mla_cuda_alloc(void **out, unsigned long long bytes)
{
	cudaError_t e = cudaMallocManaged(out, (size_t)bytes);

	if (e == cudaSuccess)
		e = cudaMemset(*out, 0, (size_t)bytes);
	if (e == cudaSuccess)
		e = cudaDeviceSynchronize();
	return text(e);
}

void mla_cuda_free(void *p)
{
	(void)cudaFree(p);
}

const char *mla_cuda_launch(const mla_cuda_kernel *k, mla_cuda_call call, const void *args,
			    const unsigned grid[3], unsigned threads, unsigned group_bytes)
{
	void *params[2] = {&call, const_cast<void *>(args)};
	dim3 g(grid[0], grid[1], grid[2]);

	return text(cudaLaunchKernel(k->function, g, dim3(threads), params, group_bytes, nullptr));
}

const char *mla_cuda_sync(void)
{
	return text(cudaDeviceSynchronize());
}

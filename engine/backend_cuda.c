/*
 * CUDA, opt-in (`make CUDA=1`): the same kernels through nvcc, managed memory. Here to check that
 * a GPU computes the same bits, not to be fast.
 */
#include "engine/backend_impl.h"

#ifdef MLA_CUDA

#include <stdio.h>
#include <string.h>

#include "engine/shim/abi_cuda.h"

enum { GRID_YZ_MAX = 65535 }; /* CUDA's limit for the second and third dimension */

static int failed(const char *what, const char *why)
{
	return why ? mla_error(MLA_EIO, "CUDA: %s: %s", what, why) : 0;
}

static int cuda_open(mla_backend *b, const mla_backend_options *o)
{
	char name[40];

	(void)o;
	b->fvw = 4;
	b->tile_m = 4;
	if (failed("no device", mla_cuda_open(name, sizeof name)) < 0)
		return MLA_EIO;
	snprintf(b->label, sizeof b->label, "cuda (%s)", name);
	return 0;
}

static void cuda_close(mla_backend *b)
{
	(void)b;
}

static int cuda_alloc(mla_backend *b, mla_buffer *m, uint64_t bytes)
{
	const char *why = mla_cuda_alloc(&m->data, bytes);

	(void)b;
	return why ? mla_error(MLA_ELIMIT, "CUDA: no memory for a buffer of %llu bytes: %s",
	                       (unsigned long long)bytes, why)
	           : 0;
}

static void cuda_release(mla_backend *b, mla_buffer *m)
{
	(void)b;
	(void)mla_cuda_sync();
	mla_cuda_free(m->data);
}

static int cuda_find(mla_kernel_info *out, const void **kernel, mla_backend *b, const char *name)
{
	(void)b;
	for (const mla_cuda_kernel *const *t = mla_cuda_kernels; *t; t++)
		for (const mla_cuda_kernel *k = *t; k->name; k++)
			if (!strcmp(k->name, name)) {
				*kernel = k;
				*out = (mla_kernel_info){k->n_buffers, k->args_size, 1024};
				return 0;
			}
	return mla_error(MLA_ECONFIG, "no kernel named %s", name);
}

static int cuda_run(mla_backend *b, const void *kernel, const mla_launch *l)
{
	unsigned grid[3] = {l->grid[0], l->grid[1], l->grid[2]};
	mla_cuda_call call = {{NULL}};

	(void)b;
	if (l->threads)
		grid[0] = (unsigned)(((uint64_t)grid[0] + l->group - 1) / l->group);
	if (grid[1] > GRID_YZ_MAX || grid[2] > GRID_YZ_MAX)
		return mla_error(MLA_ELIMIT, "kernel %s: the grid is too large for CUDA",
		                 l->kernel);
	for (unsigned i = 0; i < l->n_buffers; i++)
		call.buf[i] = (char *)l->buffer[i]->data + l->offset[i];
	return failed(l->kernel,
	              mla_cuda_launch(kernel, call, l->args, grid, l->group, l->group_bytes));
}

static int cuda_sync(mla_backend *b)
{
	(void)b;
	return failed("a kernel failed", mla_cuda_sync());
}

const mla_backend_ops mla_backend_cuda = {
	.open = cuda_open,
	.close = cuda_close,
	.alloc = cuda_alloc,
	.release = cuda_release,
	.find = cuda_find,
	.run = cuda_run,
	.sync = cuda_sync,
};

#else

const mla_backend_ops mla_backend_cuda = {.open = NULL};

#endif

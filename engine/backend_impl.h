/* What a backend implements. Only engine/backend_*.c include this. */
#ifndef MLA_ENGINE_BACKEND_IMPL_H
#define MLA_ENGINE_BACKEND_IMPL_H

#include "engine/backend.h"
#include "engine/shim/abi.h"

/* What the launch check needs to know about a kernel, whoever runs it. */
typedef struct {
	unsigned n_buffers; /* with the argument struct */
	unsigned args_size;
	unsigned max_group; /* threads per threadgroup the device allows for it */
} mla_kernel_info;

typedef struct {
	int (*open)(mla_backend *b,
	            const mla_backend_options *o); /* sets state, fvw, tile_m, label */
	void (*close)(mla_backend *b);
	int (*alloc)(mla_backend *b, mla_buffer *m, uint64_t bytes); /* zeroed */
	void (*release)(mla_backend *b, mla_buffer *m);
	int (*find)(mla_kernel_info *out, const void **kernel, mla_backend *b, const char *name);
	int (*run)(mla_backend *b, const void *kernel, const mla_launch *l);
	int (*sync)(mla_backend *b);
} mla_backend_ops;

enum { MLA_SCRATCH_SLOTS = 8 };

struct mla_backend {
	const mla_backend_ops *ops;
	void *state;
	char label[64];
	char note[256];
	unsigned fvw, tile_m;
	uint64_t max_bytes, used;
	mla_buffer *scratch[MLA_SCRATCH_SLOTS];
};

struct mla_buffer {
	mla_backend *backend;
	void *data;   /* host view */
	void *handle; /* the device's own */
	uint64_t size;
};

extern const mla_backend_ops mla_backend_cpu, mla_backend_strict;
/* NULL-ops (open is NULL) where the build has none. */
extern const mla_backend_ops mla_backend_metal, mla_backend_cuda;

/*
 * A buffer on loan that the backend keeps from call to call, at least `bytes` long, contents
 * undefined: packed panels and partial results would otherwise be mapped anew at every launch.
 */
int mla_backend_scratch(mla_buffer **out, mla_backend *b, unsigned slot, uint64_t bytes);

/* Shared by the two CPU runners. */
/* *kernel: its mla_kernel_entry. */
int mla_kernels_find(mla_kernel_info *out, const void **kernel, const mla_kernel_isa *isa,
                     const char *name);
const mla_kernel_isa *mla_kernels_isa(const char *name); /* NULL when not built */
int mla_host_alloc(mla_backend *b, mla_buffer *m, uint64_t bytes);
void mla_host_release(mla_backend *b, mla_buffer *m);
void mla_call_bind(mla_kernel_call *c, const mla_launch *l);

#endif

/*
 * Running kernels: the one boundary between the engine and a device. A backend owns memory and
 * executes named kernels over it; what the kernels compute is said in kernels/args.h and in the
 * wrappers (backend_gemm.h, backend_ops.h, backend_mla.h). Nothing here knows tensors or models.
 *
 * Buffers hold f32, u32/i32 or u8; a bf16 or f16 value is the f32 it stands for, rounded on store.
 * Kernels index with 32 bits, so a buffer holds fewer than 2^32 elements.
 */
#ifndef MLA_ENGINE_BACKEND_H
#define MLA_ENGINE_BACKEND_H

#include "analyzer/base.h"

typedef struct mla_backend mla_backend;
typedef struct mla_buffer mla_buffer;

typedef enum { MLA_ORDER_FORWARD, MLA_ORDER_REVERSE, MLA_ORDER_RANDOM } mla_thread_order;

/* Zero everywhere is the default. */
typedef struct {
	unsigned threads; /* cpu: workers, 0 = one for each processor */
	const char
		*isa; /* cpu: "avx512", "avx2", "base", "neon"; NULL = the best this machine has */
	uint64_t max_bytes;     /* all buffers together; 0 = 4 GiB */
	mla_thread_order order; /* cpu-strict */
	unsigned group; /* cpu-strict: threads per threadgroup, 0 = what the launch asks for */
	const void *skip_barrier; /* cpu-strict: an mla_barrier_site to ignore (mutation test) */
	const char *source;       /* metal: other kernel text than the built-in one (tests) */
} mla_backend_options;

/*
 * name: "cpu", "cpu-strict", "metal", "cuda", or "auto" (metal where it works, else cpu).
 * MLA_ECONFIG for a name or an instruction set this build or machine does not have; MLA_EIO when
 * the device refuses. Only "auto" falls back, and mla_backend_note() then says why.
 */
int mla_backend_open(mla_backend **out, const char *name, const mla_backend_options *options);
void mla_backend_free(mla_backend *b); /* all buffers must be freed before; NULL is fine */

const char *mla_backend_name(const mla_backend *b); /* "cpu (avx2)" */
const char *mla_backend_note(const mla_backend *b); /* why auto fell back, or "" */
unsigned mla_backend_fvw(const mla_backend *b);     /* floats in a vector: 4, 8 or 16 */
unsigned mla_backend_tile_m(const mla_backend *b);  /* rows of the kernel "gemm" */
bool mla_backend_serial(const mla_backend *b); /* a threadgroup is one thread: few, large tasks */

/* Zeroed. MLA_ELIMIT over max_bytes, past 2^32 elements of 4 bytes, or when memory runs out. */
int mla_buffer_new(mla_buffer **out, mla_backend *b, uint64_t bytes);
void mla_buffer_free(mla_buffer *m); /* NULL is fine */
void *mla_buffer_data(
	mla_buffer *m); /* host view; valid between launches, after mla_backend_sync */
uint64_t mla_buffer_size(const mla_buffer *m);

enum { MLA_LAUNCH_BUFFERS = 11 };

typedef struct {
	const char *kernel;
	mla_buffer *buffer[MLA_LAUNCH_BUFFERS]; /* [[buffer(i)]] */
	uint64_t offset[MLA_LAUNCH_BUFFERS];    /* bytes */
	unsigned n_buffers;
	const void *args; /* bound at index n_buffers */
	uint32_t args_size;
	bool threads;         /* grid counts independent threads, else threadgroups */
	uint32_t grid[3];     /* an empty grid runs nothing */
	uint32_t group;       /* threads per threadgroup: 1, or a multiple of 32 up to 1024 */
	uint32_t group_bytes; /* length of [[threadgroup(0)]], a multiple of 16 up to 32 KiB */
	uint32_t block[2];    /* cpu: threadgroups of x and y a worker takes at once; 0 = 1 */
} mla_launch;

/* Launches on one backend run in order. MLA_ECONFIG names what is wrong with the launch. */
int mla_backend_launch(mla_backend *b, const mla_launch *l);
int mla_backend_sync(mla_backend *b); /* waits; a device error surfaces here */

#endif

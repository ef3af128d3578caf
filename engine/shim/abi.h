/*
 * The contract between generated kernel code and the hosts that run it: what a call carries and
 * what a table of kernels says. C and C++; no policy here.
 */
#ifndef MLA_ENGINE_SHIM_ABI_H
#define MLA_ENGINE_SHIM_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MLA_KERNEL_BUFFERS = 12,            /* [[buffer(i)]], the argument struct included */
	MLA_KERNEL_GROUP_BYTES = 32 * 1024, /* threadgroup memory of every Apple GPU */
	MLA_KERNEL_SIMD = 32,               /* threads of a simdgroup on Apple and NVIDIA GPUs */
};

typedef struct {
	void *buf[MLA_KERNEL_BUFFERS];
	char *group;  /* [[threadgroup(0)]] */
	unsigned ntg; /* threads per threadgroup; 1 in the fast build */
} mla_kernel_call;

/* One threadgroup_barrier in the source; strict mode can be told to ignore it (mutation test). */
typedef struct {
	const char *file;
	unsigned line;
} mla_barrier_site;

typedef struct {
	const char *name;
	unsigned n_buffers; /* [[buffer]] arguments; the last one is the argument struct */
	unsigned args_size; /* sizeof that struct */
	/*
	 * Fast: whole threadgroups of one thread; y outside, x inside, so that the rows of A stay
	 * in the first-level cache while B passes (5 to 10 % faster than the other way round).
	 */
	void (*fast)(const mla_kernel_call *c, unsigned x0, unsigned x1, unsigned y0, unsigned y1,
	             unsigned z);
	/* Strict: one thread of one threadgroup. */
	void (*strict)(const mla_kernel_call *c, unsigned x, unsigned y, unsigned z, unsigned tid);
} mla_kernel_entry;

/* The kernels of one .metal file, built for one instruction set. */
typedef struct {
	unsigned fvw;    /* floats in an fvec */
	unsigned tile_m; /* rows of the matrix tile */
	unsigned n;
	const mla_kernel_entry *kernel;
	unsigned n_sites; /* strict build only */
	const mla_barrier_site *site;
} mla_kernel_table;

/* All files built for one instruction set; the registry is generated, best set first. */
typedef struct {
	const char *isa;                       /* "avx512", "avx2", "base", "neon", "strict" */
	const mla_kernel_table *const *tables; /* NULL-terminated */
} mla_kernel_isa;

extern const mla_kernel_isa mla_kernel_isas[]; /* ends with isa NULL */

/* Strict mode calls these; engine/backend_strict.c has them. */
void mla_strict_barrier(const mla_barrier_site *site);
float mla_strict_shuffle_xor(float x, unsigned mask);

#ifdef __cplusplus
}
#endif

#endif

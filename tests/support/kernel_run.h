/*
 * A run of kernels against f64 oracles. A case makes inputs, launches, and compares; what it wrote
 * is also hashed, so that two backends can be compared bit by bit. Inputs come from integers only,
 * the same on every machine.
 */
#ifndef MLA_TESTS_KERNEL_RUN_H
#define MLA_TESTS_KERNEL_RUN_H

#include "engine/backend.h"

typedef struct {
	mla_backend *be;
	const char *name;
	uint64_t random;
	double worst;    /* largest error so far, in units of the tolerance; above 1 is a failure */
	char where[160]; /* what was worst */
	uint64_t hash;   /* FNV-1a of every output */
	bool quiet;      /* mutation test: a kernel error counts as a difference */
} kernel_run;

typedef struct {
	const char *name;
	void (*run)(kernel_run *r);
	bool reduces;  /* sums across threads: bits depend on the threads of a threadgroup */
	bool barriers; /* has any, so strict mode could notice a missing one */
} kernel_case;

extern const kernel_case gemm_cases[], row_cases[], op_cases[], attend_cases[]; /* name NULL ends */
const kernel_case *kernel_case_at(unsigned i); /* all of them; NULL past the last */

/* Runs one case from its fixed seed. */
void kernel_run_case(kernel_run *r, mla_backend *be, const kernel_case *c);

/* f32 against 1e-5 of the largest reference, a rounded store against 2^-6 of it (2^-9 for f16). */
double kernel_tolerance(uint32_t store);

float kernel_random(kernel_run *r); /* in [-1, 1) */
uint32_t kernel_below(kernel_run *r, uint32_t n);

/* Aborts the test program on failure: inputs are never at fault. */
mla_buffer *kernel_buffer(kernel_run *r, uint64_t n);             /* n elements of 4 bytes, NaN */
mla_buffer *kernel_input(kernel_run *r, uint64_t n, float scale); /* random in [-scale, scale) */
float *kernel_floats(mla_buffer *b);
int32_t *kernel_ints(mla_buffer *b);

/* error < 0 fails the case with the last message. Returns error < 0. */
bool kernel_failed(kernel_run *r, int error);

/* got[0..n) against the reference; both NaN agree. Adds to the hash. */
void kernel_expect(kernel_run *r, const char *what, mla_buffer *got, const double *want, uint64_t n,
                   double tolerance);
void kernel_expect_ints(kernel_run *r, const char *what, mla_buffer *got, const int32_t *want,
                        uint64_t n);

#endif

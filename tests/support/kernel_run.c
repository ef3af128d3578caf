/* The common part of the kernel cases: random numbers, buffers, comparison and hash. */
#include "tests/support/kernel_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/args.h"

const kernel_case *kernel_case_at(unsigned i)
{
	const kernel_case *const lists[] = {gemm_cases, row_cases, op_cases, attend_cases};

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (const kernel_case *c = lists[k]; c->name; c++)
			if (i-- == 0)
				return c;
	return NULL;
}

void kernel_run_case(kernel_run *r, mla_backend *be, const kernel_case *c)
{
	bool quiet = r->quiet;

	*r = (kernel_run){.be = be, .name = c->name, .random = 88172645463325252u, .quiet = quiet};
	r->hash = 14695981039346656037u;
	c->run(r);
}

double kernel_tolerance(uint32_t store)
{
	return store == MLA_STORE_BF16 ? 0x1p-6 : store == MLA_STORE_F16 ? 0x1p-9 : 1e-5;
}

static uint64_t next(kernel_run *r)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return r->random;
}

float kernel_random(kernel_run *r)
{
	return (float)(int32_t)((next(r) >> 40) - (1 << 23)) * 0x1p-23f;
}

uint32_t kernel_below(kernel_run *r, uint32_t n)
{
	return (uint32_t)((next(r) >> 33) % n);
}

mla_buffer *kernel_buffer(kernel_run *r, uint64_t n)
{
	mla_buffer *b;

	if (mla_buffer_new(&b, r->be, n * 4) < 0) {
		fprintf(stderr, "%s: %s\n", r->name, mla_error_last());
		abort();
	}
	memset(mla_buffer_data(b), 0xff, n * 4);
	return b;
}

mla_buffer *kernel_input(kernel_run *r, uint64_t n, float scale)
{
	mla_buffer *b = kernel_buffer(r, n);
	float *p = kernel_floats(b);

	for (uint64_t i = 0; i < n; i++)
		p[i] = kernel_random(r) * scale;
	return b;
}

float *kernel_floats(mla_buffer *b)
{
	return mla_buffer_data(b);
}

int32_t *kernel_ints(mla_buffer *b)
{
	return mla_buffer_data(b);
}

static void fail(kernel_run *r, double by, const char *what, const char *why)
{
	if (by > r->worst) {
		r->worst = by;
		snprintf(r->where, sizeof r->where, "%s: %s", what, why);
	}
}

bool kernel_failed(kernel_run *r, int error)
{
	if (error < 0)
		fail(r, INFINITY, "launch", mla_error_last());
	return error < 0;
}

static void hash(kernel_run *r, mla_buffer *b, uint64_t n)
{
	const uint32_t *p = mla_buffer_data(b);

	/* Which NaN it is says nothing. */
	for (uint64_t i = 0; i < n; i++)
		r->hash = (r->hash ^ ((p[i] & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : p[i])) *
		          1099511628211u;
}

void kernel_expect(kernel_run *r, const char *what, mla_buffer *got, const double *want, uint64_t n,
                   double tolerance)
{
	const float *p = kernel_floats(got);
	double top = 0;
	char why[96];

	if (kernel_failed(r, mla_backend_sync(r->be)))
		return;
	for (uint64_t i = 0; i < n; i++)
		if (isfinite(want[i]))
			top = fmax(top, fabs(want[i]));
	for (uint64_t i = 0; i < n; i++) {
		double d = fabs(p[i] - want[i]);

		if ((isnan(want[i]) && isnan(p[i])) || (isinf(want[i]) && p[i] == want[i]) ||
		    d <= tolerance * top * 1e-3)
			continue;
		d = isnan(d) ? INFINITY : top > 0 ? d / (tolerance * top) : INFINITY;
		if (d > r->worst) {
			snprintf(why, sizeof why, "element %llu is %.9g, not %.9g",
			         (unsigned long long)i, p[i], want[i]);
			fail(r, d, what, why);
		}
	}
	hash(r, got, n);
}

void kernel_expect_ints(kernel_run *r, const char *what, mla_buffer *got, const int32_t *want,
                        uint64_t n)
{
	const int32_t *p = kernel_ints(got);
	char why[96];

	if (kernel_failed(r, mla_backend_sync(r->be)))
		return;
	for (uint64_t i = 0; i < n; i++)
		if (p[i] != want[i]) {
			snprintf(why, sizeof why, "element %llu is %d, not %d",
			         (unsigned long long)i, p[i], want[i]);
			fail(r, INFINITY, what, why);
		}
	hash(r, got, n);
}

/* Elementwise operations, reductions, indexing, top-k and pooling against double. */
#include "tests/support/kernel_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_ops.h"

static double binary_want(uint32_t op, double a, double b)
{
	switch (op) {
	case MLA_ADD:
		return a + b;
	case MLA_SUB:
		return a - b;
	case MLA_MUL:
		return a * b;
	case MLA_DIV:
		return a / b;
	case MLA_MAX:
		return a > b ? a : b;
	case MLA_MIN:
		return a < b ? a : b;
	case MLA_EQ:
		return a == b;
	case MLA_NE:
		return a != b;
	case MLA_LT:
		return a < b;
	case MLA_LE:
		return a <= b;
	case MLA_GT:
		return a > b;
	case MLA_GE:
		return a >= b;
	case MLA_AND:
		return a != 0 && b != 0;
	default:
		return a != 0 || b != 0;
	}
}

static double unary_want(uint32_t op, double a)
{
	switch (op) {
	case MLA_NEG:
		return -a;
	case MLA_ABS:
		return fabs(a);
	case MLA_SQUARE:
		return a * a;
	case MLA_SQRT:
		return sqrt(a);
	case MLA_RSQRT:
		return 1 / sqrt(a);
	case MLA_RECIPROCAL:
		return 1 / a;
	case MLA_EXP:
		return exp(a);
	case MLA_SIGMOID:
		return 1 / (1 + exp(-a));
	case MLA_SILU:
		return a / (1 + exp(-a));
	case MLA_RELU:
		return a > 0 ? a : 0;
	case MLA_TANH:
		return tanh(a);
	case MLA_FLOOR:
		return floor(a);
	case MLA_NOT:
		return a == 0;
	default:
		return a;
	}
}

enum { N0 = 2, N1 = 3, N2 = 131 };
static const uint32_t shape[3] = {N0, N1, N2};
static const uint32_t dense[3] = {N1 * N2, N2, 1};
/* a is dense, b is broadcast along the middle, c along the last. */
static const uint32_t middle[3] = {N2, 0, 1}, last[3] = {N1, 1, 0};

/* Small integers among the values, so that comparisons and logic see equality and zero. */
static mla_view operand(kernel_run *r, uint64_t n, const uint32_t step[3])
{
	mla_view v = {kernel_input(r, n, 3.0f), 0, {step[0], step[1], step[2]}};

	for (uint64_t i = 0; i < n; i += 3)
		kernel_floats(v.buf)[i] = (float)kernel_below(r, 3);
	return v;
}

static uint64_t index_of(const mla_view *v, uint64_t i)
{
	return i / N2 / N1 * v->step[0] + i / N2 % N1 * v->step[1] + i % N2 * v->step[2];
}

static void binaries(kernel_run *r)
{
	mla_view a = operand(r, N0 * N1 * N2, dense), b = operand(r, N0 * N2, middle), y = {0};
	double want[N0 * N1 * N2];

	for (uint32_t op = 0; op < MLA_BINARY_N; op++)
		for (uint32_t store = 0; store < 3; store++) {
			char what[32];

			y.buf = kernel_buffer(r, N0 * N1 * N2);
			for (uint64_t i = 0; i < N0 * N1 * N2; i++) {
				double q = kernel_floats(b.buf)[index_of(&b, i)];

				want[i] = binary_want(op, kernel_floats(a.buf)[i], q);
				/* A quotient by almost zero would set the scale for all the others.
				 */
				if (op == MLA_DIV && fabs(q) < 0.01)
					kernel_floats(b.buf)[index_of(&b, i)] = 1.0f,
									  want[i] = kernel_floats(
										  a.buf)[i];
			}
			snprintf(what, sizeof what, "binary %u store %u", op, store);
			if (!kernel_failed(r, mla_binary_run(r->be, y, a, b, op, shape, store)))
				kernel_expect(r, what, y.buf, want, N0 * N1 * N2,
				              kernel_tolerance(store));
			mla_buffer_free(y.buf);
		}
	mla_buffer_free(a.buf);
	mla_buffer_free(b.buf);
}

static void unaries(kernel_run *r)
{
	mla_view a = operand(r, N0 * N1, last), y = {0};
	double want[N0 * N1 * N2];

	for (uint32_t op = 0; op < MLA_UNARY_N; op++) {
		bool positive = op == MLA_SQRT || op == MLA_RSQRT || op == MLA_RECIPROCAL;
		mla_view wide = operand(r, N0 * N1 * N2, dense);
		mla_view *in = op % 2 ? &a : &wide;
		char what[32];

		y.buf = kernel_buffer(r, N0 * N1 * N2);
		for (uint64_t i = 0; i < N0 * N1 * N2; i++) {
			float *p = &kernel_floats(in->buf)[index_of(in, i)];

			if (positive)
				*p = fabsf(*p) < 0.1f ? 0.1f : fabsf(*p);
			want[i] = unary_want(op, *p);
		}
		snprintf(what, sizeof what, "unary %u", op);
		if (!kernel_failed(r, mla_unary_run(r->be, y, *in, op, shape, 0)))
			kernel_expect(r, what, y.buf, want, N0 * N1 * N2, kernel_tolerance(0));
		mla_buffer_free(y.buf);
		mla_buffer_free(wide.buf);
	}
	mla_buffer_free(a.buf);
}

/* One value at a time, so that a small result is not lost beside a large one. */
static void functions(kernel_run *r)
{
	static const float x[] = {-200,   -88,   -87.5f, -86,   -20,      -1,        -0.6f,
	                          -1e-3f, 0,     1e-6f,  0.5f,  0.7f,     3,         20,
	                          80,     88.5f, 90,     1e30f, INFINITY, -INFINITY, NAN};
	static const uint32_t ops[] = {MLA_EXP, MLA_SIGMOID, MLA_TANH, MLA_RSQRT, MLA_SILU};
	static const uint32_t one[3] = {1, 1, 1};

	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
			mla_view a = {kernel_buffer(r, 1), 0, {1, 1, 1}};
			mla_view y = {kernel_buffer(r, 1), 0, {1, 1, 1}};
			double want = unary_want(ops[k], x[i]);
			char what[48];

			kernel_floats(a.buf)[0] = x[i];
			/* Subnormal results are zero by design. */
			if (fabs(want) < 1.3e-38)
				want = 0;
			if (ops[k] == MLA_EXP && want > 3.4028235e38)
				want = INFINITY;
			if (ops[k] == MLA_SILU && x[i] == -INFINITY)
				want = NAN;
			if (ops[k] == MLA_SILU && x[i] < -86)
				want = isinf(x[i]) ? NAN : 0;
			snprintf(what, sizeof what, "unary %u of %g", ops[k], x[i]);
			if (!kernel_failed(r, mla_unary_run(r->be, y, a, ops[k], one, 0)) &&
			    !kernel_failed(r, mla_backend_sync(r->be)) &&
			    !(want == 0 && fabsf(kernel_floats(y.buf)[0]) < 2e-36f))
				kernel_expect(r, what, y.buf, &want, 1, 1e-6);
			mla_buffer_free(a.buf);
			mla_buffer_free(y.buf);
		}
}

/* Every rounding must be to nearest, ties to even, of the exact f32. */
static void roundings(kernel_run *r)
{
	static const struct {
		uint32_t in, bf16, f16;
	} v[] = {
		{0x3f800000, 0x3f800000, 0x3f800000}, {0x3f808000, 0x3f800000, 0x3f808000},
		{0x3f808001, 0x3f810000, 0x3f808000}, {0x3f818000, 0x3f820000, 0x3f818000},
		{0x3f801000, 0x3f800000, 0x3f800000}, {0x3f803000, 0x3f800000, 0x3f804000},
		{0x7f7fffff, 0x7f800000, 0x7f800000}, {0x477fefff, 0x47800000, 0x477fe000},
		{0x477ff000, 0x47800000, 0x7f800000}, {0x33800000, 0x33800000, 0x33800000},
		{0x33000000, 0x33000000, 0x00000000}, {0xb3400000, 0xb3400000, 0xb3800000},
		{0x387fc000, 0x38800000, 0x387fc000}, {0x80000000, 0x80000000, 0x80000000},
	};
	enum { COUNT = sizeof v / sizeof *v };
	static const uint32_t n[3] = {1, 1, COUNT};

	for (uint32_t store = 1; store < 3; store++) {
		mla_view a = {kernel_buffer(r, COUNT), 0, {COUNT, COUNT, 1}};
		mla_view y = {kernel_buffer(r, COUNT), 0, {COUNT, COUNT, 1}};
		int32_t want[COUNT];

		for (int i = 0; i < COUNT; i++) {
			kernel_ints(a.buf)[i] = (int32_t)v[i].in;
			want[i] = (int32_t)(store == 1 ? v[i].bf16 : v[i].f16);
		}
		if (!kernel_failed(r, mla_unary_run(r->be, y, a, MLA_COPY, n, store)))
			kernel_expect_ints(r, store == 1 ? "bf16" : "f16", y.buf, want, COUNT);
		mla_buffer_free(a.buf);
		mla_buffer_free(y.buf);
	}
}

static void wheres(kernel_run *r)
{
	mla_view c = operand(r, N0 * N1, last), a = operand(r, N0 * N1 * N2, dense);
	mla_view b = operand(r, N0 * N2, middle), y = {kernel_buffer(r, N0 * N1 * N2), 0, {0}};
	double want[N0 * N1 * N2];

	for (uint64_t i = 0; i < N0 * N1 * N2; i++)
		want[i] = kernel_floats(c.buf)[index_of(&c, i)] != 0
		                  ? kernel_floats(a.buf)[i]
		                  : kernel_floats(b.buf)[index_of(&b, i)];
	if (!kernel_failed(r, mla_where_run(r->be, y, c, a, b, shape, 0)))
		kernel_expect(r, "where", y.buf, want, N0 * N1 * N2, 1e-5);
	mla_buffer_free(a.buf);
	mla_buffer_free(b.buf);
	mla_buffer_free(c.buf);
	mla_buffer_free(y.buf);
}

static void reductions(kernel_run *r)
{
	static const uint32_t n[][3] = {
		{3, 1, 2}, {2, 97, 5}, {4, 700, 1}, {1, 4099, 1}, {2, 16, 3}};

	for (size_t s = 0; s < sizeof n / sizeof *n; s++)
		for (uint32_t op = 0; op <= MLA_REDUCE_N; op++) {
			uint32_t outer = n[s][0], axis = n[s][1], inner = n[s][2],
				 rows = outer * inner;
			mla_view x = operand(r, (uint64_t)rows * axis,
			                     (uint32_t[]){axis * inner, inner, 1});
			mla_view y = {kernel_buffer(r, rows), 0, {inner, 0, 1}};
			double *want = mla_alloc(rows * sizeof *want);
			int32_t *at = mla_alloc(rows * sizeof *at);
			char what[64];

			for (uint32_t i = 0; i < rows; i++) {
				double v = 0;

				for (uint32_t a = 0; a < axis; a++) {
					double e = kernel_floats(
						x.buf)[(i / inner * axis + a) * inner + i % inner];

					if (op >= MLA_REDUCE_MAX && a == 0)
						v = e;
					if (op == MLA_REDUCE_N && e > v)
						at[i] = (int32_t)a;
					v = op <= MLA_REDUCE_MEAN  ? v + e
					    : op == MLA_REDUCE_MIN ? fmin(v, e)
					                           : fmax(v, e);
				}
				want[i] = op == MLA_REDUCE_MEAN ? v / axis : v;
			}
			snprintf(what, sizeof what, "reduce %u over %u", op, axis);
			if (op == MLA_REDUCE_N) {
				if (!kernel_failed(r,
				                   mla_argmax_run(r->be, y, x, outer, axis, inner)))
					kernel_expect_ints(r, what, y.buf, at, rows);
			} else if (!kernel_failed(r, mla_reduce_run(r->be, y, x, op, outer, axis,
			                                            inner, 0))) {
				kernel_expect(r, what, y.buf, want, rows, 1e-5);
			}
			mla_buffer_free(x.buf);
			mla_buffer_free(y.buf);
			free(want);
			free(at);
		}
}

static void gathers(kernel_run *r)
{
	enum { O = 2, SIZE = 11, K = 5, I = 37 };
	mla_view x = operand(r, O * SIZE * I, (uint32_t[]){SIZE * I, I, 1});
	mla_view part = {kernel_buffer(r, O * K * I), 0, {K * I, I, 1}};
	mla_view index = {kernel_buffer(r, O * K), 0, {K, 1, 0}};
	double want[O * SIZE * I];

	for (int i = 0; i < O * K; i++)
		kernel_ints(index.buf)[i] = (int32_t)kernel_below(r, 2 * SIZE) - SIZE;
	kernel_ints(index.buf)[3] = SIZE;
	for (int o = 0; o < O; o++)
		for (int a = 0; a < K; a++)
			for (int i = 0; i < I; i++) {
				int k = kernel_ints(index.buf)[o * K + a];

				k = k < 0 ? k + SIZE : k;
				want[(o * K + a) * I + i] =
					k < SIZE ? kernel_floats(x.buf)[(o * SIZE + k) * I + i]
						 : NAN;
			}
	if (!kernel_failed(r, mla_take_run(r->be, part, x, index, O, K, I, SIZE)))
		kernel_expect(r, "take", part.buf, want, O * K * I, 1e-5);
	for (int i = 0; i < O * SIZE * I; i++)
		want[i] = kernel_floats(x.buf)[i];
	for (int i = 0; i < O * K * I; i++)
		kernel_floats(part.buf)[i] = kernel_random(r);
	for (int o = 0; o < O; o++)
		for (int a = 0; a < K; a++)
			for (int i = 0; i < I; i++) {
				int k = kernel_ints(index.buf)[o * K + a];

				k = k < 0 ? k + SIZE : k;
				if (k < SIZE)
					want[(o * SIZE + k) * I + i] =
						kernel_floats(part.buf)[(o * K + a) * I + i];
			}
	if (!kernel_failed(r, mla_put_run(r->be, x, part, index, O, K, I, SIZE)))
		kernel_expect(r, "put", x.buf, want, O * SIZE * I, 1e-5);
	mla_buffer_free(x.buf);
	mla_buffer_free(part.buf);
	mla_buffer_free(index.buf);
}

/* How many of row p beat element i: larger, or equal and earlier. */
static uint32_t rank(const float *p, uint32_t n, uint32_t i)
{
	uint32_t better = 0;

	for (uint32_t j = 0; j < n; j++)
		better += p[j] > p[i] || (p[j] == p[i] && j < i);
	return better;
}

static void topks(kernel_run *r)
{
	static const uint32_t n[][2] = {{1, 1}, {7, 3}, {64, 64}, {300, 17}, {1021, 256}, {40, 0}};

	for (size_t s = 0; s < sizeof n / sizeof *n; s++) {
		uint32_t rows = 3, size = n[s][0], k = n[s][1], at = 0;
		mla_rows x = {operand(r, (uint64_t)rows * size, dense).buf, 0, size};
		mla_buffer *index = kernel_buffer(r, (uint64_t)rows * k);
		int32_t *want = mla_alloc((rows * k + 1) * sizeof *want);
		char what[48];

		kernel_floats(x.buf)[0] = -INFINITY;
		for (uint32_t i = 0; i < rows * size; i++)
			if (rank(kernel_floats(x.buf) + i / size * size, size, i % size) < k)
				want[at++] = (int32_t)(i % size);
		snprintf(what, sizeof what, "top %u of %u", k, size);
		if (!kernel_failed(r, mla_topk_run(r->be, index, x, rows, size, k)))
			kernel_expect_ints(r, what, index, want, (uint64_t)rows * k);
		mla_buffer_free(x.buf);
		mla_buffer_free(index);
		free(want);
	}
}

static void pool(kernel_run *r, uint32_t mode, uint32_t window, uint32_t first, uint32_t count,
                 uint32_t total, uint32_t dims, bool shared, uint32_t store)
{
	mla_pool_windows p = {
		.mode = mode,
		.first = first,
		.count = count,
		.window = window,
		.total = total,
		.dims = dims,
		.store = store,
	};
	double *want = mla_alloc(((uint64_t)count * dims + 1) * sizeof *want);
	char what[80];

	p.x = (mla_rows){kernel_input(r, (uint64_t)total * dims, 1.0f), 0, dims};
	p.y = (mla_rows){kernel_buffer(r, (uint64_t)count * dims), 0, dims};
	p.gate = (mla_view){kernel_input(r, (uint64_t)total * dims, 5.0f), 0, {dims, !shared, 0}};
	p.pos = (mla_view){kernel_input(r, (uint64_t)window * dims, 1.0f), 0, {dims, !shared, 0}};
	for (uint32_t w = 0; w < count; w++)
		for (uint32_t d = 0; d < dims; d++) {
			double v = mode == MLA_POOL_MAX ? -INFINITY : 0, z = 0;
			uint32_t n = 0;

			for (uint32_t t = (first + w) * window;
			     t < (first + w + 1) * window && t < total; t++, n++) {
				double e = kernel_floats(p.x.buf)[t * dims + d], g;

				g = exp((double)kernel_floats(p.gate.buf)[t * dims + d * !shared] +
				        kernel_floats(p.pos.buf)[t % window * dims + d * !shared]);
				z += g;
				v = mode == MLA_POOL_MAX ? fmax(v, e)
				                         : v + (mode == MLA_POOL_GATED ? g * e : e);
			}
			want[w * dims + d] = mode == MLA_POOL_MEAN    ? v / n
			                     : mode == MLA_POOL_GATED ? v / z
			                                              : v;
		}
	snprintf(what, sizeof what, "pool %u, windows of %u, %u of %u rows", mode, window, count,
	         total);
	if (!kernel_failed(r, mla_pool_windows_run(r->be, &p)))
		kernel_expect(r, what, p.y.buf, want, (uint64_t)count * dims,
		              kernel_tolerance(store));
	mla_buffer_free(p.x.buf);
	mla_buffer_free(p.y.buf);
	mla_buffer_free(p.gate.buf);
	mla_buffer_free(p.pos.buf);
	free(want);
}

static void pools(kernel_run *r)
{
	for (uint32_t mode = 0; mode < 3; mode++) {
		pool(r, mode, 4, 0, 5, 20, 128, false, 0);
		pool(r, mode, 4, 2, 3, 19, 37, true, 0); /* the last window is short */
		pool(r, mode, 1, 3, 2, 7, 1, false, 0);
		pool(r, mode, 7, 1, 0, 14, 5, false, 0);
		pool(r, mode, 4, 1, 2, 12, 33, false, 1);
	}
}

const kernel_case op_cases[] = {
	{"binary", binaries, false, false},     {"unary", unaries, false, false},
	{"functions", functions, false, false}, {"rounding", roundings, false, false},
	{"where", wheres, false, false},        {"reduce", reductions, true, true},
	{"take_put", gathers, false, false},    {"top_k", topks, false, true},
	{"pool", pools, false, false},          {NULL, NULL, false, false},
};

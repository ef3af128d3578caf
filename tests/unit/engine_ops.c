/* Elementwise operations, multiplication, softmax and attention against plain loops. */
#include "tests/unit/test.h"

#include "engine/attention.h"
#include "engine/elementwise.h"
#include "engine/gemm.h"
#include "engine/matmul.h"
#include "engine/random.h"
#include "engine/reduce.h"
#include "engine/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mla_engine *engine, *oracle;

static int setup(void **state)
{
	(void)state;
	engine = mla_engine_new(NULL);
	oracle = mla_engine_new(&(mla_engine_options){.oracle = true});
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	mla_engine_free(engine);
	mla_engine_free(oracle);
	return 0;
}

static mla_tensor *drawn(mla_engine *e, mla_dtype d, uint64_t stream, uint32_t ndim,
                         const int64_t *shape)
{
	mla_random r = mla_random_stream(1, stream);
	mla_tensor *t;

	assert_int_equal(mla_random_normals(&t, e, d, d, ndim, shape, &r, 1), 0);
	return t;
}

static mla_tensor *row(mla_dtype d, uint32_t n, const double *values)
{
	mla_tensor *t;

	assert_int_equal(mla_tensor_from(&t, engine, d, 1, (int64_t[]){n}, values), 0);
	return t;
}

#define ROW(d, ...) \
	row(d, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void assert_row(const mla_tensor *t, const char *values)
{
	char text[1024] = "";

	for (int64_t i = 0; i < t->count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), i ? " %.7g" : "%.7g",
		         mla_tensor_at(t, i));
	assert_string_equal(text, values);
}

static mla_tensor *binary(mla_binary op, const mla_tensor *a, const mla_tensor *b)
{
	mla_tensor *t;

	assert_int_equal(mla_binary_op(&t, engine, op, a, b), 0);
	return t;
}

static void arithmetic(void **state)
{
	mla_tensor *a = ROW(MLA_F32, 7, -7, 2.5), *b = ROW(MLA_F32, 2, 2, -1), *t;

	(void)state;
	assert_row(binary(MLA_EW_ADD, a, b), "9 -5 1.5");
	assert_row(binary(MLA_EW_SUB, a, b), "5 -9 3.5");
	assert_row(binary(MLA_EW_MUL, a, b), "14 -14 -2.5");
	assert_row(binary(MLA_EW_DIV, a, b), "3.5 -3.5 -2.5");
	assert_row(binary(MLA_EW_FLOOR_DIV, a, b), "3 -4 -3");
	assert_row(binary(MLA_EW_MOD, a, b), "1 1 -0.5");
	assert_row(binary(MLA_EW_POW, a, b), "49 49 0.4");
	assert_row(binary(MLA_EW_MAX, a, b), "7 2 2.5");
	assert_row(binary(MLA_EW_MIN, a, b), "2 -7 -1");
	t = binary(MLA_EW_LT, a, b);
	assert_int_equal(t->dtype, MLA_BOOL);
	assert_row(t, "0 1 0");
	assert_row(binary(MLA_EW_GE, a, b), "1 0 1");
	assert_row(binary(MLA_EW_EQ, a, a), "1 1 1");
	assert_row(binary(MLA_EW_NE, a, b), "1 1 1");
	assert_row(binary(MLA_EW_AND, t, ROW(MLA_BOOL, 1, 1, 1)), "0 1 0");
	assert_row(binary(MLA_EW_OR, t, ROW(MLA_BOOL, 0, 0, 1)), "0 1 1");
	assert_true(
		isnan(mla_tensor_at(binary(MLA_EW_MAX, ROW(MLA_F32, NAN), ROW(MLA_F32, 1)), 0)));
	assert_true(
		isnan(mla_tensor_at(binary(MLA_EW_MIN, ROW(MLA_F32, 1), ROW(MLA_F32, NAN)), 0)));
}

static void functions(void **state)
{
	const struct {
		mla_unary op;
		double at, expected;
	} rows[] = {
		{MLA_EW_NEG, 1.5, -1.5},
		{MLA_EW_ABS, -3, 3},
		{MLA_EW_EXP, 1, 2.718281828459045},
		{MLA_EW_LOG, 10, 2.302585092994046},
		{MLA_EW_SQRT, 2, 1.4142135623730951},
		{MLA_EW_RSQRT, 4, 0.5},
		{MLA_EW_SIN, 1, 0.8414709848078965},
		{MLA_EW_COS, 1, 0.5403023058681398},
		{MLA_EW_TANH, 0.5, 0.46211715726000975},
		{MLA_EW_SIGMOID, -2, 0.11920292202211755},
		{MLA_EW_FLOOR, -1.5, -2},
		{MLA_EW_CEIL, -1.5, -1},
		{MLA_EW_SQUARE, -3, 9},
		{MLA_EW_ISNAN, NAN, 1},
		{MLA_EW_ISINF, -INFINITY, 1},
		{MLA_EW_NOT, 0, 1},
	};
	mla_tensor *t;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(mla_unary_op(&t, engine, rows[i].op, ROW(MLA_F64, rows[i].at)), 0);
		assert_true(fabs(mla_tensor_at(t, 0) - rows[i].expected) < 1e-15);
		assert_int_equal(mla_unary_op(&t, engine, rows[i].op, ROW(MLA_F32, rows[i].at)), 0);
		assert_true(mla_tensor_at(t, 0) == (float)rows[i].expected);
	}
}

/* What meets what, and where it is rounded. */
static void formats(void **state)
{
	mla_tensor *brain = ROW(MLA_BF16, 1, 3), *whole = ROW(MLA_I32, 2, 257), *t, *number;

	(void)state;
	t = binary(MLA_EW_ADD, brain, ROW(MLA_F16, 1, 1));
	assert_int_equal(t->dtype, MLA_F32);
	/* An integer becomes bf16 before it is added: 257 is not one. */
	t = binary(MLA_EW_SUB, whole, brain);
	assert_int_equal(t->dtype, MLA_BF16);
	assert_row(t, "1 253");
	assert_int_equal(binary(MLA_EW_DIV, whole, whole)->dtype, MLA_F32);
	assert_int_equal(binary(MLA_EW_ADD, whole, ROW(MLA_BOOL, 1, 0))->dtype, MLA_I32);
	/* A Python number takes the format of the array, and is rounded to it. */
	assert_int_equal(mla_binary_number(&t, engine, MLA_EW_MUL, brain, 0.1), 0);
	assert_int_equal(t->dtype, MLA_BF16);
	assert_true(mla_tensor_at(t, 0) == 0x1.9ap-4);
	assert_true(mla_tensor_at(t, 1) == mla_dtype_round(MLA_BF16, 3 * 0x1.9ap-4));
	assert_int_equal(mla_binary_number(&t, engine, MLA_EW_MUL, whole, 0.5), 0);
	assert_int_equal(t->dtype, MLA_F32);
	assert_int_equal(mla_tensor_number(&number, engine, MLA_I32, 2), 0);
	assert_int_equal(binary(MLA_EW_MUL, whole, number)->dtype, MLA_I32);
	assert_int_equal(binary(MLA_EW_MUL, number, brain)->dtype, MLA_BF16);
	/* Integers that do not fit are refused, not wrapped. */
	assert_int_equal(
		mla_binary_op(&t, engine, MLA_EW_MUL, ROW(MLA_I32, 65536), ROW(MLA_I32, 65536)),
		MLA_ELIMIT);
	assert_string_equal(mla_error_last(), "multiply: an integer beyond 32 bits");
}

static void broadcasting(void **state)
{
	mla_tensor *column, *t;

	(void)state;
	assert_int_equal(
		mla_tensor_from(&column, engine, MLA_F32, 2, (int64_t[]){2, 1}, (double[]){10, 20}),
		0);
	t = binary(MLA_EW_ADD, column, ROW(MLA_F32, 1, 2, 3));
	assert_row(t, "11 12 13 21 22 23");
	assert_int_equal(t->ndim, 2);
	assert_int_equal(mla_where(&t, engine, ROW(MLA_BOOL, 1, 0, 1), column, ROW(MLA_F32, 7)), 0);
	assert_row(t, "10 7 10 20 7 20");
	assert_int_equal(
		mla_binary_op(&t, engine, MLA_EW_ADD, ROW(MLA_F32, 1, 2), ROW(MLA_F32, 1, 2, 3)),
		MLA_ERAISE);
	assert_string_equal(mla_error_last(), "add: (2,) and (3,)");
	assert_int_equal(binary(MLA_EW_ADD, row(MLA_F32, 0, NULL), ROW(MLA_F32, 1))->count, 0);
}

/* Longer than a row buffer, in views that cannot be walked as one row. */
static void long_views(void **state)
{
	mla_tensor *a = drawn(engine, MLA_F32, 1, 2, (int64_t[]){3, 1100}), *b, *turned, *t;

	(void)state;
	b = drawn(engine, MLA_F32, 2, 2, (int64_t[]){1100, 3});
	assert_int_equal(mla_view_swapaxes(&turned, engine, b, 0, 1), 0);
	t = binary(MLA_EW_SUB, a, turned);
	for (int i = 0; i < 3300; i++)
		assert_true(
			mla_tensor_at(t, i) ==
			(float)(mla_tensor_at(a, i) - mla_tensor_at(b, i % 1100 * 3 + i / 1100)));
}

/* a [m, k] b [k, n] by plain loops, in double. */
static void assert_product(const mla_tensor *out, const mla_tensor *a, const mla_tensor *b,
                           int64_t m, int64_t n, int64_t k, double tolerance)
{
	assert_int_equal(out->count, m * n);
	for (int64_t i = 0; i < m * n; i++) {
		double sum = 0;

		for (int64_t p = 0; p < k; p++)
			sum += mla_tensor_at(a, i / n * k + p) * mla_tensor_at(b, p * n + i % n);
		assert_true(fabs(mla_tensor_at(out, i) - sum) <= tolerance);
	}
}

static void products(void **state)
{
	const int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 5},  {4, 8, 16},    {5, 9, 17},
	                            {7, 13, 530}, {1, 31, 2}, {33, 4, 1100}, {3, 1, 7}};
	const struct {
		mla_dtype d;
		double tolerance;
	} formats[] = {{MLA_F64, 1e-12}, {MLA_F32, 1e-4}, {MLA_BF16, 0.5}, {MLA_F16, 0.1}};

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t f = 0; f < 4; f++) {
			int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
			mla_tensor *a = drawn(engine, formats[f].d, 3, 2, (int64_t[]){m, k});
			mla_tensor *b = drawn(engine, formats[f].d, 4, 2, (int64_t[]){k, n});
			mla_tensor *c = drawn(engine, formats[f].d, 5, 2, (int64_t[]){n, k});
			mla_tensor *d = drawn(engine, formats[f].d, 6, 2, (int64_t[]){k, m}), *out;

			assert_int_equal(mla_matmul(&out, engine, a, b), 0);
			assert_int_equal(out->dtype, formats[f].d);
			assert_product(out, a, b, m, n, k, formats[f].tolerance);
			assert_int_equal(mla_view_swapaxes(&c, engine, c, 0, 1), 0);
			assert_int_equal(mla_view_swapaxes(&d, engine, d, 0, 1), 0);
			assert_int_equal(mla_matmul(&out, engine, d, c), 0);
			assert_product(out, d, c, m, n, k, formats[f].tolerance);
		}
}

/* Sums are f32, not bf16: 256 ones and 2^-8 more each would stay 256 in a bf16 sum. */
static void accumulation(void **state)
{
	mla_tensor *a, *b, *out;

	(void)state;
	assert_int_equal(mla_tensor_new(&a, engine, MLA_BF16, 1, (int64_t[]){1024}), 0);
	assert_int_equal(mla_unary_op(&a, engine, MLA_EW_NOT, a), 0);
	assert_int_equal(mla_binary_number(&a, engine, MLA_EW_MUL, a, 1.0), 0);
	b = a;
	assert_int_equal(mla_matmul(&out, engine, a, b), 0);
	assert_int_equal(out->ndim, 0);
	assert_true(mla_tensor_at(out, 0) == 1024);
	/* 1 + 2^-8 is a bf16 tie; the sum is exact in f32 and rounded to even once. */
	a = ROW(MLA_BF16, 1, 0x1p-8);
	b = ROW(MLA_BF16, 1, 1);
	assert_int_equal(mla_matmul(&out, engine, a, b), 0);
	assert_true(mla_tensor_at(out, 0) == 1);
	assert_int_equal(mla_matmul_as(&out, engine, a, b, MLA_F32), 0);
	assert_true(mla_tensor_at(out, 0) == 1 + 0x1p-8);
}

/* An element is the same in any company: rows, columns and batches around it do not matter. */
static void one_row_of_many(void **state)
{
	mla_tensor *a = drawn(engine, MLA_F32, 3, 2, (int64_t[]){9, 100});
	mla_tensor *b = drawn(engine, MLA_F32, 4, 2, (int64_t[]){100, 21}), *all, *one, *part;

	(void)state;
	assert_int_equal(mla_matmul(&all, engine, a, b), 0);
	for (int r = 0; r < 9; r++) {
		assert_int_equal(mla_view_slice(&part, engine, a, 0, r, r + 1, 1), 0);
		assert_int_equal(mla_matmul(&one, engine, part, b), 0);
		for (int c = 0; c < 21; c++)
			assert_true(mla_tensor_at(one, c) == mla_tensor_at(all, r * 21 + c));
	}
}

/* Every instruction set gives the same bits. */
static void vector_widths(void **state)
{
	const mla_gemm *first = mla_gemm_variant(0), *g;
	enum { K = 37, MOST = 64 };
	float a[K * 4], b[K * MOST], c[4 * MOST], d[4 * MOST];
	double x[K * 4], y[K * MOST], z[4 * MOST], w[4 * MOST];
	mla_random r = mla_random_stream(1, 1);

	(void)state;
	for (int i = 0; i < K * 4; i++)
		a[i] = (float)(x[i] = mla_random_normal(&r));
	for (uint32_t v = 1; (g = mla_gemm_variant(v)); v++) {
		/* Column 0 of a panel is the same column whatever the panel's width. */
		for (int i = 0; i < K * MOST; i++)
			b[i] = 0, y[i] = 0;
		r = mla_random_stream(1, 2);
		for (int i = 0; i < K; i++)
			b[i * g->columns_f32] =
				(float)(y[i * g->columns_f64] = mla_random_normal(&r));
		g->tile_f32(c, g->columns_f32, a, b, K);
		g->tile_f64(z, g->columns_f64, x, y, K);
		for (int i = 0; i < K * MOST; i++)
			b[i] = 0, y[i] = 0;
		r = mla_random_stream(1, 2);
		for (int i = 0; i < K; i++)
			b[i * first->columns_f32] =
				(float)(y[i * first->columns_f64] = mla_random_normal(&r));
		first->tile_f32(d, first->columns_f32, a, b, K);
		first->tile_f64(w, first->columns_f64, x, y, K);
		for (int i = 0; i < 4; i++) {
			assert_true(c[i * g->columns_f32] == d[i * first->columns_f32]);
			assert_true(z[i * g->columns_f64] == w[i * first->columns_f64]);
			assert_true(z[i * g->columns_f64] != 0);
		}
	}
	assert_null(mla_gemm_variant(9));
}

static void batches(void **state)
{
	mla_tensor *a = drawn(engine, MLA_F64, 3, 4, (int64_t[]){2, 3, 5, 7});
	mla_tensor *b = drawn(engine, MLA_F64, 4, 4, (int64_t[]){2, 1, 7, 4});
	mla_tensor *c = drawn(engine, MLA_F64, 5, 3, (int64_t[]){3, 7, 4}), *out;

	(void)state;
	assert_int_equal(mla_matmul(&out, engine, a, b), 0);
	assert_int_equal(out->count, 2 * 3 * 5 * 4);
	for (int i = 0; i < 120; i++) {
		double sum = 0;

		for (int k = 0; k < 7; k++)
			sum += mla_tensor_at(a, i / 4 * 7 + k) *
			       mla_tensor_at(b, (i / 60 * 7 + k) * 4 + i % 4);
		assert_true(fabs(mla_tensor_at(out, i) - sum) < 1e-13);
	}
	assert_int_equal(mla_matmul(&out, engine, a, c), 0);
	for (int i = 0; i < 120; i++) {
		double sum = 0;

		for (int k = 0; k < 7; k++)
			sum += mla_tensor_at(a, i / 4 * 7 + k) *
			       mla_tensor_at(c, (i / 20 % 3 * 7 + k) * 4 + i % 4);
		assert_true(fabs(mla_tensor_at(out, i) - sum) < 1e-13);
	}
	assert_int_equal(mla_engine_work(engine, MLA_WORK_MATMUL).operations, 2 * 120 * 7);
}

static void vectors_and_nothing(void **state)
{
	mla_tensor *m = drawn(engine, MLA_F32, 3, 2, (int64_t[]){2, 3}), *v = ROW(MLA_F32, 1, 0, 2);
	mla_tensor *b = drawn(engine, MLA_F32, 4, 3, (int64_t[]){2, 3, 4}), *out, *none;

	(void)state;
	assert_int_equal(mla_matmul(&out, engine, m, v), 0);
	assert_int_equal(out->ndim, 1);
	assert_true(mla_tensor_at(out, 1) ==
	            (float)(mla_tensor_at(m, 3) + 2 * mla_tensor_at(m, 5)));
	assert_int_equal(mla_matmul(&out, engine, v, b), 0);
	assert_int_equal(out->ndim, 2);
	assert_true(out->shape[0] == 2 && out->shape[1] == 4);
	assert_int_equal(mla_tensor_new(&none, engine, MLA_F32, 2, (int64_t[]){3, 0}), 0);
	assert_int_equal(mla_matmul(&out, engine, m, none), 0);
	assert_true(out->shape[0] == 2 && out->shape[1] == 0);
	/* A rotary part of width 0: sums of nothing are 0. */
	assert_int_equal(mla_view_swapaxes(&m, engine, none, 0, 1), 0);
	assert_int_equal(mla_matmul(&out, engine, none, m), 0);
	assert_row(out, "0 0 0 0 0 0 0 0 0");
}

static void refused_products(void **state)
{
	mla_tensor *a = drawn(engine, MLA_F32, 3, 2, (int64_t[]){2, 3}), *number, *out, *one;

	(void)state;
	assert_int_equal(
		mla_matmul(&out, engine, a, drawn(engine, MLA_F32, 3, 2, (int64_t[]){4, 5})),
		MLA_ERAISE);
	assert_string_equal(mla_error_last(), "matmul: (2, 3) and (4, 5)");
	assert_int_equal(mla_matmul(&out, engine,
	                            drawn(engine, MLA_F32, 3, 3, (int64_t[]){2, 2, 3}),
	                            drawn(engine, MLA_F32, 3, 3, (int64_t[]){3, 3, 2})),
	                 MLA_ERAISE);
	assert_string_equal(mla_error_last(), "matmul: (2, 2, 3) and (3, 3, 2)");
	assert_int_equal(mla_tensor_number(&number, engine, MLA_F32, 1), 0);
	assert_int_equal(mla_matmul(&out, engine, a, number), MLA_ERAISE);
	assert_int_equal(mla_matmul(&out, engine, a, ROW(MLA_I32, 1, 2, 3)), MLA_ERAISE);
	/* Views that repeat one element: a small result of an enormous product. */
	assert_int_equal(mla_tensor_new(&one, engine, MLA_F32, 2, (int64_t[]){1, 1}), 0);
	assert_int_equal(mla_view_broadcast_to(&a, engine, one, 2, (int64_t[]){1, 1 << 30}), 0);
	assert_int_equal(mla_view_broadcast_to(&one, engine, one, 2, (int64_t[]){1 << 30, 1}), 0);
	assert_int_equal(mla_matmul(&out, engine, a, one), MLA_ELIMIT);
	assert_int_equal(mla_view_broadcast_to(&a, engine, one, 2, (int64_t[]){1 << 30, 1 << 10}),
	                 0);
	assert_int_equal(mla_matmul(&out, engine, one, a), MLA_ERAISE);
}

static void softmax(void **state)
{
	mla_tensor *t, *turned, *x;

	(void)state;
	/* e^0, e^1, e^2 over their sum, from Python's math.exp. */
	assert_int_equal(mla_softmax(&t, engine, ROW(MLA_F64, 0, 1, 2), -1), 0);
	assert_true(fabs(mla_tensor_at(t, 0) - 0.09003057317038046) < 1e-16);
	assert_true(fabs(mla_tensor_at(t, 2) - 0.6652409557748218) < 1e-15);
	/* Large scores do not overflow; -inf takes no part; nothing but -inf is NaN. */
	assert_int_equal(mla_softmax(&t, engine, ROW(MLA_F32, 1000, 1000, -INFINITY), 0), 0);
	assert_row(t, "0.5 0.5 0");
	assert_int_equal(mla_softmax(&t, engine, ROW(MLA_F32, -INFINITY, -INFINITY), 0), 0);
	assert_true(isnan(mla_tensor_at(t, 0)) && isnan(mla_tensor_at(t, 1)));
	assert_int_equal(mla_softmax(&t, engine, ROW(MLA_F32, NAN, 1), 0), 0);
	assert_true(isnan(mla_tensor_at(t, 1)));
	/* In bf16 the exponentials are not rounded before the sum: 300 equal scores give 1/300. */
	assert_int_equal(mla_tensor_new(&x, engine, MLA_BF16, 1, (int64_t[]){300}), 0);
	assert_int_equal(mla_softmax(&t, engine, x, 0), 0);
	assert_int_equal(t->dtype, MLA_BF16);
	assert_true(mla_tensor_at(t, 7) == mla_dtype_round(MLA_BF16, 1.0 / 300));
	/* The other axis is the last one of the transpose. */
	x = drawn(engine, MLA_F32, 3, 2, (int64_t[]){5, 6});
	assert_int_equal(mla_softmax(&t, engine, x, 0), 0);
	assert_int_equal(mla_view_swapaxes(&turned, engine, x, 0, 1), 0);
	assert_int_equal(mla_softmax(&turned, engine, turned, 1), 0);
	for (int i = 0; i < 30; i++)
		assert_true(mla_tensor_at(t, i) == mla_tensor_at(turned, i % 6 * 5 + i / 6));
}

/* Grouped heads, boolean and additive masks, against plain loops. */
static void attention(void **state)
{
	mla_tensor *q = drawn(oracle, MLA_F64, 1, 4, (int64_t[]){2, 4, 3, 5});
	mla_tensor *k = drawn(oracle, MLA_F64, 2, 4, (int64_t[]){2, 2, 6, 5});
	mla_tensor *v = drawn(oracle, MLA_F64, 3, 4, (int64_t[]){2, 2, 6, 7}), *mask, *out, *added;

	(void)state;
	assert_int_equal(mla_causal_mask(&mask, oracle, 3, 6), 0);
	assert_int_equal(mla_attention(&out, oracle, q, k, v, 0.3, mask), 0);
	assert_true(out->shape[0] == 2 && out->shape[1] == 4 && out->shape[2] == 3 &&
	            out->shape[3] == 7);
	for (int i = 0; i < 2 * 4 * 3 * 7; i++) {
		int column = i % 7, query = i / 7 % 3, head = i / 21 % 4, batch = i / 84;
		int kv = batch * 2 + head / 2;
		double sum = 0, expected = 0;

		for (int t = 0; t <= 3 + query; t++) {
			double score = 0;

			for (int j = 0; j < 5; j++)
				score += mla_tensor_at(q, i / 7 * 5 + j) *
				         mla_tensor_at(k, (kv * 6 + t) * 5 + j);
			score = exp(0.3 * score);
			sum += score;
			expected += score * mla_tensor_at(v, (kv * 6 + t) * 7 + column);
		}
		assert_true(fabs(mla_tensor_at(out, i) - expected / sum) < 1e-14);
	}
	/* The same mask as numbers to add. */
	assert_int_equal(mla_tensor_new(&added, oracle, MLA_F64, 2, (int64_t[]){3, 6}), 0);
	assert_int_equal(mla_binary_number(&mask, oracle, MLA_EW_SUB, mask, 1), 0);
	assert_int_equal(mla_binary_number(&mask, oracle, MLA_EW_MUL, mask, 1e9), 0);
	assert_int_equal(mla_attention(&added, oracle, q, k, v, 0.3, mask), 0);
	for (int i = 0; i < out->count; i++)
		assert_true(fabs(mla_tensor_at(out, i) - mla_tensor_at(added, i)) < 1e-14);
	assert_int_equal(mla_attention(&out, oracle, q, k, q, 1, NULL), MLA_ERAISE);
	assert_string_equal(mla_error_last(), "scaled_dot_product_attention: (2, 4, 3, 5), "
	                                      "(2, 2, 6, 5) and (2, 4, 3, 5)");
}

/* A sink is one position more, whose score is given and whose value is 0. */
static void attention_sinks(void **state)
{
	mla_tensor *q = drawn(oracle, MLA_F64, 1, 4, (int64_t[]){2, 4, 3, 5});
	mla_tensor *k = drawn(oracle, MLA_F64, 2, 4, (int64_t[]){2, 2, 6, 5});
	mla_tensor *v = drawn(oracle, MLA_F64, 3, 4, (int64_t[]){2, 2, 6, 7}), *mask, *out;
	mla_tensor *sinks = drawn(oracle, MLA_F64, 4, 1, (int64_t[]){4});

	(void)state;
	assert_int_equal(mla_causal_mask(&mask, oracle, 3, 6), 0);
	assert_int_equal(mla_attention_sinks(&out, oracle, q, k, v, 0.3, mask, sinks), 0);
	for (int i = 0; i < 2 * 4 * 3 * 7; i++) {
		int column = i % 7, query = i / 7 % 3, head = i / 21 % 4, batch = i / 84;
		int kv = batch * 2 + head / 2;
		double sum = exp(mla_tensor_at(sinks, head)), expected = 0;

		for (int t = 0; t <= 3 + query; t++) {
			double score = 0;

			for (int j = 0; j < 5; j++)
				score += mla_tensor_at(q, i / 7 * 5 + j) *
				         mla_tensor_at(k, (kv * 6 + t) * 5 + j);
			sum += exp(0.3 * score);
			expected += exp(0.3 * score) * mla_tensor_at(v, (kv * 6 + t) * 7 + column);
		}
		assert_true(fabs(mla_tensor_at(out, i) - expected / sum) < 1e-14);
	}
	assert_int_equal(mla_attention_sinks(&out, oracle, q, k, v, 0.3, mask, mask), MLA_ERAISE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arithmetic, setup, teardown),
		cmocka_unit_test_setup_teardown(functions, setup, teardown),
		cmocka_unit_test_setup_teardown(formats, setup, teardown),
		cmocka_unit_test_setup_teardown(broadcasting, setup, teardown),
		cmocka_unit_test_setup_teardown(long_views, setup, teardown),
		cmocka_unit_test_setup_teardown(products, setup, teardown),
		cmocka_unit_test_setup_teardown(accumulation, setup, teardown),
		cmocka_unit_test_setup_teardown(one_row_of_many, setup, teardown),
		cmocka_unit_test_setup_teardown(vector_widths, setup, teardown),
		cmocka_unit_test_setup_teardown(batches, setup, teardown),
		cmocka_unit_test_setup_teardown(vectors_and_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_products, setup, teardown),
		cmocka_unit_test_setup_teardown(softmax, setup, teardown),
		cmocka_unit_test_setup_teardown(attention, setup, teardown),
		cmocka_unit_test_setup_teardown(attention_sinks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

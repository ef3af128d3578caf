/*
 * Affine quantisation. Codes, scales and biases expected here were printed by MLX 0.32.4 for the
 * same weights (mlx.core.quantize on the CPU).
 */
#include "tests/unit/engine.h"

#include "engine/matmul.h"
#include "engine/quant.h"
#include "engine/random.h"
#include "engine/view.h"

#include <math.h>

static uint32_t word(const mla_tensor *codes, int64_t i)
{
	return (uint32_t)(int32_t)mla_tensor_at(codes, i);
}

static mla_quantised quantised(int64_t rows, int64_t size, const double *w, uint32_t bits)
{
	mla_quantised q;
	mla_tensor *t;

	assert_int_equal(mla_tensor_from(&t, engine, MLA_BF16, 2, (int64_t[]){rows, size}, w), 0);
	assert_int_equal(mla_quantise(&q, engine, t, bits), 0);
	return q;
}

static void codes_are_those_of_mlx(void **state)
{
	const uint32_t four[] = {0x5b17d28e, 0x6c28e49f, 0x7d39f5b0, 0x8e4af6c1};
	const uint32_t eight[] = {0xca2685e4, 0x52b10d6c, 0xdc3897f6, 0x64c31f7d};
	double w[128];
	mla_quantised q;

	(void)state;
	for (int i = 0; i < 128; i++)
		w[i] = ((i * 37 + 11) % 101 - 50) / 64.0;
	q = quantised(2, 64, w, 4);
	assert_int_equal(q.group, 64);
	assert_int_equal(q.codes->count, 16);
	for (int i = 0; i < 4; i++)
		assert_int_equal(word(q.codes, i), four[i]);
	assert_int_equal(word(q.codes, 14), 0x5b06c28e);
	assert_int_equal(word(q.codes, 15), 0x6c17d39f);
	assert_true(mla_tensor_at(q.scales, 0) == -0x1.9p-4);
	assert_true(mla_tensor_at(q.scales, 1) == -0x1.88p-4);
	assert_true(mla_tensor_at(q.biases, 0) == 0.78125);
	assert_true(mla_tensor_at(q.biases, 1) == 0.765625);
	q = quantised(2, 64, w, 8);
	for (int i = 0; i < 4; i++)
		assert_int_equal(word(q.codes, i), eight[i]);
	assert_int_equal(word(q.codes, 31), 0x5bbc1576);
	assert_true(mla_tensor_at(q.scales, 0) == -0x1.9p-8);
	assert_true(mla_tensor_at(q.scales, 1) == -0x1.88p-8);
}

static void odd_groups(void **state)
{
	const uint32_t expected[] = {0xbccddeef, 0x8899aaab, 0x44556677, 0x00112233};
	double constant[32], zero[32] = {0}, up[32], down[32];
	mla_tensor *back;
	mla_quantised q;

	(void)state;
	for (int i = 0; i < 32; i++) {
		constant[i] = 0.375;
		up[i] = 1 + i / 32.0;
		down[i] = -1 - i / 32.0;
	}
	q = quantised(1, 32, constant, 4);
	assert_int_equal(word(q.codes, 0), 0);
	assert_true(mla_tensor_at(q.scales, 0) == -0x1.aep-24);
	assert_true(mla_tensor_at(q.biases, 0) == 0.375);
	assert_int_equal(mla_dequantise(&back, engine, &q), 0);
	for (int i = 0; i < 32; i++)
		assert_true(mla_tensor_at(back, i) == 0.375);
	q = quantised(1, 32, zero, 4);
	assert_int_equal(mla_dequantise(&back, engine, &q), 0);
	for (int i = 0; i < 32; i++)
		assert_true(mla_tensor_at(back, i) == 0);
	q = quantised(1, 32, up, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(word(q.codes, i), expected[i]);
	assert_true(mla_tensor_at(q.scales, 0) == -0x1.0cp-4);
	assert_true(mla_tensor_at(q.biases, 0) == 1.96875);
	q = quantised(1, 32, down, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(word(q.codes, i), expected[i]);
	assert_true(mla_tensor_at(q.scales, 0) == 0x1.0cp-4);
	assert_true(mla_tensor_at(q.biases, 0) == -1.96875);
}

static void groups(void **state)
{
	(void)state;
	assert_int_equal(mla_quant_group(512), 128);
	assert_int_equal(mla_quant_group(192), 64);
	assert_int_equal(mla_quant_group(96), 32);
	assert_int_equal(mla_quant_group(100), 0);
	assert_int_equal(mla_quant_group(0), 0);
}

static void dense_when_no_group_divides(void **state)
{
	double w[] = {0.1, 1, -3};
	mla_quantised q = quantised(1, 3, w, 4);
	mla_tensor *back;

	(void)state;
	assert_int_equal(q.group, 0);
	assert_int_equal(q.bits, 16);
	assert_null(q.codes);
	assert_int_equal(mla_dequantise(&back, engine, &q), 0);
	assert_true(mla_tensor_at(back, 0) == mla_dtype_round(MLA_BF16, 0.1));
	assert_true(mla_tensor_at(back, 2) == -3);
}

static void bits_other_than_4_and_8(void **state)
{
	mla_quantised q;
	mla_tensor *t;

	(void)state;
	assert_int_equal(mla_tensor_new(&t, engine, MLA_BF16, 1, (int64_t[]){32}), 0);
	assert_int_equal(mla_quantise(&q, engine, t, 3), MLA_ECONFIG);
	assert_int_equal(mla_quantise(&q, engine, t, 0), MLA_ECONFIG);
}

/*
 * No weight is further from its code than half a step, and a little for the rounded scale; only at
 * the last code, where making room for a code of 0 has moved the end of the range, a whole one.
 */
static void close_to_the_weights(void **state)
{
	mla_random r = mla_random_stream(5, 0);
	mla_tensor *w, *back;
	mla_quantised q;

	(void)state;
	assert_int_equal(mla_random_normals(&w, engine, MLA_BF16, MLA_BF16, 3,
	                                    (int64_t[]){2, 5, 128}, &r, 1),
	                 0);
	for (uint32_t bits = 4; bits <= 8; bits += 4) {
		assert_int_equal(mla_quantise(&q, engine, w, bits), 0);
		assert_int_equal(mla_dequantise(&back, engine, &q), 0);
		assert_int_equal(back->dtype, MLA_F32);
		for (int64_t i = 0; i < w->count; i++) {
			double step = fabs(mla_tensor_at(q.scales, i / 128));
			double slack = step * (1 << bits) * 0x1p-8;
			uint32_t levels = (1u << bits) - 1;
			uint32_t code = word(q.codes, i * bits / 32) >> i * bits % 32 & levels;

			assert_true(fabs(mla_tensor_at(w, i) - mla_tensor_at(back, i)) <=
			            (code == levels ? step : step / 2) + slack);
		}
	}
}

/* Rows 1 and 2 of a quantised tensor, put together from slices of its parts. */
static void parts_of_a_cache(void **state)
{
	mla_random r = mla_random_stream(8, 0);
	mla_tensor *w, *part[3], *all, *two;
	mla_quantised q, p;

	(void)state;
	assert_int_equal(
		mla_random_normals(&w, engine, MLA_BF16, MLA_BF16, 3, (int64_t[]){2, 4, 64}, &r, 1),
		0);
	assert_int_equal(mla_quantise_groups(&q, engine, w, 8, 32), 0);
	assert_int_equal(q.group, 32);
	assert_int_equal(mla_dequantise(&all, engine, &q), 0);
	assert_int_equal(mla_view_slice(&part[0], engine, q.codes, 1, 1, 3, 1), 0);
	assert_int_equal(mla_view_slice(&part[1], engine, q.scales, 1, 1, 3, 1), 0);
	assert_int_equal(mla_view_slice(&part[2], engine, q.biases, 1, 1, 3, 1), 0);
	assert_int_equal(mla_quantised_join(&p, part[0], part[1], part[2], 8, 32), 0);
	assert_int_equal(mla_dequantise(&two, engine, &p), 0);
	assert_int_equal(two->count, 256);
	for (int64_t i = 0; i < 256; i++)
		assert_true(mla_tensor_at(two, i) ==
		            mla_tensor_at(all, i / 128 * 256 + 64 + i % 128));
	assert_int_equal(mla_quantised_join(&p, part[0], q.scales, part[2], 8, 32), MLA_ERAISE);
	assert_int_equal(mla_quantised_join(&p, part[0], part[1], part[2], 8, 64), MLA_ERAISE);
	assert_int_equal(mla_quantised_join(&p, part[0], part[1], part[2], 4, 32), MLA_ERAISE);
	assert_int_equal(mla_quantise_groups(&p, engine, w, 4, 128), MLA_ERAISE);
	assert_string_equal(mla_error_last(), "quantize: (2, 4, 64) in groups of 128");
}

/* x @ w^T and x @ w against the same products of the dequantised weights, and bf16 out. */
static void multiplication(void **state)
{
	mla_random r = mla_random_stream(6, 0);
	mla_tensor *w, *x, *y, *dense, *out;
	mla_quantised q;

	(void)state;
	assert_int_equal(
		mla_random_normals(&w, engine, MLA_BF16, MLA_BF16, 2, (int64_t[]){3, 64}, &r, 1),
		0);
	assert_int_equal(
		mla_random_normals(&x, engine, MLA_BF16, MLA_BF16, 2, (int64_t[]){2, 64}, &r, 1),
		0);
	assert_int_equal(
		mla_random_normals(&y, engine, MLA_BF16, MLA_BF16, 2, (int64_t[]){2, 3}, &r, 1), 0);
	assert_int_equal(mla_quantise(&q, engine, w, 4), 0);
	assert_int_equal(mla_dequantise(&dense, engine, &q), 0);
	assert_int_equal(mla_quantised_matmul(&out, engine, x, &q, true), 0);
	assert_int_equal(out->dtype, MLA_BF16);
	for (int i = 0; i < 6; i++) {
		double sum = 0;

		for (int k = 0; k < 64; k++)
			sum += mla_tensor_at(x, i / 3 * 64 + k) *
			       mla_tensor_at(dense, i % 3 * 64 + k);
		assert_true(fabs(mla_tensor_at(out, i) - sum) <=
		            mla_dtype_ulp(MLA_BF16, sum) * 0.51);
	}
	assert_int_equal(mla_quantised_matmul(&out, engine, y, &q, false), 0);
	for (int i = 0; i < 128; i++) {
		double sum = 0;

		for (int k = 0; k < 3; k++)
			sum += mla_tensor_at(y, i / 64 * 3 + k) *
			       mla_tensor_at(dense, k * 64 + i % 64);
		assert_true(fabs(mla_tensor_at(out, i) - sum) <=
		            mla_dtype_ulp(MLA_BF16, sum) * 0.51);
	}
	assert_int_equal(mla_quantised_matmul(&out, engine, y, &q, true), MLA_ERAISE);
}

/* An oracle engine multiplies by the very numbers of the other one. */
static void oracle_sees_the_same_weights(void **state)
{
	mla_engine *oracle = mla_engine_new(&(mla_engine_options){.oracle = true});
	mla_random a = mla_random_stream(7, 0), b = a;
	mla_tensor *w, *v, *wd, *vd;
	mla_quantised p, q;

	(void)state;
	assert_int_equal(
		mla_random_normals(&w, engine, MLA_BF16, MLA_BF16, 2, (int64_t[]){3, 64}, &a, 1),
		0);
	assert_int_equal(
		mla_random_normals(&v, oracle, MLA_F64, MLA_BF16, 2, (int64_t[]){3, 64}, &b, 1), 0);
	assert_int_equal(mla_quantise(&p, engine, w, 8), 0);
	assert_int_equal(mla_quantise(&q, oracle, v, 8), 0);
	assert_int_equal(mla_dequantise(&wd, engine, &p), 0);
	assert_int_equal(mla_dequantise(&vd, oracle, &q), 0);
	assert_int_equal(vd->dtype, MLA_F64);
	for (int64_t i = 0; i < wd->count; i++)
		assert_true(mla_tensor_at(wd, i) == mla_tensor_at(vd, i));
	mla_engine_free(oracle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(codes_are_those_of_mlx, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(groups, setup, teardown),
		cmocka_unit_test_setup_teardown(dense_when_no_group_divides, setup, teardown),
		cmocka_unit_test_setup_teardown(bits_other_than_4_and_8, setup, teardown),
		cmocka_unit_test_setup_teardown(close_to_the_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_of_a_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(multiplication, setup, teardown),
		cmocka_unit_test_setup_teardown(oracle_sees_the_same_weights, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Number formats: every bit pattern, the ties between neighbours, the edges of the range. */
#include "tests/unit/test.h"

#include "engine/dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

static float from_bits(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static void every_pattern_survives(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 65536; u++) {
		bool half_nan = (u & 0x7fff) > 0x7c00, brain_nan = (u & 0x7fff) > 0x7f80;

		if (half_nan)
			assert_true(isnan(mla_f16_to_f32((uint16_t)u)));
		else
			assert_int_equal(mla_f16_from_f32(mla_f16_to_f32((uint16_t)u)), u);
		if (brain_nan)
			assert_true(isnan(mla_bf16_to_f32((uint16_t)u)));
		else
			assert_int_equal(mla_bf16_from_f32(mla_bf16_to_f32((uint16_t)u)), u);
	}
}

/* Halfway between two neighbours goes to the even pattern, and a hair to either side to that side.
 */
static void ties_go_to_even(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 0x7bff; u++) {
		float a = mla_f16_to_f32((uint16_t)u), b = mla_f16_to_f32((uint16_t)(u + 1));
		float middle = a + (b - a) / 2;

		assert_int_equal(mla_f16_from_f32(middle), u + (u & 1));
		assert_int_equal(mla_f16_from_f32(nextafterf(middle, a)), u);
		assert_int_equal(mla_f16_from_f32(nextafterf(middle, b)), u + 1);
		assert_int_equal(mla_f16_from_f32(-middle), 0x8000 | (u + (u & 1)));
	}
	for (uint32_t u = 0; u < 0x7f7f; u++) {
		uint32_t middle = u << 16 | 0x8000;

		assert_int_equal(mla_bf16_from_f32(from_bits(middle)), u + (u & 1));
		assert_int_equal(mla_bf16_from_f32(from_bits(middle - 1)), u);
		assert_int_equal(mla_bf16_from_f32(from_bits(middle + 1)), u + 1);
	}
}

static void edges(void **state)
{
	(void)state;
	assert_int_equal(mla_f16_from_f32(65504), 0x7bff);
	assert_int_equal(mla_f16_from_f32(65519.996f), 0x7bff);
	assert_int_equal(mla_f16_from_f32(65520), 0x7c00);
	assert_int_equal(mla_f16_from_f32(-INFINITY), 0xfc00);
	assert_int_equal(mla_f16_from_f32(0x1p-25f), 0);
	assert_int_equal(mla_f16_from_f32(nextafterf(0x1p-25f, 1)), 1);
	assert_int_equal(mla_f16_from_f32(-0.0f), 0x8000);
	assert_int_equal(mla_bf16_from_f32(FLT_MAX), 0x7f80);
	assert_int_equal(mla_bf16_from_f32(INFINITY), 0x7f80);
	/* NaNs whose payload is only in the bits that are cut off. */
	assert_true(isnan(mla_bf16_to_f32(mla_bf16_from_f32(from_bits(0x7f800001)))));
	assert_true(isnan(mla_bf16_to_f32(mla_bf16_from_f32(from_bits(0xffffffff)))));
	assert_true(isnan(mla_f16_to_f32(mla_f16_from_f32(from_bits(0x7f800001)))));
	assert_true(mla_dtype_lowest(MLA_F16) == mla_f16_to_f32(0xfbff));
	assert_true(mla_dtype_lowest(MLA_BF16) == mla_bf16_to_f32(0xff7f));
}

static void stores(void **state)
{
	(void)state;
	assert_true(mla_dtype_round(MLA_BF16, 1 + 0x1p-8) == 1);
	assert_true(mla_dtype_round(MLA_BF16, 1 + 3 * 0x1p-8) == 1 + 0x1p-6);
	/* Through f32: this is above the bf16 tie only in the bits that f32 does not have. */
	assert_true(mla_dtype_round(MLA_BF16, 1 + 0x1p-8 + 0x1p-40) == 1);
	assert_true(mla_dtype_round(MLA_I32, -2.7) == -2);
	assert_true(mla_dtype_round(MLA_I32, 1e300) == INT32_MAX);
	assert_true(mla_dtype_round(MLA_I32, NAN) == 0);
	assert_true(mla_dtype_round(MLA_BOOL, -0.25) == 1);
	assert_true(mla_dtype_round(MLA_F64, 0.1) == 0.1);
}

static void units_in_the_last_place(void **state)
{
	(void)state;
	assert_true(mla_dtype_ulp(MLA_BF16, 0.1) == 0x1p-11);
	assert_true(mla_dtype_ulp(MLA_BF16, -0.125) == 0x1p-10);
	assert_true(mla_dtype_ulp(MLA_F32, 1) == FLT_EPSILON);
	assert_true(mla_dtype_ulp(MLA_F64, 1) == DBL_EPSILON);
	assert_true(mla_dtype_ulp(MLA_F16, 0) == 0x1p-24);
	assert_true(mla_dtype_ulp(MLA_F16, 0x1p-20) == 0x1p-24);
	assert_true(isnan(mla_dtype_ulp(MLA_BF16, NAN)));
	assert_true(isnan(mla_dtype_ulp(MLA_BF16, INFINITY)));
}

static void promotion(void **state)
{
	(void)state;
	assert_int_equal(mla_dtype_promote(MLA_F16, MLA_BF16), MLA_F32);
	assert_int_equal(mla_dtype_promote(MLA_BF16, MLA_F16), MLA_F32);
	assert_int_equal(mla_dtype_promote(MLA_BF16, MLA_I32), MLA_BF16);
	assert_int_equal(mla_dtype_promote(MLA_BOOL, MLA_I32), MLA_I32);
	assert_int_equal(mla_dtype_promote(MLA_F64, MLA_F32), MLA_F64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_survives),
		cmocka_unit_test(ties_go_to_even),
		cmocka_unit_test(edges),
		cmocka_unit_test(stores),
		cmocka_unit_test(units_in_the_last_place),
		cmocka_unit_test(promotion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Comparisons of small tensors, worked out by hand. */
#include "tests/unit/engine.h"

#include "engine/compare.h"

#include <math.h>

static mla_tensor *square(mla_dtype d, double a, double b, double c, double x)
{
	double v[] = {a, b, c, x};
	mla_tensor *t;

	assert_int_equal(mla_tensor_from(&t, engine, d, 2, (int64_t[]){2, 2}, v), 0);
	return t;
}

static void numbers(void **state)
{
	mla_comparison c;

	(void)state;
	assert_int_equal(mla_compare(&c, square(MLA_F64, 1, 2, 3, -4.5),
	                             square(MLA_F64, 1, 2, 3, -4), MLA_BF16),
	                 0);
	assert_true(c.finite);
	assert_true(c.max_abs == 0.5 && c.max_reference == 4);
	assert_true(c.ulp == 0.5 / 0x1p-5);
	assert_true(c.rel == 0.125);
	assert_true(c.rms_abs == 0.25);
	assert_true(fabs(c.rms_rel - sqrt(0.25 / 30)) < 1e-15);
	assert_true(mla_compare_agrees(&c, 0.125));
	assert_false(mla_compare_agrees(&c, 0.1249));
}

static void nothing_finite_passes(void **state)
{
	const double bad[] = {NAN, INFINITY, -INFINITY};
	mla_comparison c;

	(void)state;
	for (int i = 0; i < 3; i++)
		for (int both = 0; both < 3; both++) {
			mla_tensor *a = square(MLA_F32, both != 1 ? bad[i] : 1, 2, 3, 4);
			mla_tensor *b = square(MLA_F32, both != 0 ? bad[i] : 1, 2, 3, 4);
			double ulp;

			assert_int_equal(mla_compare(&c, a, b, MLA_F32), 0);
			assert_false(c.finite);
			assert_false(mla_compare_agrees(&c, 1e300));
			assert_false(mla_compare_agrees(&c, INFINITY));
			assert_true(isnan(c.rel) && isnan(c.ulp) && isnan(c.rms_rel));
			assert_int_equal(mla_compare_rows(&ulp, a, b, MLA_F32), 0);
			assert_true(isnan(ulp));
			assert_false(mla_compare_identical(a, b));
		}
}

static void zeros(void **state)
{
	mla_tensor *zero = square(MLA_F32, 0, -0.0, 0, 0), *none;
	mla_comparison c;

	(void)state;
	assert_int_equal(mla_compare(&c, zero, zero, MLA_F32), 0);
	assert_true(c.rel == 0 && c.ulp == 0 && mla_compare_agrees(&c, 1e-10));
	assert_int_equal(mla_compare(&c, square(MLA_F32, 1e-30, 0, 0, 0), zero, MLA_F32), 0);
	assert_true(isinf(c.rel));
	assert_false(mla_compare_agrees(&c, 1e-10));
	assert_int_equal(mla_tensor_new(&none, engine, MLA_F32, 1, (int64_t[]){0}), 0);
	assert_int_equal(mla_compare(&c, none, none, MLA_F32), 0);
	assert_true(mla_compare_agrees(&c, 0));
}

/* A small row is measured by its own magnitude: one bf16 unit in each of two very different rows.
 */
static void rows(void **state)
{
	mla_tensor *a = square(MLA_F32, 1024, 1, 0x1p-10, 0);
	mla_tensor *b = square(MLA_F32, 1024 + 8, 1, 0x1p-10 + 0x1p-16, 0);
	double ulp;

	(void)state;
	assert_int_equal(mla_compare_rows(&ulp, a, b, MLA_BF16), 0);
	assert_true(ulp == 2);
	assert_int_equal(
		mla_compare_rows(&ulp, a, square(MLA_F32, 1024 + 4, 1, 0x1p-10, 0x1p-18), MLA_BF16),
		0);
	assert_true(ulp == 0.5);
}

static void identity(void **state)
{
	mla_tensor *a = square(MLA_F32, 1, 2, 3, 4), *flat;

	(void)state;
	assert_true(mla_compare_identical(a, square(MLA_F32, 1, 2, 3, 4)));
	assert_false(mla_compare_identical(a, square(MLA_F32, 1, 2, 3, nextafterf(4, 5))));
	assert_false(mla_compare_identical(a, square(MLA_F64, 1, 2, 3, 4)));
	assert_int_equal(
		mla_tensor_from(&flat, engine, MLA_F32, 1, (int64_t[]){4}, (double[]){1, 2, 3, 4}),
		0);
	assert_false(mla_compare_identical(a, flat));
}

static void other_shapes(void **state)
{
	mla_engine *blind = mla_engine_new(&(mla_engine_options){.shapes_only = true});
	mla_tensor *a, *b, *dark;
	mla_comparison c;

	(void)state;
	assert_int_equal(mla_tensor_new(&a, engine, MLA_F32, 2, (int64_t[]){2, 3}), 0);
	assert_int_equal(mla_tensor_new(&b, engine, MLA_F32, 2, (int64_t[]){3, 2}), 0);
	assert_int_equal(mla_compare(&c, a, b, MLA_F32), MLA_ERAISE);
	assert_string_equal(mla_error_last(), "results of shapes (2, 3) and (3, 2)");
	assert_int_equal(mla_tensor_new(&dark, blind, MLA_F32, 2, (int64_t[]){2, 3}), 0);
	assert_int_equal(mla_compare(&c, a, dark, MLA_F32), MLA_EBUG);
	assert_false(mla_compare_identical(a, dark));
	mla_engine_free(blind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_finite_passes, setup, teardown),
		cmocka_unit_test_setup_teardown(zeros, setup, teardown),
		cmocka_unit_test_setup_teardown(rows, setup, teardown),
		cmocka_unit_test_setup_teardown(identity, setup, teardown),
		cmocka_unit_test_setup_teardown(other_shapes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

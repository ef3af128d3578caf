/*
 * Norms and rotary embedding. Expected values were printed by MLX 0.32.4 (mlx.core.fast on the CPU)
 * for x = ((37 i + 11) % 101 - 50) / 64 in the shape (2, 2, 3, 8), at the positions of `picked`.
 */
#include "tests/unit/engine.h"

#include "engine/move.h"
#include "engine/norm.h"
#include "engine/rope.h"
#include "engine/view.h"

#include <math.h>

enum { PICKED = 10 };
static const int picked[PICKED] = {0, 1, 5, 17, 40, 41, 47, 50, 70, 95};

static mla_tensor *recipe(mla_dtype d, uint32_t ndim, const int64_t *shape, int first, double plus)
{
	double values[96];
	mla_tensor *t;

	for (int i = 0; i < 96; i++)
		values[i] = ((i + first) * 37 % 101 + 11) % 101 - 50;
	for (int i = 0; i < 96; i++)
		values[i] = values[i] / 64 + plus;
	assert_int_equal(mla_tensor_from(&t, engine, d, ndim, shape, values), 0);
	return t;
}

static mla_tensor *input(mla_dtype d)
{
	return recipe(d, 4, (int64_t[]){2, 2, 3, 8}, 0, 0);
}

static void assert_picked(const mla_tensor *t, const double *expected, double tolerance)
{
	assert_int_equal(t->count, 96);
	for (int i = 0; i < PICKED; i++)
		if (!(fabs(mla_tensor_at(t, picked[i]) - expected[i]) <= tolerance))
			fail_msg("%d: %.9g, expected %.9g", picked[i], mla_tensor_at(t, picked[i]),
			         expected[i]);
}

static void rotary_halves_and_pairs(void **state)
{
	const double halves[] = {0.00836285949, 0.113418959,  0.804324687, -0.172212392,
	                         0.538434625,   -0.591425836, -0.265625,   -0.0909879506,
	                         0.40625,       0.65625};
	const double pairs[] = {0.34410885,   0.503888428, 0.427351832, -0.408455849, 0.28475821,
	                        -0.656597137, -0.265625,   0.427249461, 0.40625,      0.65625};
	mla_tensor *offset, *t;

	(void)state;
	assert_int_equal(mla_tensor_number(&offset, engine, MLA_I32, 513), 0);
	assert_int_equal(mla_rope(&t, engine, input(MLA_F32),
	                          &(mla_rope_options){6, false, 10000, 1, NULL, offset}),
	                 0);
	assert_picked(t, halves, 1e-6);
	assert_int_equal(mla_rope(&t, engine, input(MLA_F32),
	                          &(mla_rope_options){6, true, 10000, 1, NULL, offset}),
	                 0);
	assert_picked(t, pairs, 1e-6);
}

static void rotary_scale_frequencies_offsets(void **state)
{
	const double scaled[] = {-0.0143795609, -0.0774220079, 0.699547827,  -0.290041417,
	                         0.063238889,   -0.58926183,   -0.265555829, -0.110921457,
	                         0.405203849,   0.656240642};
	const double given[] = {-0.438878357, -0.423910648, 0.618306875,  0.536871433, -0.14612709,
	                        0.700609624,  -0.129858628, -0.263394773, 0.50598526,  0.659634113};
	const double batch[] = {0.585636675,   -0.237641916, 0.662485957,  -0.45161742,
	                        -0.284876227,  -0.582262635, -0.262731045, -0.585014999,
	                        -0.0669805855, 0.644884229};
	mla_tensor *seven, *offsets, *frequencies, *t;

	(void)state;
	assert_int_equal(mla_tensor_number(&seven, engine, MLA_I32, 7), 0);
	assert_int_equal(
		mla_tensor_from(&offsets, engine, MLA_I32, 1, (int64_t[]){2}, (double[]){3, 100}),
		0);
	assert_int_equal(mla_tensor_from(&frequencies, engine, MLA_F32, 1, (int64_t[]){4},
	                                 (double[]){1, 3, 10, 50}),
	                 0);
	assert_int_equal(mla_rope(&t, engine, input(MLA_F32),
	                          &(mla_rope_options){8, false, 500000, 0.25, NULL, seven}),
	                 0);
	assert_picked(t, scaled, 1e-6);
	assert_int_equal(mla_rope(&t, engine, input(MLA_F32),
	                          &(mla_rope_options){8, true, 0, 1, frequencies, seven}),
	                 0);
	assert_picked(t, given, 1e-6);
	assert_int_equal(mla_rope(&t, engine, input(MLA_F32),
	                          &(mla_rope_options){8, false, 10000, 1, NULL, offsets}),
	                 0);
	assert_picked(t, batch, 1e-6);
}

/* Zero width, positions as a shift, and what is refused. */
static void rotary_edges(void **state)
{
	const mla_tensor *parts[2];
	mla_tensor *x = input(MLA_F32), *t, *u, *one, *row;
	mla_rope_options o = {0, false, 10000, 1, NULL, NULL};

	(void)state;
	assert_int_equal(mla_rope(&t, engine, x, &o), 0);
	for (int i = 0; i < 96; i++)
		assert_true(mla_tensor_at(t, i) == mla_tensor_at(x, i));
	/* A row twice: the second of them is where the first would be at offset 1. */
	o.dims = 8;
	assert_int_equal(mla_tensor_number(&one, engine, MLA_I32, 1), 0);
	assert_int_equal(mla_view_slice(&row, engine, x, 2, 0, 1, 1), 0);
	parts[0] = parts[1] = row;
	assert_int_equal(mla_move_concat(&t, engine, parts, 2, 2), 0);
	assert_int_equal(mla_rope(&t, engine, t, &o), 0);
	o.offset = one;
	assert_int_equal(mla_rope(&u, engine, row, &o), 0);
	for (int i = 0; i < 8; i++) {
		assert_true(mla_tensor_at(t, i) == mla_tensor_at(x, i));
		assert_true(mla_tensor_at(t, 8 + i) == mla_tensor_at(u, i));
		assert_false(mla_tensor_at(u, i) == mla_tensor_at(x, i));
	}
	o.dims = 7;
	assert_int_equal(mla_rope(&t, engine, x, &o), MLA_ERAISE);
	o.dims = 10;
	assert_int_equal(mla_rope(&t, engine, x, &o), MLA_ERAISE);
	assert_string_equal(mla_error_last(), "rope: 10 dimensions of (2, 2, 3, 8)");
}

static void rms(void **state)
{
	const double with[] = {-0.540081382, -0.0686872751, 2.7170248,    -0.525789142, 0.361905813,
	                       -1.22994363,  -0.747402549,  -0.376237243, 0.612473786,  1.91224539};
	const double without[] = {-1.38260841, -0.0709029958, 1.59531736,   -0.542750061,
	                          0.926478863, -1.26961923,   -0.583338559, -0.243224084,
	                          0.871073842, 1.49248421};
	const double brain[] = {-0.5390625, -0.068359375, 2.71875,      -0.52734375, 0.361328125,
	                        -1.234375,  -0.74609375,  -0.376953125, 0.61328125,  1.9140625};
	mla_tensor *t;

	(void)state;
	assert_int_equal(mla_rms_norm(&t, engine, input(MLA_F32),
	                              recipe(MLA_F32, 1, (int64_t[]){8}, 0, 1), 1e-5),
	                 0);
	assert_picked(t, with, 1e-6);
	assert_int_equal(mla_rms_norm(&t, engine, input(MLA_F32), NULL, 1e-5), 0);
	assert_picked(t, without, 1e-6);
	assert_int_equal(mla_rms_norm(&t, engine, input(MLA_BF16),
	                              recipe(MLA_BF16, 1, (int64_t[]){8}, 0, 1), 1e-5),
	                 0);
	assert_int_equal(t->dtype, MLA_BF16);
	assert_picked(t, brain, 0);
}

static void layer(void **state)
{
	const double expected[] = {-1.28988194,  -0.282696247, 3.18984866,   -0.691238701,
	                           -0.419425398, -1.55779099,  -0.809909701, 0.168107867,
	                           0.290194094,  2.04518795};
	const double brain[] = {-1.2890625, -0.28125,    3.1875,     -0.69140625, -0.419921875,
	                        -1.5546875, -0.80859375, 0.16796875, 0.29296875,  2.046875};
	mla_tensor *w = recipe(MLA_F32, 1, (int64_t[]){8}, 0, 1), *t;
	mla_tensor *b = recipe(MLA_F32, 1, (int64_t[]){8}, 8, 0), *wb, *bb;

	(void)state;
	assert_int_equal(mla_layer_norm(&t, engine, input(MLA_F32), w, b, 1e-5), 0);
	assert_picked(t, expected, 1e-6);
	assert_int_equal(mla_move_cast(&wb, engine, w, MLA_BF16), 0);
	assert_int_equal(mla_move_cast(&bb, engine, b, MLA_BF16), 0);
	assert_int_equal(mla_layer_norm(&t, engine, input(MLA_BF16), wb, bb, 1e-5), 0);
	assert_picked(t, brain, 0);
	assert_int_equal(mla_layer_norm(&t, engine, input(MLA_F32),
	                                recipe(MLA_F32, 1, (int64_t[]){4}, 0, 0), NULL, 1e-5),
	                 MLA_ERAISE);
	assert_string_equal(mla_error_last(), "layer_norm: (2, 2, 3, 8) with parameters of (4,)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rotary_halves_and_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(rotary_scale_frequencies_offsets, setup, teardown),
		cmocka_unit_test_setup_teardown(rotary_edges, setup, teardown),
		cmocka_unit_test_setup_teardown(rms, setup, teardown),
		cmocka_unit_test_setup_teardown(layer, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

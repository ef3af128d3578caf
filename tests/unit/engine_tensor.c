/* Tensors, views, scopes, limits and the generator. Slices are checked against Python's own. */
#include "tests/unit/engine.h"

#include "engine/move.h"
#include "engine/random.h"
#include "engine/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 0, 1, 2, ... in the given shape. */
static mla_tensor *counting(uint32_t ndim, const int64_t *shape)
{
	double values[256];
	mla_tensor *t;

	for (int i = 0; i < 256; i++)
		values[i] = i;
	assert_int_equal(mla_tensor_from(&t, engine, MLA_F32, ndim, shape, values), 0);
	assert_true(t->count <= 256);
	return t;
}

#define COUNTING(...) \
	counting(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void assert_values(const mla_tensor *t, const char *shape, const char *values)
{
	char text[1024] = "";

	assert_string_equal(mla_shape_text(text, t->ndim, t->shape), shape);
	text[0] = '\0';
	for (int64_t i = 0; i < t->count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), i ? " %g" : "%g",
		         mla_tensor_at(t, i));
	assert_string_equal(text, values);
}

static void axes(void **state)
{
	mla_tensor *t = COUNTING(2, 3), *v;

	(void)state;
	assert_int_equal(mla_view_transpose(&v, engine, t, 0, NULL), 0);
	assert_values(v, "(3, 2)", "0 3 1 4 2 5");
	assert_int_equal(mla_view_swapaxes(&v, engine, t, -1, -2), 0);
	assert_values(v, "(3, 2)", "0 3 1 4 2 5");
	assert_int_equal(mla_view_moveaxis(&v, engine, COUNTING(2, 1, 3), 0, -1), 0);
	assert_values(v, "(1, 3, 2)", "0 3 1 4 2 5");
	assert_int_equal(mla_view_transpose(&v, engine, COUNTING(2, 2, 2), 3, (int64_t[]){1, 0, 2}),
	                 0);
	assert_values(v, "(2, 2, 2)", "0 1 4 5 2 3 6 7");
	assert_int_equal(mla_view_expand(&v, engine, t, 1), 0);
	assert_values(v, "(2, 1, 3)", "0 1 2 3 4 5");
	assert_int_equal(mla_view_expand(&v, engine, t, -1), 0);
	assert_values(v, "(2, 3, 1)", "0 1 2 3 4 5");
	assert_int_equal(mla_view_squeeze(&v, engine, v, 2), 0);
	assert_values(v, "(2, 3)", "0 1 2 3 4 5");
	assert_raises(mla_view_squeeze(&v, engine, t, 0), "squeeze: axis 0 of (2, 3)");
	assert_raises(mla_view_swapaxes(&v, engine, t, 0, 2), "swapaxes: axis 2 of (2, 3)");
	assert_raises(mla_view_transpose(&v, engine, t, 3, (int64_t[]){0, 1, 2}),
	              "transpose: 3 axes for (2, 3)");
	assert_raises(mla_view_transpose(&v, engine, t, 2, (int64_t[]){0, 0}),
	              "transpose: axis 0 twice");
	assert_raises(mla_view_expand(&v, engine, t, 4), "expand_dims: axis 4 of (2, 3)");
}

/* Every start, stop and step over a row of five, as list(range(5))[start:stop:step] gives it. */
static void slices(void **state)
{
	mla_tensor *t = COUNTING(5), *v;

	(void)state;
	for (int64_t step = -6; step <= 6; step++)
		for (int64_t start = -7; start <= 7; start++)
			for (int64_t stop = -7; step && stop <= 7; stop++) {
				int64_t from = start < 0 ? start + 5 : start;
				int64_t to = stop < 0 ? stop + 5 : stop;
				int64_t low = step > 0 ? 0 : -1, high = step > 0 ? 5 : 4, n = 0;

				from = from < low ? low : from > high ? high : from;
				to = to < low ? low : to > high ? high : to;
				assert_int_equal(
					mla_view_slice(&v, engine, t, 0, start, stop, step), 0);
				for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
					assert_int_equal(mla_tensor_at(v, n++), i);
				assert_int_equal(v->shape[0], n);
			}
	assert_int_equal(mla_view_slice(&v, engine, t, 0, INT64_MIN, INT64_MAX, INT64_MAX), 0);
	assert_values(v, "(1,)", "0");
	assert_int_equal(mla_view_slice(&v, engine, t, 0, INT64_MAX, INT64_MIN, INT64_MIN), 0);
	assert_values(v, "(1,)", "4");
	assert_int_equal(mla_view_slice(&v, engine, COUNTING(2, 4), 1, 1, 4, 2), 0);
	assert_values(v, "(2, 2)", "1 3 5 7");
	assert_raises(mla_view_slice(&v, engine, t, 0, 0, 5, 0), "slice: step 0");
	assert_int_equal(mla_view_index(&v, engine, COUNTING(2, 3), 1, -1), 0);
	assert_values(v, "(2,)", "2 5");
	assert_raises(mla_view_index(&v, engine, t, 0, 5), "index: 5 on axis 0 of (5,)");
	assert_raises(mla_view_index(&v, engine, t, 0, -6), "index: -6 on axis 0 of (5,)");
}

static void splits(void **state)
{
	mla_tensor *parts[3], *t = COUNTING(2, 5);

	(void)state;
	assert_int_equal(mla_view_split(parts, engine, t, -1, 2, (int64_t[]){2, 2}), 0);
	assert_values(parts[0], "(2, 2)", "0 1 5 6");
	assert_values(parts[1], "(2, 0)", "");
	assert_values(parts[2], "(2, 3)", "2 3 4 7 8 9");
}

static void repetition(void **state)
{
	const mla_tensor *in[2];
	int64_t shape[MLA_DIMS];
	mla_tensor *v;
	uint32_t ndim;

	(void)state;
	assert_int_equal(mla_view_broadcast_to(&v, engine, COUNTING(2, 1), 3, (int64_t[]){2, 2, 2}),
	                 0);
	assert_values(v, "(2, 2, 2)", "0 0 1 1 0 0 1 1");
	assert_int_equal(mla_move_copy(&v, engine, v), 0);
	assert_values(v, "(2, 2, 2)", "0 0 1 1 0 0 1 1");
	assert_raises(mla_view_broadcast_to(&v, engine, COUNTING(2, 3), 2, (int64_t[]){2, 4}),
	              "broadcast_to: (2, 3) to (2, 4)");
	assert_raises(mla_view_broadcast_to(&v, engine, COUNTING(2, 3), 1, (int64_t[]){3}),
	              "broadcast_to: (2, 3) to (3,)");
	in[0] = COUNTING(2, 1, 4);
	in[1] = COUNTING(3, 1);
	assert_int_equal(mla_view_broadcast_shape(&ndim, shape, in, 2, "add"), 0);
	assert_int_equal(ndim, 3);
	assert_true(shape[0] == 2 && shape[1] == 3 && shape[2] == 4);
	in[1] = COUNTING(3);
	assert_raises(mla_view_broadcast_shape(&ndim, shape, in, 2, "add"),
	              "add: (2, 1, 4) and (3,)");
}

static void shapes(void **state)
{
	mla_tensor *t = COUNTING(2, 6), *v;

	(void)state;
	assert_int_equal(mla_view_reshape(&v, engine, t, 3, (int64_t[]){3, -1, 2}), 0);
	assert_values(v, "(3, 2, 2)", "0 1 2 3 4 5 6 7 8 9 10 11");
	assert_ptr_equal(v->storage, t->storage);
	assert_int_equal(mla_view_transpose(&v, engine, t, 0, NULL), 0);
	assert_int_equal(mla_view_reshape(&v, engine, v, 2, (int64_t[]){4, 3}), 0);
	assert_values(v, "(4, 3)", "0 6 1 7 2 8 3 9 4 10 5 11");
	assert_int_equal(mla_view_reshape(&v, engine, COUNTING(1), 0, NULL), 0);
	assert_values(v, "()", "0");
	assert_raises(mla_view_reshape(&v, engine, t, 2, (int64_t[]){5, -1}),
	              "reshape: (2, 6) to (5, -1)");
	assert_raises(mla_view_reshape(&v, engine, t, 2, (int64_t[]){-1, -1}),
	              "reshape: (2, 6) to (-1, -1)");
	assert_raises(mla_view_reshape(&v, engine, t, 2, (int64_t[]){3, 3}),
	              "reshape: (2, 6) to (3, 3)");
}

static void joining(void **state)
{
	const mla_tensor *in[] = {COUNTING(2, 1), COUNTING(2, 2)};
	mla_tensor *v;

	(void)state;
	assert_int_equal(mla_move_concat(&v, engine, in, 2, -1), 0);
	assert_values(v, "(2, 3)", "0 0 1 1 2 3");
	assert_raises(mla_move_concat(&v, engine, in, 2, 0), "concatenate: (2, 1) and (2, 2)");
	assert_raises(mla_move_concat(&v, engine, in, 0, 0), "concatenate: nothing to join");
}

static void casts(void **state)
{
	mla_engine *oracle = mla_engine_new(&(mla_engine_options){.oracle = true});
	double x[] = {1 + 0x1p-8, 0.1, -2.5};
	mla_tensor *t, *v;

	(void)state;
	assert_int_equal(mla_tensor_from(&t, engine, MLA_F64, 1, (int64_t[]){3}, x), 0);
	assert_int_equal(mla_move_cast(&v, engine, t, MLA_BF16), 0);
	assert_true(mla_tensor_at(v, 0) == 1);
	assert_true(mla_tensor_at(v, 1) == 0x1.9ap-4);
	assert_int_equal(mla_move_cast(&v, engine, t, MLA_I32), 0);
	assert_true(mla_tensor_at(v, 2) == -2);
	/* In f64 a cast to a narrower float keeps everything; one to an integer does not. */
	assert_int_equal(mla_tensor_from(&t, oracle, MLA_F64, 1, (int64_t[]){3}, x), 0);
	assert_int_equal(mla_move_cast(&v, oracle, t, MLA_BF16), 0);
	assert_int_equal(v->dtype, MLA_F64);
	assert_true(mla_tensor_at(v, 1) == 0.1);
	assert_int_equal(mla_move_cast(&v, oracle, t, MLA_BOOL), 0);
	assert_int_equal(v->dtype, MLA_BOOL);
	mla_engine_free(oracle);
}

static void scopes(void **state)
{
	mla_tensor *kept, *view, *base, *older;
	mla_tensor_scope outer = mla_tensor_scope_open(engine), inner;

	(void)state;
	older = COUNTING(2);
	inner = mla_tensor_scope_open(engine);
	base = COUNTING(2, 3);
	COUNTING(7);
	assert_int_equal(mla_view_index(&view, engine, base, 0, 1), 0);
	kept = view;
	mla_tensor_scope_close(engine, inner, &kept, 1);
	/* The buffer outlives its first tensor. */
	assert_values(kept, "(3,)", "3 4 5");
	assert_values(older, "(2,)", "0 1");
	mla_tensor_scope_close(engine, outer, NULL, 0);
	/* Nothing is left: the whole budget is free again. */
	assert_int_equal(mla_tensor_new(&base, engine, MLA_BOOL, 1,
	                                (int64_t[]){(int64_t)MLA_ENGINE_BYTES - 4096}),
	                 0);
	mla_tensor_drop(engine, base);
	mla_tensor_drop(engine, NULL);
}

static void limits(void **state)
{
	mla_engine *little = mla_engine_new(&(mla_engine_options){.max_bytes = 20000});
	mla_tensor *t, *v;
	int error = 0;

	(void)state;
	assert_int_equal(mla_tensor_new(&t, engine, MLA_F32, 1, (int64_t[]){1000000000}),
	                 MLA_ELIMIT);
	/* Between the two numbers stands the memory of the tensors as such. */
	assert_non_null(strstr(mla_error_last(), "float32 tensor (1000000000,): 4000000000 bytes"));
	assert_non_null(strstr(mla_error_last(), "536870912 allowed"));
	assert_int_equal(mla_tensor_new(&t, engine, MLA_F64, 3,
	                                (int64_t[]){INT64_MAX, INT64_MAX, INT64_MAX}),
	                 MLA_ELIMIT);
	assert_int_equal(mla_tensor_new(&t, engine, MLA_F64, 3, (int64_t[]){INT64_MAX, 0, 9}), 0);
	assert_int_equal(t->count, 0);
	assert_int_equal(mla_tensor_new(&t, engine, MLA_F64, 2, (int64_t[]){2, -1}), MLA_ERAISE);
	assert_int_equal(
		mla_tensor_new(&t, engine, MLA_F64, 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}),
		MLA_ELIMIT);
	/* A view costs nothing, but not without end, and its elements still count. */
	assert_int_equal(mla_tensor_new(&t, little, MLA_F32, 1, (int64_t[]){1}), 0);
	assert_int_equal(mla_view_broadcast_to(&v, little, t, 1, (int64_t[]){1000000000}), 0);
	assert_int_equal(mla_move_copy(&v, little, v), MLA_ELIMIT);
	assert_int_equal(mla_view_broadcast_to(&v, little, t, 1, (int64_t[]){INT64_MAX}),
	                 MLA_ELIMIT);
	for (int i = 0; i < 1000 && !error; i++)
		error = mla_view_expand(&v, little, t, 0);
	assert_int_equal(error, MLA_ELIMIT);
	mla_engine_free(little);
	little = mla_engine_new(&(mla_engine_options){.max_work = 30000});
	assert_int_equal(mla_tensor_new(&t, little, MLA_F32, 1, (int64_t[]){600}), 0);
	assert_int_equal(mla_move_copy(&v, little, t), 0);
	assert_int_equal(mla_move_copy(&v, little, t), MLA_ELIMIT);
	assert_string_equal(mla_error_last(),
	                    "copy: 600 operations end the work allowed, 30000 multiply-adds");
	mla_engine_free(little);
}

static void shapes_without_data(void **state)
{
	mla_engine *e = mla_engine_new(&(mla_engine_options){.shapes_only = true});
	mla_tensor *t, *v;

	(void)state;
	assert_int_equal(mla_tensor_new(&t, e, MLA_F32, 2, (int64_t[]){1 << 20, 1 << 19}), 0);
	assert_false(mla_tensor_has_data(t));
	assert_true(isnan(mla_tensor_at(t, 0)));
	assert_int_equal(mla_view_swapaxes(&v, e, t, 0, 1), 0);
	assert_int_equal(mla_move_copy(&v, e, v), 0);
	assert_int_equal(mla_engine_work(e, MLA_WORK_MOVE).operations, (int64_t)1 << 39);
	assert_int_equal(mla_engine_work(e, MLA_WORK_MOVE).bytes, (int64_t)1 << 42);
	assert_int_equal(mla_engine_work(e, MLA_WORK_MOVE).calls, 1);
	mla_engine_free(e);
}

/* The first numbers of SplitMix64 from its published test vector; the rest from Python integers. */
static void generator(void **state)
{
	mla_random r = {1234567};
	double sum = 0, square = 0, draw;

	(void)state;
	assert_true(mla_random_u64(&r) == 6457827717110365317u);
	assert_true(mla_random_u64(&r) == 3203168211198807973u);
	assert_true(mla_random_u64(&r) == 9817491932198370423u);
	r = mla_random_stream(11, 3);
	assert_true(mla_random_u64(&r) == 0x2d7466c12ddf4fdeu);
	r = mla_random_stream(11, 3);
	assert_true(mla_random_uniform(&r) == 0.17755739418305183);
	r = mla_random_stream(11, 3);
	assert_true(mla_random_normal(&r) == -0x1.ad187ba400000p-1);
	for (int i = 0; i < 100000; i++) {
		draw = mla_random_normal(&r);
		sum += draw;
		square += draw * draw;
	}
	/* Four deviations of the mean and of the variance of that many. */
	assert_true(fabs(sum / 100000) < 4 / sqrt(100000));
	assert_true(fabs(square / 100000 - 1) < 4 * sqrt(2.0 / 100000));
}

static void filling(void **state)
{
	mla_random a = mla_random_stream(1, 1), b = a;
	mla_tensor *x, *y;

	(void)state;
	assert_int_equal(
		mla_random_normals(&x, engine, MLA_F64, MLA_BF16, 1, (int64_t[]){700}, &a, 0.3), 0);
	for (int i = 0; i < 700; i++)
		assert_true(mla_tensor_at(x, i) ==
		            mla_dtype_round(MLA_BF16, 0.3 * mla_random_normal(&b)));
	assert_int_equal(
		mla_random_uniforms(&y, engine, MLA_F32, MLA_F32, 1, (int64_t[]){700}, &a, -2, 5),
		0);
	for (int i = 0; i < 700; i++)
		assert_true(mla_tensor_at(y, i) >= -2 && mla_tensor_at(y, i) <= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(axes, setup, teardown),
		cmocka_unit_test_setup_teardown(slices, setup, teardown),
		cmocka_unit_test_setup_teardown(splits, setup, teardown),
		cmocka_unit_test_setup_teardown(repetition, setup, teardown),
		cmocka_unit_test_setup_teardown(shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(joining, setup, teardown),
		cmocka_unit_test_setup_teardown(casts, setup, teardown),
		cmocka_unit_test_setup_teardown(scopes, setup, teardown),
		cmocka_unit_test_setup_teardown(limits, setup, teardown),
		cmocka_unit_test_setup_teardown(shapes_without_data, setup, teardown),
		cmocka_unit_test_setup_teardown(generator, setup, teardown),
		cmocka_unit_test_setup_teardown(filling, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

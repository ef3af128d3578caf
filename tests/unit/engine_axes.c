/*
 * Reductions, sorting, gathering, joining, einsum. Unless a comment says otherwise the expected
 * text was printed by NumPy 2.4.6 for x = ((37 i + 11) % 101 - 50) / 64 in the shape (2, 3, 4).
 */
#include "tests/unit/engine.h"

#include "analyzer/str.h"
#include "engine/einsum.h"
#include "engine/elementwise.h"
#include "engine/gather.h"
#include "engine/make.h"
#include "engine/move.h"
#include "engine/reduce.h"
#include "engine/sort.h"
#include "engine/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mla_tensor *values(mla_dtype d, uint32_t ndim, const int64_t *shape, const double *v)
{
	mla_tensor *t;

	assert_int_equal(mla_tensor_from(&t, engine, d, ndim, shape, v), 0);
	return t;
}

/* The recipe, in f64: the expected values are NumPy's doubles. */
static mla_tensor *recipe(uint32_t ndim, const int64_t *shape)
{
	double v[24];

	for (int i = 0; i < 24; i++)
		v[i] = ((i * 37 + 11) % 101 - 50) / 64.0;
	return values(MLA_F64, ndim, shape, v);
}

static mla_tensor *x(void)
{
	return recipe(3, (int64_t[]){2, 3, 4});
}

static mla_tensor *part(int64_t index)
{
	mla_tensor *t;

	assert_int_equal(mla_view_index(&t, engine, x(), 0, index), 0);
	return t;
}

static mla_tensor *corner(void)
{
	mla_tensor *t;

	assert_int_equal(mla_view_slice(&t, engine, part(0), 0, 0, 2, 1), 0);
	assert_int_equal(mla_view_slice(&t, engine, t, 1, 0, 2, 1), 0);
	return t;
}

static void assert_text(const mla_tensor *t, const char *shape, const char *expected)
{
	char text[2048];
	size_t n = 0;

	assert_string_equal(mla_shape_text(text, t->ndim, t->shape), shape);
	text[0] = '\0';
	for (int64_t i = 0; i < t->count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, i ? " %.7g" : "%.7g",
		                      mla_tensor_at(t, i));
	assert_string_equal(text, expected);
}

static mla_tensor *reduced(mla_reduction op, const mla_tensor *t, int64_t a, int64_t b)
{
	int64_t axes[] = {a, b};
	mla_tensor *out;

	assert_int_equal(mla_reduce(&out, engine, op, t, a == b ? 1 : 2, axes, false), 0);
	return out;
}

static void reductions(void **state)
{
	mla_tensor *t;

	(void)state;
	assert_text(reduced(MLA_RED_SUM, x(), 0, 0), "(3, 4)",
	            "-0.59375 0.5625 0.140625 -0.28125 0.875 0.453125 0.03125 -0.390625 -0.8125 "
	            "0.34375 -0.078125 -0.5");
	assert_text(reduced(MLA_RED_SUM, x(), 1, 1), "(2, 4)",
	            "-1.203125 0.53125 0.6875 -0.734375 0.671875 0.828125 -0.59375 -0.4375");
	assert_text(reduced(MLA_RED_SUM, x(), 2, 2), "(2, 3)",
	            "-0.546875 0.8125 -0.984375 0.375 0.15625 -0.0625");
	assert_text(reduced(MLA_RED_SUM, x(), 0, -1), "(3,)", "-0.171875 0.96875 -1.046875");
	assert_text(reduced(MLA_RED_MEAN, x(), 2, 0), "(3,)", "-0.02148438 0.1210938 -0.1308594");
	assert_text(reduced(MLA_RED_VAR, x(), 1, 1), "(2, 4)",
	            "0.1403537 0.1403537 0.1403537 0.1403537 0.1403537 0.1403537 0.1403537 "
	            "0.1403537");
	assert_text(reduced(MLA_RED_MAX, x(), 0, 1), "(4,)", "0.75 0.703125 0.546875 0.28125");
	assert_text(reduced(MLA_RED_MIN, x(), -1, -1), "(2, 3)",
	            "-0.609375 -0.296875 -0.71875 -0.40625 -0.671875 -0.515625");
	assert_text(reduced(MLA_RED_ARGMAX, x(), 1, 1), "(2, 4)", "1 1 0 1 1 0 1 0");
	assert_text(reduced(MLA_RED_ARGMIN, x(), 2, 2), "(2, 3)", "0 2 0 2 3 2");
	assert_text(reduced(MLA_RED_PROD, x(), 2, 2), "(2, 3)",
	            "-0.0047189 -0.007338524 -0.02487373 -0.0006477833 0.04133606 0.001463413");
	assert_text(reduced(MLA_RED_LOGSUMEXP, x(), 2, 2), "(2, 3)",
	            "1.354909 1.652713 1.245534 1.543338 1.567556 1.433963");
	assert_int_equal(mla_reduce(&t, engine, MLA_RED_SUM, x(), 0, NULL, false), 0);
	assert_text(t, "()", "-0.25");
	assert_int_equal(mla_reduce(&t, engine, MLA_RED_ARGMAX, x(), 0, NULL, false), 0);
	assert_text(t, "()", "16");
	assert_int_equal(t->dtype, MLA_I32);
	assert_int_equal(mla_reduce(&t, engine, MLA_RED_SUM, x(), 2, (int64_t[]){0, 2}, true), 0);
	assert_text(t, "(1, 3, 1)", "-0.171875 0.96875 -1.046875");
}

/* Formats, truth values and nothing at all; what NumPy and MLX do is in the comments of the header.
 */
static void reduction_edges(void **state)
{
	double large[] = {2000000000, 2000000000};
	mla_tensor *truth = values(MLA_BOOL, 2, (int64_t[]){2, 2}, (double[]){1, 1, 0, 1});
	mla_tensor *whole = values(MLA_I32, 1, (int64_t[]){2}, large), *none, *t;
	mla_tensor *odd = values(MLA_F32, 1, (int64_t[]){3}, (double[]){1, NAN, 3});

	(void)state;
	assert_text(reduced(MLA_RED_ANY, truth, 1, 1), "(2,)", "1 1");
	assert_text(reduced(MLA_RED_ALL, truth, 1, 1), "(2,)", "1 0");
	t = reduced(MLA_RED_SUM, truth, 0, 0);
	assert_int_equal(t->dtype, MLA_I32);
	assert_text(t, "(2,)", "1 2");
	assert_int_equal(reduced(MLA_RED_MEAN, whole, 0, 0)->dtype, MLA_F32);
	assert_int_equal(mla_reduce(&t, engine, MLA_RED_SUM, whole, 0, NULL, false), MLA_ELIMIT);
	assert_true(isnan(mla_tensor_at(reduced(MLA_RED_MAX, odd, 0, 0), 0)));
	assert_text(reduced(MLA_RED_ARGMAX, odd, 0, 0), "()", "1");
	assert_int_equal(mla_tensor_new(&none, engine, MLA_F32, 2, (int64_t[]){2, 0}), 0);
	assert_text(reduced(MLA_RED_SUM, none, 1, 1), "(2,)", "0 0");
	assert_text(reduced(MLA_RED_ALL, none, 1, 1), "(2,)", "1 1");
	assert_int_equal(reduced(MLA_RED_MAX, none, 0, 0)->count, 0);
	assert_raises(mla_reduce(&t, engine, MLA_RED_MAX, none, 1, (int64_t[]){1}, false),
	              "max: no elements in (2, 0)");
	assert_raises(mla_reduce(&t, engine, MLA_RED_SUM, x(), 1, (int64_t[]){3}, false),
	              "sum: axis 3 of (2, 3, 4)");
	assert_raises(mla_reduce(&t, engine, MLA_RED_SUM, x(), 2, (int64_t[]){1, -2}, false),
	              "sum: axis 1 twice");
	/* 300 bf16 ones: a bf16 sum would stop at 256. */
	assert_int_equal(mla_make_full(&t, engine, MLA_BF16, 1, (int64_t[]){300}, 1), 0);
	assert_text(reduced(MLA_RED_SUM, t, 0, 0), "()", "300");
}

static void running_sums(void **state)
{
	mla_tensor *t;

	(void)state;
	assert_int_equal(mla_cumsum(&t, engine, x(), 1, false, false), 0);
	assert_int_equal(mla_view_index(&t, engine, t, 0, 1), 0);
	assert_text(t, "(3, 4)",
	            "0.015625 0.59375 -0.40625 0.171875 0.765625 0.34375 -0.078125 -0.5 0.671875 "
	            "0.828125 -0.59375 -0.4375");
	assert_int_equal(mla_cumsum(&t, engine, part(0), -1, true, true), 0);
	assert_text(t, "(3, 4)",
	            "0.0625 0.09375 -0.453125 0 0.6875 -0.015625 0.28125 0 -0.265625 -0.125 "
	            "-0.5625 0");
	assert_int_equal(mla_cumsum(&t, engine,
	                            values(MLA_BOOL, 1, (int64_t[]){3}, (double[]){1, 0, 1}), 0,
	                            false, false),
	                 0);
	assert_int_equal(t->dtype, MLA_I32);
	assert_text(t, "(3,)", "1 1 2");
}

static void sorting(void **state)
{
	double odd[] = {3, NAN, -INFINITY, 3, 1};
	mla_tensor *t;

	(void)state;
	assert_int_equal(mla_argsort(&t, engine, part(0), 0), 0);
	assert_text(t, "(3, 4)", "2 2 1 2 0 0 2 0 1 1 0 1");
	assert_int_equal(mla_argsort(&t, engine, part(1), -1), 0);
	assert_text(t, "(3, 4)", "2 0 3 1 3 1 2 0 2 0 3 1");
	assert_int_equal(mla_sort(&t, engine, part(1), -1), 0);
	assert_text(t, "(3, 4)",
	            "-0.40625 0.015625 0.171875 0.59375 -0.671875 -0.25 0.328125 0.75 -0.515625 "
	            "-0.09375 0.0625 0.484375");
	assert_int_equal(mla_argsort(&t, engine, values(MLA_F32, 1, (int64_t[]){5}, odd), 0), 0);
	assert_text(t, "(5,)", "2 4 0 3 1");
}

/* The largest three by -kth and a negative slice, as sparse models do; worked out by hand. */
static void partition(void **state)
{
	double v[] = {5, 1, 4, 2, 3}, again[] = {0, 2, 4}, other[] = {0, 2, 3};
	mla_tensor *t = values(MLA_F32, 1, (int64_t[]){5}, v), *at, *top;
	bool same;

	(void)state;
	assert_int_equal(mla_argpartition(&at, engine, t, -3, -1), 0);
	assert_text(at, "(5,)", "3 1 4 0 2");
	assert_int_equal(mla_view_slice(&top, engine, at, -1, -3, INT64_MAX, 1), 0);
	assert_text(top, "(3,)", "4 0 2");
	assert_int_equal(
		mla_same_sets(&same, engine, top, values(MLA_I32, 1, (int64_t[]){3}, again)), 0);
	assert_true(same);
	assert_int_equal(
		mla_same_sets(&same, engine, top, values(MLA_I32, 1, (int64_t[]){3}, other)), 0);
	assert_false(same);
	assert_raises(mla_same_sets(&same, engine, top, at), "positions of shapes (3,) and (5,)");
	assert_raises(mla_argpartition(&at, engine, t, 5, 0),
	              "argpartition: kth 5 on axis 0 of (5,)");
	assert_raises(mla_argpartition(&at, engine, t, -6, 0),
	              "argpartition: kth -6 on axis 0 of (5,)");
}

static void gathering(void **state)
{
	mla_tensor *at = values(MLA_I32, 3, (int64_t[]){2, 1, 2}, (double[]){2, 0, 1, -1}), *t;
	mla_tensor *square = values(MLA_I32, 2, (int64_t[]){2, 2}, (double[]){2, 0, 0, 1});

	(void)state;
	assert_int_equal(mla_take_along_axis(&t, engine, x(), at, 2), 0);
	assert_text(t, "(2, 3, 2)",
	            "0.546875 -0.609375 -0.296875 0.125 0.4375 -0.71875 0.59375 0.171875 -0.25 "
	            "-0.671875 0.484375 0.0625");
	assert_int_equal(mla_take(&t, engine, x(), square, 1), 0);
	assert_text(t, "(2, 2, 2, 4)",
	            "-0.71875 -0.140625 0.4375 -0.5625 -0.609375 -0.03125 0.546875 -0.453125 "
	            "-0.609375 -0.03125 0.546875 -0.453125 0.125 0.703125 -0.296875 0.28125 "
	            "-0.09375 0.484375 -0.515625 0.0625 0.015625 0.59375 -0.40625 0.171875 "
	            "0.015625 0.59375 -0.40625 0.171875 0.75 -0.25 0.328125 -0.671875");
	assert_raises(mla_take_along_axis(&t, engine, x(), square, 1),
	              "take_along_axis: (2, 3, 4) at (2, 2)");
	assert_raises(mla_take_along_axis(&t, engine, x(),
	                                  values(MLA_I32, 3, (int64_t[]){1, 1, 1}, (double[]){4}),
	                                  2),
	              "take_along_axis: position 4 of 4");
	assert_raises(
		mla_take(&t, engine, x(), values(MLA_F32, 1, (int64_t[]){1}, (double[]){0}), 0),
		"take: positions of type float32");
}

static void scattering(void **state)
{
	mla_tensor *at = values(MLA_I32, 2, (int64_t[]){2, 2}, (double[]){3, 1, 0, -2}), *t;
	mla_tensor *v = values(MLA_F32, 2, (int64_t[]){2, 2}, (double[]){5, 6, 7, 8}), *zero;

	(void)state;
	assert_int_equal(mla_make_full(&zero, engine, MLA_F32, 2, (int64_t[]){2, 4}, 0), 0);
	assert_int_equal(mla_put_along_axis(&t, engine, zero, at, v, 1), 0);
	assert_text(t, "(2, 4)", "0 6 0 5 7 0 8 0");
	assert_text(zero, "(2, 4)", "0 0 0 0 0 0 0 0");
	/* A selection as a mask: True, a scalar, into bool zeros, for one row of positions. */
	assert_int_equal(mla_make_full(&zero, engine, MLA_BOOL, 2, (int64_t[]){2, 4}, 0), 0);
	assert_int_equal(mla_tensor_number(&v, engine, MLA_BOOL, 1), 0);
	assert_int_equal(mla_view_slice(&at, engine, at, 0, 0, 1, 1), 0);
	assert_int_equal(mla_put_along_axis(&t, engine, zero, at, v, -1), 0);
	assert_text(t, "(2, 4)", "0 1 0 1 0 1 0 1");
	assert_raises(mla_put_along_axis(&t, engine, zero, at, x(), 1),
	              "broadcast_to: (2, 3, 4) to (2, 2)");
	assert_int_equal(mla_make_full(&at, engine, MLA_I32, 2, (int64_t[]){1, 1}, 4), 0);
	assert_raises(mla_put_along_axis(&t, engine, zero, at, v, 1),
	              "put_along_axis: position 4 of 4");
}

static void moving(void **state)
{
	mla_tensor *halves[] = {part(0), part(1)}, *t;
	const mla_tensor *in[] = {halves[0], halves[1]};

	(void)state;
	assert_int_equal(mla_view_slice(&t, engine, part(0), 0, 0, 2, 1), 0);
	assert_int_equal(mla_move_repeat(&t, engine, t, 2, 0), 0);
	assert_text(t, "(4, 4)",
	            "-0.609375 -0.03125 0.546875 -0.453125 -0.609375 -0.03125 0.546875 -0.453125 "
	            "0.125 0.703125 -0.296875 0.28125 0.125 0.703125 -0.296875 0.28125");
	assert_int_equal(mla_move_repeat(&t, engine, corner(), 2, -1), 0);
	assert_text(t, "(2, 4)",
	            "-0.609375 -0.609375 -0.03125 -0.03125 0.125 0.125 0.703125 0.703125");
	assert_int_equal(mla_move_stack(&t, engine, in, 2, -1), 0);
	assert_int_equal(t->ndim, 3);
	assert_int_equal(mla_view_index(&t, engine, t, 0, 0), 0);
	assert_text(t, "(4, 2)",
	            "-0.609375 0.015625 -0.03125 0.59375 0.546875 -0.40625 -0.453125 0.171875");
	assert_int_equal(
		mla_move_pad(&t, engine, corner(), (int64_t[]){1, 0}, (int64_t[]){0, 2}, 9), 0);
	assert_text(t, "(3, 4)", "9 9 9 9 -0.609375 -0.03125 9 9 0.125 0.703125 9 9");
	assert_raises(mla_move_pad(&t, engine, corner(), (int64_t[]){-1, 0}, (int64_t[]){0, 2}, 9),
	              "pad: -1 and 0");
	assert_raises(mla_move_repeat(&t, engine, corner(), -1, 0), "repeat: -1 times");
	in[1] = corner();
	assert_raises(mla_move_stack(&t, engine, in, 2, 0), "concatenate: (1, 3, 4) and (1, 2, 2)");
}

static void assignment(void **state)
{
	mla_tensor *source = values(MLA_F32, 1, (int64_t[]){2}, (double[]){100, 200}), *t;
	const mla_part rows[] = {{1, INT64_MAX, 1}, {0, INT64_MAX, 2}};
	const mla_part back[] = {{INT64_MAX, INT64_MIN, -1}, {-1, INT64_MAX, 1}};

	(void)state;
	assert_int_equal(mla_move_update(&t, engine, part(0), rows, source), 0);
	assert_text(t, "(3, 4)",
	            "-0.609375 -0.03125 0.546875 -0.453125 100 0.703125 200 0.28125 100 -0.140625 "
	            "200 -0.5625");
	source = values(MLA_F32, 2, (int64_t[]){3, 1}, (double[]){1, 2, 3});
	assert_int_equal(mla_move_update(&t, engine, part(0), back, source), 0);
	assert_text(t, "(3, 4)",
	            "-0.609375 -0.03125 0.546875 3 0.125 0.703125 -0.296875 2 -0.71875 -0.140625 "
	            "0.4375 1");
	assert_raises(mla_move_update(&t, engine, part(0), rows, source),
	              "broadcast_to: (3, 1) to (2, 2)");
}

static void making(void **state)
{
	mla_tensor *t;

	(void)state;
	assert_int_equal(mla_make_arange(&t, engine, MLA_I32, 2, 9, 3), 0);
	assert_text(t, "(3,)", "2 5 8");
	assert_int_equal(mla_make_arange(&t, engine, MLA_F32, 1, 0, -0.25), 0);
	assert_text(t, "(4,)", "1 0.75 0.5 0.25");
	assert_int_equal(mla_make_arange(&t, engine, MLA_I32, 3, 3, 1), 0);
	assert_text(t, "(0,)", "");
	assert_int_equal(mla_make_arange(&t, engine, MLA_I32, 0, 1, 0), MLA_ERAISE);
	assert_int_equal(mla_make_arange(&t, engine, MLA_I32, 0, 1e15, 1), MLA_ELIMIT);
	assert_int_equal(mla_make_arange(&t, engine, MLA_I32, 0, INFINITY, 1), MLA_ELIMIT);
	assert_int_equal(mla_make_full(&t, engine, MLA_F32, 1, (int64_t[]){2}, -INFINITY), 0);
	assert_text(t, "(2,)", "-inf -inf");
	assert_int_equal(mla_make_lower(&t, engine, 2, 4, 2), 0);
	assert_text(t, "(2, 4)", "1 1 1 0 1 1 1 1");
	assert_int_equal(mla_make_lower(&t, engine, 2, 2, -1), 0);
	assert_text(t, "(2, 2)", "0 0 1 0");
}

static int einsum(mla_tensor **out, const char *equation, const mla_tensor *a, const mla_tensor *b)
{
	const mla_tensor *in[] = {a, b};

	return mla_einsum(out, engine, mla_str_c(equation), in, b ? 2 : 1);
}

static void summation(void **state)
{
	mla_tensor *flat, *small, *t;

	(void)state;
	assert_int_equal(mla_view_slice(&small, engine, x(), 1, 0, 2, 1), 0);
	assert_int_equal(einsum(&t, "bij,bkj->bik", x(), small), 0);
	assert_text(t, "(2, 3, 2)",
	            "0.876709 -0.3879395 -0.3879395 0.6772461 0.9365234 -0.4768066 0.5473633 "
	            "-0.385498 -0.385498 1.184082 0.5063477 -0.4025879");
	assert_int_equal(mla_view_slice(&flat, engine, recipe(1, (int64_t[]){24}), 0, 0, 8, 1), 0);
	assert_int_equal(mla_view_reshape(&flat, engine, flat, 2, (int64_t[]){4, 2}), 0);
	assert_int_equal(einsum(&t, "bij, jk -> kib", x(), flat), 0);
	assert_text(t, "(2, 3, 2)",
	            "0.5571289 0.2133789 0.1877441 -0.3532715 0.5827637 0.2390137 0.2902832 "
	            "-0.5068359 -0.4521484 0.1315918 0.2355957 -0.5615234");
	assert_int_equal(einsum(&t, "ij,ij->", part(0), part(1)), 0);
	assert_text(t, "()", "-0.9580078");
	assert_int_equal(einsum(&t, "bij->jb", x(), NULL), 0);
	assert_text(t, "(4, 2)",
	            "-1.203125 0.671875 0.53125 0.828125 0.6875 -0.59375 -0.734375 -0.4375");
	/* Without an arrow: the letters that occur once, in order. */
	assert_int_equal(einsum(&t, "cb,ba", flat, flat), MLA_ERAISE);
	assert_int_equal(einsum(&t, "ji", flat, NULL), 0);
	assert_int_equal(t->shape[0], 2);
	assert_int_equal(einsum(&t, "...i->...", x(), NULL), MLA_EPARSE);
	assert_int_equal(einsum(&t, "iij->j", x(), NULL), MLA_EPARSE);
	assert_int_equal(einsum(&t, "bij->k", x(), NULL), MLA_EPARSE);
	assert_int_equal(einsum(&t, "bij,bkj->bik", x(), NULL), MLA_EPARSE);
	assert_raises(einsum(&t, "bij,bjk->bik", x(), x()),
	              "einsum: \"bij,bjk->bik\" with (2, 3, 4)");
	assert_raises(einsum(&t, "ij->j", x(), NULL), "einsum: \"ij->j\" with (2, 3, 4)");
}

/* The same shapes and no data: what a count needs. */
static void without_data(void **state)
{
	mla_engine *e = mla_engine_new(&(mla_engine_options){.shapes_only = true});
	mla_tensor *big, *at, *t;

	(void)state;
	assert_int_equal(mla_tensor_new(&big, e, MLA_BF16, 3, (int64_t[]){64, 1 << 17, 128}), 0);
	assert_int_equal(mla_reduce(&t, e, MLA_RED_MAX, big, 1, (int64_t[]){1}, true), 0);
	assert_true(t->shape[1] == 1 && !mla_tensor_has_data(t));
	assert_int_equal(mla_argpartition(&at, e, big, -5, 1), 0);
	assert_int_equal(mla_view_slice(&at, e, at, 1, -5, INT64_MAX, 1), 0);
	assert_int_equal(mla_take_along_axis(&t, e, big, at, 1), 0);
	assert_int_equal(t->shape[1], 5);
	assert_int_equal(mla_put_along_axis(&t, e, big, at, t, 1), 0);
	assert_int_equal(mla_softmax(&t, e, big, -1), 0);
	assert_int_equal(mla_cumsum(&t, e, big, 1, false, false), 0);
	assert_int_equal(mla_make_arange(&t, e, MLA_I32, 0, 1 << 20, 1), 0);
	assert_int_equal(t->shape[0], 1 << 20);
	mla_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reductions, setup, teardown),
		cmocka_unit_test_setup_teardown(reduction_edges, setup, teardown),
		cmocka_unit_test_setup_teardown(running_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(sorting, setup, teardown),
		cmocka_unit_test_setup_teardown(partition, setup, teardown),
		cmocka_unit_test_setup_teardown(gathering, setup, teardown),
		cmocka_unit_test_setup_teardown(scattering, setup, teardown),
		cmocka_unit_test_setup_teardown(moving, setup, teardown),
		cmocka_unit_test_setup_teardown(assignment, setup, teardown),
		cmocka_unit_test_setup_teardown(making, setup, teardown),
		cmocka_unit_test_setup_teardown(summation, setup, teardown),
		cmocka_unit_test_setup_teardown(without_data, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The operations of an engine with a backend against the f64 oracle: on the same numbers, within
 * the tolerance of the kernels, and counted as theirs.
 */
#include "tests/unit/test.h"

#include "analyzer/arena.h"
#include "engine/attention.h"
#include "engine/backend.h"
#include "engine/elementwise.h"
#include "engine/gather.h"
#include "engine/matmul.h"
#include "engine/norm.h"
#include "engine/quant.h"
#include "engine/reduce.h"
#include "engine/rope.h"
#include "engine/sort.h"
#include "engine/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[] = {"cpu", "cpu-strict"};
enum { BACKENDS = 2 };

static mla_backend *backend[BACKENDS];
static mla_engine *oracle, *tested;
static mla_dtype format; /* of the tested side */
static uint64_t seed;

static int open_backends(void **state)
{
	(void)state;
	for (int i = 0; i < BACKENDS; i++)
		if (mla_backend_open(&backend[i], backends[i],
		                     &(mla_backend_options){.threads = 1}) < 0)
			return -1;
	return 0;
}

static int close_backends(void **state)
{
	(void)state;
	for (int i = 0; i < BACKENDS; i++)
		mla_backend_free(backend[i]);
	return 0;
}

/* `body` in f32 and bf16 on every backend. */
static void everywhere(void (*body)(void))
{
	for (int i = 0; i < BACKENDS; i++)
		for (int half = 0; half < 2; half++) {
			oracle = mla_engine_new(&(mla_engine_options){.oracle = true});
			tested = mla_engine_new(&(mla_engine_options){.backend = backend[i]});
			format = half ? MLA_BF16 : MLA_F32;
			seed = 7;
			body();
			mla_engine_free(oracle);
			mla_engine_free(tested);
		}
}

/* The same numbers on both sides, representable in the format. */
typedef struct {
	mla_tensor *exact, *own;
} pair;

static pair both(const double *v, uint32_t ndim, const int64_t *shape, mla_dtype d)
{
	pair p;

	assert_int_equal(mla_tensor_from(&p.own, tested, d, ndim, shape, v), 0);
	assert_int_equal(
		mla_tensor_from(&p.exact, oracle, mla_engine_dtype(oracle, d), ndim, shape, v), 0);
	return p;
}

static pair drawn(uint32_t ndim, const int64_t *shape)
{
	int64_t n = 1;
	double *v;
	pair p;

	for (uint32_t i = 0; i < ndim; i++)
		n *= shape[i];
	v = mla_alloc((size_t)(n + 1) * sizeof(*v));
	for (int64_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		v[i] = mla_dtype_round(format, (double)(int32_t)(seed >> 33) / (1 << 30) - 0.3);
	}
	p = both(v, ndim, shape, format);
	free(v);
	return p;
}

static pair swapped(pair p, int64_t a, int64_t b)
{
	pair q;

	assert_int_equal(mla_view_swapaxes(&q.own, tested, p.own, a, b), 0);
	assert_int_equal(mla_view_swapaxes(&q.exact, oracle, p.exact, a, b), 0);
	return q;
}

static pair sliced(pair p, int64_t axis, int64_t start, int64_t stop, int64_t step)
{
	pair q;

	assert_int_equal(mla_view_slice(&q.own, tested, p.own, axis, start, stop, step), 0);
	assert_int_equal(mla_view_slice(&q.exact, oracle, p.exact, axis, start, stop, step), 0);
	return q;
}

/* Both sides agree, and the kernels ran `op` since the last time. */
static void agree(const char *op, const mla_tensor *own, const mla_tensor *exact)
{
	static const double tolerance[] = {[MLA_F32] = 1e-5, [MLA_BF16] = 1.0 / 64};
	const mla_uses *u = mla_engine_uses(tested);
	char shape[MLA_SHAPE_TEXT];
	double most = 0, top = 0;
	uint64_t kernel = 0, host = 0;

	assert_int_equal(own->ndim, exact->ndim);
	for (uint32_t i = 0; i < own->ndim; i++)
		assert_int_equal(own->shape[i], exact->shape[i]);
	for (int64_t i = 0; i < own->count; i++) {
		double a = mla_tensor_at(own, i), b = mla_tensor_at(exact, i);

		if (isnan(b) && isnan(a))
			continue;
		most = fabs(a - b) > most || isnan(a) ? fabs(a - b) : most;
		top = fabs(b) > top ? fabs(b) : top;
	}
	for (uint32_t i = 0; i < u->n; i++)
		if (strcmp(u->v[i].op, op) == 0) {
			kernel = u->v[i].kernel;
			host = u->v[i].host;
		}
	if (!(most <= tolerance[format] * top))
		fail_msg("%s to %s (%s): differs by %g, results reach %g", op,
		         mla_shape_text(shape, own->ndim, own->shape), mla_dtype_name(format), most,
		         top);
	if (!kernel || host)
		fail_msg("%s: %llu times on kernels, %llu times not", op,
		         (unsigned long long)kernel, (unsigned long long)host);
}

static void product(pair a, pair b)
{
	mla_tensor *own, *exact;

	assert_int_equal(mla_matmul(&own, tested, a.own, b.own), 0);
	assert_int_equal(mla_matmul(&exact, oracle, a.exact, b.exact), 0);
	agree("matmul", own, exact);
}

#define SHAPE(...)                                                        \
	(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) \
	{                                                                 \
		__VA_ARGS__                                               \
	}

static void products(void)
{
	static const int64_t rows[] = {1, 2, 3, 7, 8, 16, 17, 65};
	static const int64_t inner[] = {1, 5, 64, 193};

	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++)
		for (size_t k = 0; k < sizeof(inner) / sizeof(*inner); k++) {
			int64_t m = rows[r], n = 33;
			pair a = drawn(SHAPE(m, inner[k])), b = drawn(SHAPE(inner[k], n));

			product(a, b);
			product(drawn(SHAPE(m, inner[k])),
			        swapped(drawn(SHAPE(n, inner[k])), 0, 1));
			product(swapped(drawn(SHAPE(inner[k], m)), 0, 1), b);
			/* Heads, and a matrix of weights for each or one for all of them. */
			product(drawn(SHAPE(2, 3, m, inner[k])), drawn(SHAPE(3, inner[k], n)));
			product(drawn(SHAPE(2, 3, m, inner[k])), b);
			product(drawn(SHAPE(2, 3, m, inner[k])), drawn(SHAPE(2, 1, inner[k], n)));
			product(drawn(SHAPE(2, 1, m, inner[k])), drawn(SHAPE(3, inner[k], n)));
			/* [batch, queries, heads, d] seen by heads, times transposed keys. */
			product(swapped(drawn(SHAPE(2, m, 3, inner[k])), 1, 2),
			        swapped(drawn(SHAPE(2, 1, n, inner[k])), -1, -2));
			/* Groups of heads. */
			product(drawn(SHAPE(2, 2, 3, m, inner[k])),
			        drawn(SHAPE(2, 2, 1, inner[k], n)));
			product(sliced(drawn(SHAPE(m, 2 * inner[k])), 1, 0, 2 * inner[k], 2), b);
		}
}

static mla_tensor *ints(mla_engine *e, const double *v, uint32_t ndim, const int64_t *shape)
{
	mla_tensor *t;

	assert_int_equal(mla_tensor_from(&t, e, MLA_I32, ndim, shape, v), 0);
	return t;
}

static void quantised(pair x, uint32_t ndim, const int64_t *shape, uint32_t bits, bool transpose)
{
	pair w = drawn(ndim, shape);
	mla_quantised own, exact;
	mla_tensor *a, *b;

	assert_int_equal(mla_quantise(&own, tested, w.own, bits), 0);
	assert_int_equal(mla_quantise(&exact, oracle, w.exact, bits), 0);
	assert_null(own.dense);
	assert_int_equal(mla_quantised_matmul(&a, tested, x.own, &own, transpose), 0);
	assert_int_equal(mla_quantised_matmul(&b, oracle, x.exact, &exact, transpose), 0);
	agree("quantized_matmul", a, b);
}

static void quantised_products(void)
{
	for (uint32_t bits = 4; bits <= 8; bits += 4)
		for (int64_t m = 1; m < 40; m += 19) {
			quantised(drawn(SHAPE(m, 64)), SHAPE(33, 64), bits, true);
			quantised(drawn(SHAPE(2, m, 33)), SHAPE(33, 96), bits, false);
			/* A matrix for each head, one for each batch, and queries by heads. */
			quantised(drawn(SHAPE(2, 3, m, 64)), SHAPE(3, 17, 64), bits, true);
			quantised(drawn(SHAPE(2, 3, m, 64)), SHAPE(2, 1, 17, 64), bits, true);
			quantised(swapped(drawn(SHAPE(2, m, 3, 17)), 1, 2), SHAPE(3, 17, 64), bits,
			          false);
		}
}

static void binary(const char *name, mla_binary op, pair a, pair b)
{
	mla_tensor *own, *exact;

	assert_int_equal(mla_binary_op(&own, tested, op, a.own, b.own), 0);
	assert_int_equal(mla_binary_op(&exact, oracle, op, a.exact, b.exact), 0);
	agree(name, own, exact);
}

static void unary(const char *name, mla_unary op, pair a)
{
	mla_tensor *own, *exact;

	assert_int_equal(mla_unary_op(&own, tested, op, a.own), 0);
	assert_int_equal(mla_unary_op(&exact, oracle, op, a.exact), 0);
	agree(name, own, exact);
}

static void elements(void)
{
	pair a = drawn(SHAPE(3, 1, 5, 67)), b = drawn(SHAPE(4, 1, 67)), c = drawn(SHAPE(1));
	pair five = drawn(SHAPE(2, 3, 1, 3, 5)),
	     turned = swapped(drawn(SHAPE(5, 3, 4, 1, 2)), 0, 4);
	pair number, square;
	mla_tensor *condition[2], *out[2];

	binary("add", MLA_EW_ADD, a, b);
	binary("subtract", MLA_EW_SUB, b, a);
	binary("multiply", MLA_EW_MUL, five, turned);
	binary("divide", MLA_EW_DIV, a, c);
	binary("maximum", MLA_EW_MAX, a, b);
	binary("minimum", MLA_EW_MIN, a, b);
	binary("less", MLA_EW_LT, a, b);
	binary("greater_equal", MLA_EW_GE, five, turned);
	assert_int_equal(mla_tensor_number(&number.own, tested, MLA_F64, 0.7), 0);
	/* A number has the array's format before it is used. */
	assert_int_equal(
		mla_tensor_number(&number.exact, oracle, MLA_F64, mla_dtype_round(format, 0.7)), 0);
	binary("multiply", MLA_EW_MUL, a, number);
	unary("negative", MLA_EW_NEG, a);
	unary("exp", MLA_EW_EXP, turned);
	unary("sigmoid", MLA_EW_SIGMOID, a);
	unary("tanh", MLA_EW_TANH, a);
	unary("square", MLA_EW_SQUARE, a);
	assert_int_equal(mla_unary_op(&square.own, tested, MLA_EW_ABS, a.own), 0);
	assert_int_equal(mla_unary_op(&square.exact, oracle, MLA_EW_ABS, a.exact), 0);
	unary("sqrt", MLA_EW_SQRT, square);
	unary("rsqrt", MLA_EW_RSQRT, square);
	assert_int_equal(mla_binary_op(&condition[0], tested, MLA_EW_LT, a.own, b.own), 0);
	assert_int_equal(mla_binary_op(&condition[1], oracle, MLA_EW_LT, a.exact, b.exact), 0);
	assert_int_equal(mla_where(&out[0], tested, condition[0], a.own, number.own), 0);
	assert_int_equal(mla_where(&out[1], oracle, condition[1], a.exact, number.exact), 0);
	agree("where", out[0], out[1]);
}

static void row_operations(void)
{
	static const int64_t width[] = {1, 7, 64, 515};

	for (size_t i = 0; i < sizeof(width) / sizeof(*width); i++) {
		pair x = drawn(SHAPE(3, 2, width[i])), w = drawn(SHAPE(width[i]));
		pair across = swapped(drawn(SHAPE(width[i], 5)), 0, 1);
		mla_tensor *a, *b;

		assert_int_equal(mla_softmax(&a, tested, x.own, -1), 0);
		assert_int_equal(mla_softmax(&b, oracle, x.exact, -1), 0);
		agree("softmax", a, b);
		assert_int_equal(mla_softmax(&a, tested, across.own, -1), 0);
		assert_int_equal(mla_softmax(&b, oracle, across.exact, -1), 0);
		agree("softmax", a, b);
		assert_int_equal(mla_rms_norm(&a, tested, x.own, w.own, 1e-5), 0);
		assert_int_equal(mla_rms_norm(&b, oracle, x.exact, w.exact, 1e-5), 0);
		agree("rms_norm", a, b);
		assert_int_equal(mla_rms_norm(&a, tested, across.own, NULL, 1e-5), 0);
		assert_int_equal(mla_rms_norm(&b, oracle, across.exact, NULL, 1e-5), 0);
		agree("rms_norm", a, b);
		assert_int_equal(mla_layer_norm(&a, tested, x.own, w.own, w.own, 1e-5), 0);
		assert_int_equal(mla_layer_norm(&b, oracle, x.exact, w.exact, w.exact, 1e-5), 0);
		agree("layer_norm", a, b);
	}
}

static void sums(void)
{
	static const struct {
		const char *name;
		mla_reduction op;
	} list[] = {{"sum", MLA_RED_SUM},
	            {"mean", MLA_RED_MEAN},
	            {"max", MLA_RED_MAX},
	            {"min", MLA_RED_MIN}};
	pair x = drawn(SHAPE(3, 65, 4));

	for (int i = 0; i < 4; i++)
		for (int64_t axis = 0; axis < 3; axis++) {
			int64_t axes[] = {axis, 1};
			mla_tensor *a, *b;
			uint32_t n = axis == 1 ? 1 : 2;

			assert_int_equal(
				mla_reduce(&a, tested, list[i].op, x.own, n, axes, axis == 0), 0);
			assert_int_equal(
				mla_reduce(&b, oracle, list[i].op, x.exact, n, axes, axis == 0), 0);
			agree(list[i].name, a, b);
		}
}

/* Angles are rounded to f32 as frameworks do it: some 1e-4 of a turn at 2048, not in the oracle. */
static void rotations(void)
{
	const double at[] = {3, -2}, one = 40, frequency[] = {1, 2.5, 80};

	for (int interleaved = 0; interleaved < 2; interleaved++)
		for (int form = 0; form < 4; form++) {
			pair x = swapped(drawn(SHAPE(2, 5, 3, 8)), 1, 2), f, offset;
			mla_rope_options own = {
				.dims = form == 3 ? 0 : 6,
				.interleaved = interleaved,
				.base = 10000,
				.scale = form == 2 ? 0.25 : 1,
			};
			mla_rope_options exact = own;
			mla_tensor *a, *b;

			f = both(frequency, SHAPE(3), MLA_F32);
			offset.own = ints(tested, form == 1 ? at : &one, form == 1, (int64_t[]){2});
			offset.exact =
				ints(oracle, form == 1 ? at : &one, form == 1, (int64_t[]){2});
			own.offset = form ? offset.own : NULL;
			exact.offset = form ? offset.exact : NULL;
			own.frequencies = form == 2 ? f.own : NULL;
			exact.frequencies = form == 2 ? f.exact : NULL;
			assert_int_equal(mla_rope(&a, tested, x.own, &own), 0);
			assert_int_equal(mla_rope(&b, oracle, x.exact, &exact), 0);
			agree("rope", a, b);
		}
}

static void indices(void)
{
	const double list[] = {4, 0, -1, 4, 2, 3};
	pair t = drawn(SHAPE(2, 5, 3)), values = drawn(SHAPE(2, 1, 3));
	mla_tensor *own, *exact, *at[2], *flat[2], *once[2];

	at[0] = ints(tested, list, SHAPE(2, 3, 1));
	at[1] = ints(oracle, list, SHAPE(2, 3, 1));
	flat[0] = ints(tested, list, SHAPE(3, 2));
	flat[1] = ints(oracle, list, SHAPE(3, 2));
	once[0] = ints(tested, list, SHAPE(1, 2, 3));
	once[1] = ints(oracle, list, SHAPE(1, 2, 3));
	assert_int_equal(mla_take_along_axis(&own, tested, t.own, at[0], 1), 0);
	assert_int_equal(mla_take_along_axis(&exact, oracle, t.exact, at[1], 1), 0);
	agree("take_along_axis", own, exact);
	assert_int_equal(mla_take(&own, tested, t.own, flat[0], 1), 0);
	assert_int_equal(mla_take(&exact, oracle, t.exact, flat[1], 1), 0);
	agree("take_along_axis", own, exact);
	assert_int_equal(mla_put_along_axis(&own, tested, t.own, once[0], values.own, 1), 0);
	assert_int_equal(mla_put_along_axis(&exact, oracle, t.exact, once[1], values.exact, 1), 0);
	agree("put_along_axis", own, exact);
	/* A position that does not exist raises, and no kernel sees it. */
	flat[0] = ints(tested, (double[]){5}, SHAPE(1));
	assert_int_equal(mla_take(&own, tested, t.own, flat[0], 1), MLA_ERAISE);
}

/* Of 40 rows: smaller before, larger behind, the same set as the oracle's. */
static void partitions(void)
{
	static const int64_t kth[] = {0, 1, 20, 35, 36};
	pair t = drawn(SHAPE(40, 37));
	mla_tensor *own;

	for (size_t i = 0; i < sizeof(kth) / sizeof(*kth); i++) {
		assert_int_equal(mla_argpartition(&own, tested, t.own, kth[i], -1), 0);
		for (int64_t row = 0; row < 40; row++) {
			double at = mla_tensor_at(own, row * 37 + kth[i]);
			double middle = mla_tensor_at(t.own, row * 37 + (int64_t)at);
			uint64_t seen = 0;

			for (int64_t k = 0; k < 37; k++) {
				int64_t p = (int64_t)mla_tensor_at(own, row * 37 + k);
				double x = mla_tensor_at(t.own, row * 37 + p);

				assert_true(k < kth[i] ? x <= middle : x >= middle);
				seen |= (uint64_t)1 << p;
			}
			assert_true(seen == ((uint64_t)1 << 37) - 1);
		}
	}
	assert_int_equal(mla_engine_uses(tested)->v[0].kernel, 5);
	assert_int_equal(mla_engine_uses(tested)->v[0].host, 0);
}

typedef struct {
	int64_t heads, kv, queries, total, d, dv;
} attention_shape;

static void attend(const attention_shape *s, int mask)
{
	pair q = swapped(drawn(SHAPE(2, s->queries, s->heads, s->d)), 1, 2);
	pair k = drawn(SHAPE(2, s->kv, s->total, s->d)),
	     v = drawn(SHAPE(2, s->kv, s->total, s->dv));
	pair m = {NULL, NULL};
	mla_tensor *a, *b;

	/* As keys often come: a view of one product with the values. */
	if (mask % 2)
		v = swapped(drawn(SHAPE(2, s->total, s->kv, s->dv)), 1, 2);
	if (mask == 1) {
		assert_int_equal(mla_causal_mask(&m.own, tested, s->queries, s->total), 0);
		assert_int_equal(mla_causal_mask(&m.exact, oracle, s->queries, s->total), 0);
	} else if (mask == 2) {
		m = drawn(SHAPE(2, 1, s->queries, s->total));
	} else if (mask == 3 && (s->kv == 1 || s->kv == s->heads)) {
		m = drawn(SHAPE(s->heads, 1, s->total));
	}
	assert_int_equal(mla_attention(&a, tested, q.own, k.own, v.own, 0.125, m.own), 0);
	assert_int_equal(mla_attention(&b, oracle, q.exact, k.exact, v.exact, 0.125, m.exact), 0);
	agree("scaled_dot_product_attention", a, b);
}

static void attentions(void)
{
	static const attention_shape shapes[] = {
		{2, 1, 1, 1, 8, 8},   {4, 4, 3, 70, 24, 16},  {6, 2, 5, 33, 7, 3},
		{3, 1, 8, 600, 5, 9}, {1, 1, 130, 131, 4, 2},
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (int mask = 0; mask < 4; mask++)
			attend(&shapes[i], mask);
}

/* A boolean mask that hides everything makes a row uniform, as the lowest number would. */
static void hidden_rows(void)
{
	const double seen[] = {0, 0, 0, 1, 0, 0};
	pair q = drawn(SHAPE(1, 1, 2, 4)), kv = drawn(SHAPE(1, 1, 3, 4)), m;
	mla_tensor *a, *b;

	m = both(seen, SHAPE(2, 3), MLA_BOOL);
	assert_int_equal(mla_attention(&a, tested, q.own, kv.own, kv.own, 1, m.own), 0);
	assert_int_equal(mla_attention(&b, oracle, q.exact, kv.exact, kv.exact, 1, m.exact), 0);
	agree("scaled_dot_product_attention", a, b);
}

/* What has no kernel is computed all the same, and said; whole numbers and copies are not. */
static void host_operations(void)
{
	pair x = drawn(SHAPE(3, 4));
	const mla_uses *u = mla_engine_uses(tested);
	mla_tensor *out, *i = ints(tested, (double[]){1, 2}, SHAPE(2));

	assert_int_equal(mla_sort(&out, tested, x.own, -1), 0);
	assert_int_equal(mla_binary_op(&out, tested, MLA_EW_POW, x.own, x.own), 0);
	assert_int_equal(mla_softmax(&out, tested, x.own, 0), 0);
	assert_int_equal(mla_binary_op(&out, tested, MLA_EW_ADD, i, i), 0);
	assert_int_equal(mla_cumsum(&out, tested, i, 0, false, false), 0);
	assert_int_equal(u->n, 3);
	assert_string_equal(u->v[0].op, "power");
	assert_string_equal(u->v[1].op, "softmax");
	assert_string_equal(u->v[2].op, "sort");
	for (int k = 0; k < 3; k++)
		assert_true(u->v[k].kernel == 0 && u->v[k].host == 1);
	assert_null(mla_engine_uses(oracle));
}

/* Operands count against the memory of the engine, and past a backend's own it is a limit too. */
static void limits(void **state)
{
	mla_engine *small =
		mla_engine_new(&(mla_engine_options){.backend = backend[0], .max_bytes = 1 << 16});
	mla_engine *wide;
	mla_backend *poor;
	mla_tensor *t, *out;
	double *v = mla_alloc(10000 * sizeof(*v));

	(void)state;
	assert_int_equal(mla_tensor_from(&t, small, MLA_BF16, SHAPE(100, 100), v), 0);
	assert_int_equal(mla_matmul(&out, small, t, t), MLA_ELIMIT);
	mla_engine_free(small);
	assert_int_equal(
		mla_backend_open(&poor, "cpu",
	                         &(mla_backend_options){.threads = 1, .max_bytes = 1 << 16}),
		0);
	wide = mla_engine_new(&(mla_engine_options){.backend = poor});
	assert_int_equal(mla_tensor_from(&t, wide, MLA_BF16, SHAPE(100, 100), v), 0);
	assert_int_equal(mla_matmul(&out, wide, t, t), MLA_ELIMIT);
	mla_engine_free(wide);
	mla_backend_free(poor);
	free(v);
}

#define EVERYWHERE(name, body)         \
	static void name(void **state) \
	{                              \
		(void)state;           \
		everywhere(body);      \
	}
EVERYWHERE(matmul_on_kernels, products)
EVERYWHERE(quantised_on_kernels, quantised_products)
EVERYWHERE(elementwise_on_kernels, elements)
EVERYWHERE(rows_on_kernels, row_operations)
EVERYWHERE(sums_on_kernels, sums)
EVERYWHERE(rope_on_kernels, rotations)
EVERYWHERE(indices_on_kernels, indices)
EVERYWHERE(partition_on_kernels, partitions)
EVERYWHERE(attention_on_kernels, attentions)
EVERYWHERE(hidden_rows_are_uniform, hidden_rows)
EVERYWHERE(the_rest_on_the_host, host_operations)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matmul_on_kernels),      cmocka_unit_test(quantised_on_kernels),
		cmocka_unit_test(elementwise_on_kernels), cmocka_unit_test(rows_on_kernels),
		cmocka_unit_test(sums_on_kernels),        cmocka_unit_test(rope_on_kernels),
		cmocka_unit_test(indices_on_kernels),     cmocka_unit_test(partition_on_kernels),
		cmocka_unit_test(attention_on_kernels),   cmocka_unit_test(hidden_rows_are_uniform),
		cmocka_unit_test(the_rest_on_the_host),   cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("engine device", tests, open_backends, close_backends);
}

/* Elementwise operations: one table of names, one function of two numbers, one strided loop. */
#include "engine/elementwise.h"

#include "engine/device.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <math.h>

static const char *const binary_names[] = {
	[MLA_EW_ADD] = "add",
	[MLA_EW_SUB] = "subtract",
	[MLA_EW_MUL] = "multiply",
	[MLA_EW_DIV] = "divide",
	[MLA_EW_FLOOR_DIV] = "floor_divide",
	[MLA_EW_MOD] = "remainder",
	[MLA_EW_POW] = "power",
	[MLA_EW_MAX] = "maximum",
	[MLA_EW_MIN] = "minimum",
	[MLA_EW_EQ] = "equal",
	[MLA_EW_NE] = "not_equal",
	[MLA_EW_LT] = "less",
	[MLA_EW_LE] = "less_equal",
	[MLA_EW_GT] = "greater",
	[MLA_EW_GE] = "greater_equal",
	[MLA_EW_AND] = "logical_and",
	[MLA_EW_OR] = "logical_or",
};

static const char *const unary_names[] = {
	[MLA_EW_NEG] = "negative",    [MLA_EW_ABS] = "abs",     [MLA_EW_EXP] = "exp",
	[MLA_EW_LOG] = "log",         [MLA_EW_SQRT] = "sqrt",   [MLA_EW_RSQRT] = "rsqrt",
	[MLA_EW_SIN] = "sin",         [MLA_EW_COS] = "cos",     [MLA_EW_TANH] = "tanh",
	[MLA_EW_SIGMOID] = "sigmoid", [MLA_EW_FLOOR] = "floor", [MLA_EW_CEIL] = "ceil",
	[MLA_EW_SQUARE] = "square",   [MLA_EW_ISNAN] = "isnan", [MLA_EW_ISINF] = "isinf",
	[MLA_EW_NOT] = "logical_not",
};

/* A number on its own becomes an array of f32, never of the f64 that carries its digits. */
static mla_dtype own_dtype(const mla_engine *e, const mla_tensor *t)
{
	return t->weak && mla_dtype_is_float(t->dtype) ? mla_engine_dtype(e, MLA_F32) : t->dtype;
}

mla_dtype mla_operands_dtype(const mla_engine *e, const mla_tensor *a, const mla_tensor *b)
{
	const mla_tensor *array = a->weak ? b : a, *number = a->weak ? a : b;

	if (a->weak == b->weak)
		return mla_dtype_promote(own_dtype(e, a), own_dtype(e, b));
	/* Kinds are bool, integer, float; within a kind the array decides. */
	if (mla_dtype_is_float(array->dtype) || array->dtype >= number->dtype)
		return array->dtype;
	return own_dtype(e, number);
}

/* Sign of the divisor, as Python's %. */
static double remainder_of(double a, double b)
{
	double r = fmod(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double largest(double a, double b)
{
	return isnan(a) || a > b ? a : b;
}

static double smallest(double a, double b)
{
	return isnan(a) || a < b ? a : b;
}

/* One loop for each operation: a choice inside the loop would cost more than the arithmetic. */
#define EACH(value)                               \
	do {                                      \
		for (int64_t i = 0; i < n; i++) { \
			double a = x[i];          \
			x[i] = (value);           \
		}                                 \
	} while (0)

/* x becomes x op y, for n numbers. */
static void binary_row(mla_binary op, double *x, const double *y, int64_t n)
{
	switch (op) {
	case MLA_EW_ADD:
		EACH(a + y[i]);
		break;
	case MLA_EW_SUB:
		EACH(a - y[i]);
		break;
	case MLA_EW_MUL:
		EACH(a * y[i]);
		break;
	case MLA_EW_DIV:
		EACH(a / y[i]);
		break;
	case MLA_EW_FLOOR_DIV:
		EACH(floor(a / y[i]));
		break;
	case MLA_EW_MOD:
		EACH(remainder_of(a, y[i]));
		break;
	case MLA_EW_POW:
		EACH(pow(a, y[i]));
		break;
	case MLA_EW_MAX:
		EACH(largest(a, y[i]));
		break;
	case MLA_EW_MIN:
		EACH(smallest(a, y[i]));
		break;
	case MLA_EW_EQ:
		EACH(a == y[i]);
		break;
	case MLA_EW_NE:
		EACH(a != y[i]);
		break;
	case MLA_EW_LT:
		EACH(a < y[i]);
		break;
	case MLA_EW_LE:
		EACH(a <= y[i]);
		break;
	case MLA_EW_GT:
		EACH(a > y[i]);
		break;
	case MLA_EW_GE:
		EACH(a >= y[i]);
		break;
	case MLA_EW_AND:
		EACH(a != 0 && y[i] != 0);
		break;
	case MLA_EW_OR:
		EACH(a != 0 || y[i] != 0);
		break;
	}
}

static void unary_row(mla_unary op, double *x, int64_t n)
{
	switch (op) {
	case MLA_EW_NEG:
		EACH(-a);
		break;
	case MLA_EW_ABS:
		EACH(fabs(a));
		break;
	case MLA_EW_EXP:
		EACH(exp(a));
		break;
	case MLA_EW_LOG:
		EACH(log(a));
		break;
	case MLA_EW_SQRT:
		EACH(sqrt(a));
		break;
	case MLA_EW_RSQRT:
		EACH(1 / sqrt(a));
		break;
	case MLA_EW_SIN:
		EACH(sin(a));
		break;
	case MLA_EW_COS:
		EACH(cos(a));
		break;
	case MLA_EW_TANH:
		EACH(tanh(a));
		break;
	case MLA_EW_SIGMOID:
		EACH(1 / (1 + exp(-a)));
		break;
	case MLA_EW_FLOOR:
		EACH(floor(a));
		break;
	case MLA_EW_CEIL:
		EACH(ceil(a));
		break;
	case MLA_EW_SQUARE:
		EACH(a * a);
		break;
	case MLA_EW_ISNAN:
		EACH(isnan(a));
		break;
	case MLA_EW_ISINF:
		EACH(isinf(a));
		break;
	case MLA_EW_NOT:
		EACH(a == 0);
		break;
	}
}

/*
 * Computing in double and rounding to f32 by the store gives the f32 result of + - * / and sqrt
 * exactly (53 >= 2 * 24 + 2 digits), and the nearest f32 of the functions but for rare ties.
 */
static int check_i32(const mla_tensor *out, const double *row, int64_t n, const char *op)
{
	if (out->dtype != MLA_I32)
		return 0;
	for (int64_t i = 0; i < n; i++)
		if (!(row[i] >= INT32_MIN && row[i] <= INT32_MAX))
			return mla_error(MLA_ELIMIT, "%s: an integer beyond 32 bits", op);
	return 0;
}

static int spend(mla_engine *e, const mla_tensor *out, const mla_tensor *const *in, uint32_t n,
                 const char *op)
{
	uint64_t size = mla_dtype_size(out->dtype);

	for (uint32_t i = 0; i < n; i++)
		size += mla_dtype_size(in[i]->dtype);
	return mla_engine__spend(e, MLA_WORK_ELEMENTWISE, op, (uint64_t)out->count,
	                         (uint64_t)out->count * size);
}

static bool all_data(const mla_tensor *const *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!mla_tensor_has_data(t[i]))
			return false;
	return true;
}

static mla_dtype binary_result(mla_engine *e, mla_binary op, mla_dtype meet)
{
	if (op >= MLA_EW_EQ)
		return MLA_BOOL;
	if (op == MLA_EW_DIV && !mla_dtype_is_float(meet))
		return mla_engine_dtype(e, MLA_F32);
	/* Sums of truth values are integers nowhere but in Python; MLX keeps bool for max and min.
	 */
	return meet == MLA_BOOL && op < MLA_EW_MAX ? MLA_I32 : meet;
}

static int binary_rows(mla_tensor *out, mla_binary op, const mla_tensor *a, const mla_tensor *b,
                       mla_dtype meet)
{
	const mla_tensor *operands[] = {out, a, b};
	double x[MLA_ROW], y[MLA_ROW];
	mla_walk w;
	int error;

	for (mla_walk_start(&w, out->ndim, out->shape, 3, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(x, a, w.at[1] + i * w.step[1], w.step[1], n);
			mla_row_load(y, b, w.at[2] + i * w.step[2], w.step[2], n);
			mla_row_convert(x, a->dtype, meet, n);
			mla_row_convert(y, b->dtype, meet, n);
			binary_row(op, x, y, n);
			if ((error = check_i32(out, x, n, binary_names[op])) < 0)
				return error;
			mla_row_store(out, w.at[0] + i * w.step[0], w.step[0], x, n);
		}
	return 0;
}

int mla_binary_op(mla_tensor **out, mla_engine *e, mla_binary op, const mla_tensor *a,
                  const mla_tensor *b)
{
	const mla_tensor *in[] = {a, b};
	mla_dtype meet = mla_operands_dtype(e, a, b);
	int64_t shape[MLA_DIMS];
	uint32_t ndim;
	int error;

	if ((error = mla_view_broadcast_shape(&ndim, shape, in, 2, binary_names[op])) < 0 ||
	    (error = mla_tensor_new(out, e, binary_result(e, op, meet), ndim, shape)) < 0 ||
	    (error = spend(e, *out, in, 2, binary_names[op])) < 0)
		return error;
	if (!mla_tensor_has_data(*out) || !all_data(in, 2) ||
	    (error = mla_device_binary(e, *out, op, a, b, meet, binary_names[op])) <= 0)
		return error;
	return binary_rows(*out, op, a, b, meet);
}

int mla_binary_number(mla_tensor **out, mla_engine *e, mla_binary op, const mla_tensor *a, double b)
{
	mla_tensor *number;
	int error;

	if ((error = mla_tensor_number(&number, e, MLA_F64, b)) < 0)
		return error;
	error = mla_binary_op(out, e, op, a, number);
	mla_tensor_drop(e, number);
	return error;
}

static mla_dtype unary_result(mla_engine *e, mla_unary op, mla_dtype d)
{
	if (op >= MLA_EW_ISNAN)
		return MLA_BOOL;
	if (mla_dtype_is_float(d))
		return d;
	if (op == MLA_EW_NEG || op == MLA_EW_ABS || op == MLA_EW_SQUARE)
		return MLA_I32;
	return op == MLA_EW_FLOOR || op == MLA_EW_CEIL ? d : mla_engine_dtype(e, MLA_F32);
}

int mla_unary_op(mla_tensor **out, mla_engine *e, mla_unary op, const mla_tensor *a)
{
	const mla_tensor *in[] = {a};
	const mla_tensor *operands[2];
	double x[MLA_ROW];
	mla_walk w;
	int error;

	if ((error = mla_tensor_new(out, e, unary_result(e, op, own_dtype(e, a)), a->ndim,
	                            a->shape)) < 0 ||
	    (error = spend(e, *out, in, 1, unary_names[op])) < 0)
		return error;
	if (!mla_tensor_has_data(*out) || !mla_tensor_has_data(a) ||
	    (error = mla_device_unary(e, *out, op, a, unary_names[op])) <= 0)
		return error;
	operands[0] = *out;
	operands[1] = a;
	for (mla_walk_start(&w, a->ndim, a->shape, 2, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(x, a, w.at[1] + i * w.step[1], w.step[1], n);
			unary_row(op, x, n);
			if ((error = check_i32(*out, x, n, unary_names[op])) < 0)
				return error;
			mla_row_store(*out, w.at[0] + i * w.step[0], w.step[0], x, n);
		}
	return 0;
}

static void where_rows(mla_tensor *out, const mla_tensor *condition, const mla_tensor *a,
                       const mla_tensor *b)
{
	const mla_tensor *operands[] = {out, condition, a, b};
	double c[MLA_ROW], x[MLA_ROW], y[MLA_ROW];
	mla_walk w;

	for (mla_walk_start(&w, out->ndim, out->shape, 4, operands); mla_walk_next(&w);)
		for (int64_t i = 0; i < w.width; i += MLA_ROW) {
			int64_t n = w.width - i < MLA_ROW ? w.width - i : MLA_ROW;

			mla_row_load(c, condition, w.at[1] + i * w.step[1], w.step[1], n);
			mla_row_load(x, a, w.at[2] + i * w.step[2], w.step[2], n);
			mla_row_load(y, b, w.at[3] + i * w.step[3], w.step[3], n);
			for (int64_t k = 0; k < n; k++)
				x[k] = c[k] != 0 ? x[k] : y[k];
			mla_row_store(out, w.at[0] + i * w.step[0], w.step[0], x, n);
		}
}

int mla_where(mla_tensor **out, mla_engine *e, const mla_tensor *condition, const mla_tensor *a,
              const mla_tensor *b)
{
	const mla_tensor *in[] = {condition, a, b};
	int64_t shape[MLA_DIMS];
	uint32_t ndim;
	int error;

	if ((error = mla_view_broadcast_shape(&ndim, shape, in, 3, "where")) < 0 ||
	    (error = mla_tensor_new(out, e, mla_operands_dtype(e, a, b), ndim, shape)) < 0 ||
	    (error = spend(e, *out, in, 3, "where")) < 0)
		return error;
	if (!mla_tensor_has_data(*out) || !all_data(in, 3) ||
	    (error = mla_device_where(e, *out, condition, a, b)) <= 0)
		return error;
	where_rows(*out, condition, a, b);
	return 0;
}

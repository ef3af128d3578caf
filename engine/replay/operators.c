/* Operators of two values: numbers, strings, sequences, tensors. */
#include "engine/elementwise.h"
#include "engine/replay/machine.h"

#include <math.h>

int mla_as_tensor(mla_value *out, mla_machine *m, mla_value v)
{
	mla_dtype d = v.kind == MLA_V_BOOL ? MLA_BOOL : v.kind == MLA_V_INT ? MLA_I32 : MLA_F64;
	mla_tensor *t;
	double f = 0;
	int error;

	if (v.kind == MLA_V_TENSOR) {
		*out = v;
		return 0;
	}
	if (!mla_value_as_float(&f, v))
		return v.kind == MLA_V_OPEN
		               ? mla_unsupported(m, "config value `%.*s` has no default",
		                                 MLA_ARG(v.s))
		               : mla_raise(m, "TypeError", "a %s is not an array",
		                           mla_value_type(v));
	error = mla_engine_fault(m, mla_tensor_number(&t, m->engine, d, f));
	*out = mla_value_tensor(t, 0);
	return error;
}

/* Element by element: cached rows and parameters stay what they are. */
static unsigned from_both(mla_value a, mla_value b)
{
	unsigned from = (a.from | b.from) & ~(unsigned)MLA_QUANTISED;

	return from & MLA_FROM_INPUT ? from & ~(unsigned)(MLA_FROM_UP | MLA_PARAMETER) : from;
}

static int tensor_binary(mla_value *out, mla_machine *m, mla_binary op, mla_value a, mla_value b)
{
	mla_value x, y;
	mla_tensor *t;
	int error;

	if ((error = mla_as_tensor(&x, m, a)) < 0 || (error = mla_as_tensor(&y, m, b)) < 0 ||
	    (error = mla_engine_fault(m, mla_binary_op(&t, m->engine, op, x.t, y.t))) < 0)
		return error;
	*out = mla_value_tensor(t, from_both(x, y));
	return 0;
}

/* & and | of truth values; of integers they would be bit by bit. */
static int tensor_logic(mla_value *out, mla_machine *m, mla_binary op, mla_value a, mla_value b)
{
	mla_value x, y;
	int error;

	if ((error = mla_as_tensor(&x, m, a)) < 0 || (error = mla_as_tensor(&y, m, b)) < 0)
		return error;
	if (x.t->dtype != MLA_BOOL || y.t->dtype != MLA_BOOL)
		return mla_unsupported(m, "& or | of arrays that are not boolean");
	return tensor_binary(out, m, op, x, y);
}

static int operate_tensors(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b)
{
	static const struct {
		mla_op op;
		mla_binary to;
	} table[] = {{MLA_OP_ADD, MLA_EW_ADD},  {MLA_OP_SUB, MLA_EW_SUB},
	             {MLA_OP_MUL, MLA_EW_MUL},  {MLA_OP_DIV, MLA_EW_DIV},
	             {MLA_OP_MOD, MLA_EW_MOD},  {MLA_OP_FLOORDIV, MLA_EW_FLOOR_DIV},
	             {MLA_OP_POWER, MLA_EW_POW}};

	if (op == MLA_OP_MATMUL) {
		if (a.kind != MLA_V_TENSOR || b.kind != MLA_V_TENSOR)
			return mla_raise(m, "TypeError", "@ of a %s and a %s", mla_value_type(a),
			                 mla_value_type(b));
		return mla_tensor_product(out, m, a, b);
	}
	if (op == MLA_OP_BITAND || op == MLA_OP_BITOR)
		return tensor_logic(out, m, op == MLA_OP_BITAND ? MLA_EW_AND : MLA_EW_OR, a, b);
	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].op == op)
			return tensor_binary(out, m, table[i].to, a, b);
	return mla_unsupported(m, "this operator on arrays");
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int power_int(mla_value *out, mla_machine *m, int64_t a, int64_t b)
{
	int64_t r = 1;

	if (b < 0) {
		if (!a)
			return mla_raise(m, "ZeroDivisionError", "0 to a negative power");
		*out = mla_value_float(pow((double)a, (double)b));
		return 0;
	}
	if (b > 64 && (a > 1 || a < -1))
		return mla_limit(m, "an integer beyond 64 bits");
	for (int64_t i = 0; i < (b > 64 ? b % 2 + 64 : b); i++)
		if (__builtin_mul_overflow(r, a, &r))
			return mla_limit(m, "an integer beyond 64 bits");
	*out = mla_value_int(r);
	return 0;
}

static int operate_ints(mla_value *out, mla_machine *m, mla_op op, int64_t a, int64_t b)
{
	int64_t r = 0;
	bool over = false;

	if ((op == MLA_OP_DIV || op == MLA_OP_FLOORDIV || op == MLA_OP_MOD) && !b)
		return mla_raise(m, "ZeroDivisionError", "division by zero");
	if (b == -1 && a == INT64_MIN)
		return mla_limit(m, "an integer beyond 64 bits");
	switch (op) {
	case MLA_OP_ADD:
		over = __builtin_add_overflow(a, b, &r);
		break;
	case MLA_OP_SUB:
		over = __builtin_sub_overflow(a, b, &r);
		break;
	case MLA_OP_MUL:
		over = __builtin_mul_overflow(a, b, &r);
		break;
	case MLA_OP_DIV:
		*out = mla_value_float((double)a / (double)b);
		return 0;
	case MLA_OP_FLOORDIV:
		r = floor_div(a, b);
		break;
	case MLA_OP_MOD:
		r = a - floor_div(a, b) * b;
		break;
	case MLA_OP_POWER:
		return power_int(out, m, a, b);
	case MLA_OP_SHL:
		if (b < 0 || b > 40 || a > (1 << 20) || a < 0)
			return mla_limit(m, "a shift beyond 60 bits");
		r = a << b;
		break;
	case MLA_OP_SHR:
		if (b < 0)
			return mla_raise(m, "ValueError", "negative shift count");
		r = a >> (b > 63 ? 63 : b);
		break;
	case MLA_OP_BITAND:
		r = a & b;
		break;
	case MLA_OP_BITOR:
		r = a | b;
		break;
	case MLA_OP_BITXOR:
		r = a ^ b;
		break;
	default:
		return mla_raise(m, "TypeError", "this operator on two ints");
	}
	*out = mla_value_int(r);
	return over ? mla_limit(m, "an integer beyond 64 bits") : 0;
}

static int operate_floats(mla_value *out, mla_machine *m, mla_op op, double a, double b)
{
	double r;

	if ((op == MLA_OP_DIV || op == MLA_OP_FLOORDIV || op == MLA_OP_MOD) && b == 0)
		return mla_raise(m, "ZeroDivisionError", "float division by zero");
	switch (op) {
	case MLA_OP_ADD:
		r = a + b;
		break;
	case MLA_OP_SUB:
		r = a - b;
		break;
	case MLA_OP_MUL:
		r = a * b;
		break;
	case MLA_OP_DIV:
		r = a / b;
		break;
	case MLA_OP_FLOORDIV:
		r = floor(a / b);
		break;
	case MLA_OP_MOD:
		r = a - floor(a / b) * b;
		break;
	case MLA_OP_POWER:
		if (a == 0 && b < 0)
			return mla_raise(m, "ZeroDivisionError", "0.0 to a negative power");
		if (a < 0 && b != floor(b))
			return mla_unsupported(m, "complex numbers");
		r = pow(a, b);
		break;
	default:
		return mla_raise(m, "TypeError", "this operator on floats");
	}
	*out = mla_value_float(r);
	return 0;
}

static int repeat(mla_value *out, mla_machine *m, mla_value s, int64_t times)
{
	int error = 0;

	*out = mla_sequence_new(m, (mla_value_kind)s.kind, 0);
	if (times > 0 && s.seq->n && times > MLA_REPLAY_LENGTH / (int64_t)s.seq->n)
		return mla_limit(m, "a list of more than %d elements", MLA_REPLAY_LENGTH);
	for (int64_t k = 0; k < times && error == 0; k++)
		for (uint32_t i = 0; i < s.seq->n && error == 0; i++)
			error = mla_sequence_push(m, out->seq, s.seq->v[i]);
	return error;
}

static int join(mla_value *out, mla_machine *m, mla_value a, mla_value b)
{
	int error = 0;

	*out = mla_sequence_new(m, (mla_value_kind)a.kind, a.seq->n + b.seq->n);
	for (uint32_t i = 0; i < a.seq->n && error == 0; i++)
		error = mla_sequence_push(m, out->seq, a.seq->v[i]);
	for (uint32_t i = 0; i < b.seq->n && error == 0; i++)
		error = mla_sequence_push(m, out->seq, b.seq->v[i]);
	return error;
}

static int join_text(mla_value *out, mla_machine *m, mla_str a, mla_str b)
{
	char *text;

	if (a.len + b.len > MLA_REPLAY_LENGTH)
		return mla_limit(m, "a string of more than %d bytes", MLA_REPLAY_LENGTH);
	text = mla_machine_alloc(m, a.len + b.len + 1, 1);
	if (a.len)
		memcpy(text, a.ptr, a.len);
	if (b.len)
		memcpy(text + a.len, b.ptr, b.len);
	*out = mla_value_str((mla_str){text, a.len + b.len});
	return 0;
}

static int unknown_operand(mla_machine *m, mla_value a, mla_value b)
{
	mla_value v[] = {a, b};

	for (int i = 0; i < 2; i++) {
		if (v[i].kind == MLA_V_OPEN)
			return mla_unsupported(m, "config value `%.*s` has no default",
			                       MLA_ARG(v[i].s));
		if (v[i].kind == MLA_V_CACHE || v[i].kind == MLA_V_FOREIGN ||
		    v[i].kind == MLA_V_INSTANCE || v[i].kind == MLA_V_LAYER ||
		    v[i].kind == MLA_V_SET || v[i].kind == MLA_V_DICT || v[i].kind == MLA_V_CLASS ||
		    v[i].kind == MLA_V_DTYPE)
			return mla_unsupported(m, "an operator on a %s", mla_value_type(v[i]));
	}
	return mla_raise(m, "TypeError", "unsupported operand types: '%s' and '%s'",
	                 mla_value_type(a), mla_value_type(b));
}

int mla_operate(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b)
{
	int64_t i, k;
	double x, y;

	if ((a.kind == MLA_V_TENSOR && (b.kind == MLA_V_TENSOR || mla_value_is_number(b))) ||
	    (b.kind == MLA_V_TENSOR && mla_value_is_number(a)))
		return operate_tensors(out, m, op, a, b);
	if (a.kind == MLA_V_BOOL && b.kind == MLA_V_BOOL &&
	    (op == MLA_OP_BITAND || op == MLA_OP_BITOR || op == MLA_OP_BITXOR)) {
		*out = mla_value_bool(op == MLA_OP_BITAND  ? a.b && b.b
		                      : op == MLA_OP_BITOR ? a.b || b.b
		                                           : a.b != b.b);
		return 0;
	}
	if (mla_value_as_int(&i, a) && mla_value_as_int(&k, b))
		return operate_ints(out, m, op, i, k);
	if (mla_value_as_float(&x, a) && mla_value_as_float(&y, b))
		return operate_floats(out, m, op, x, y);
	if (a.kind == MLA_V_SET && b.kind == MLA_V_SET &&
	    (op == MLA_OP_SUB || op == MLA_OP_BITAND || op == MLA_OP_BITOR || op == MLA_OP_BITXOR))
		return mla_operate_sets(out, m, op, a, b);
	if (op == MLA_OP_ADD && mla_value_is_sequence(a) && a.kind == b.kind)
		return join(out, m, a, b);
	if (op == MLA_OP_ADD && a.kind == MLA_V_STR && b.kind == MLA_V_STR)
		return join_text(out, m, a.s, b.s);
	if (op == MLA_OP_MUL && mla_value_is_sequence(a) && mla_value_as_int(&k, b))
		return repeat(out, m, a, k);
	if (op == MLA_OP_MUL && mla_value_is_sequence(b) && mla_value_as_int(&k, a))
		return repeat(out, m, b, k);
	if (a.kind == MLA_V_STR && (op == MLA_OP_MOD || op == MLA_OP_MUL))
		return mla_unsupported(m, "formatting or repeating a string");
	return unknown_operand(m, a, b);
}

int mla_operate_unary(mla_value *out, mla_machine *m, mla_op op, mla_value a)
{
	int64_t i;

	if (a.kind == MLA_V_TENSOR) {
		mla_tensor *t;
		int error;

		if (op == MLA_OP_ADD) {
			*out = a;
			return 0;
		}
		if (op == MLA_OP_INVERT && a.t->dtype != MLA_BOOL)
			return mla_unsupported(m, "~ of an array that is not boolean");
		error = mla_engine_fault(m, mla_unary_op(&t, m->engine,
		                                         op == MLA_OP_SUB ? MLA_EW_NEG : MLA_EW_NOT,
		                                         a.t));
		*out = mla_value_tensor(t, a.from & ~(unsigned)MLA_QUANTISED);
		return error;
	}
	if (mla_value_as_int(&i, a)) {
		if (i == INT64_MIN)
			return mla_limit(m, "an integer beyond 64 bits");
		*out = mla_value_int(op == MLA_OP_SUB ? -i : op == MLA_OP_INVERT ? ~i : i);
		return 0;
	}
	if (a.kind == MLA_V_FLOAT && op != MLA_OP_INVERT) {
		*out = mla_value_float(op == MLA_OP_SUB ? -a.f : a.f);
		return 0;
	}
	return unknown_operand(m, a, a);
}

static bool ordered(mla_op op, int sign)
{
	return op == MLA_OP_LT   ? sign < 0
	       : op == MLA_OP_LE ? sign <= 0
	       : op == MLA_OP_GT ? sign > 0
	                         : sign >= 0;
}

static int compare_tensors(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b)
{
	static const struct {
		mla_op op;
		mla_binary to;
	} table[] = {{MLA_OP_EQ, MLA_EW_EQ}, {MLA_OP_NE, MLA_EW_NE}, {MLA_OP_LT, MLA_EW_LT},
	             {MLA_OP_LE, MLA_EW_LE}, {MLA_OP_GT, MLA_EW_GT}, {MLA_OP_GE, MLA_EW_GE}};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].op == op)
			return tensor_binary(out, m, table[i].to, a, b);
	return mla_unsupported(m, "this comparison of arrays");
}

int mla_compare_values(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b)
{
	bool known = true, truth;
	double x, y;
	int error;

	if (op == MLA_OP_IS || op == MLA_OP_IS_NOT) {
		if (a.kind == MLA_V_OPEN || b.kind == MLA_V_OPEN)
			return mla_unsupported(m, "config value `%.*s` has no default",
			                       MLA_ARG(a.kind == MLA_V_OPEN ? a.s : b.s));
		*out = mla_value_bool(mla_value_same(a, b) == (op == MLA_OP_IS));
		return 0;
	}
	if (op == MLA_OP_IN || op == MLA_OP_NOT_IN) {
		error = mla_contains(&truth, m, a, b);
		*out = mla_value_bool(truth == (op == MLA_OP_IN));
		return error;
	}
	if ((a.kind == MLA_V_TENSOR && (b.kind == MLA_V_TENSOR || mla_value_is_number(b))) ||
	    (b.kind == MLA_V_TENSOR && mla_value_is_number(a)))
		return compare_tensors(out, m, op, a, b);
	if (op == MLA_OP_EQ || op == MLA_OP_NE) {
		truth = mla_value_equal(&known, a, b);
		*out = mla_value_bool(truth == (op == MLA_OP_EQ));
		return known ? 0
		             : mla_unsupported(m, "comparison of a %s and a %s", mla_value_type(a),
		                               mla_value_type(b));
	}
	if (mla_value_as_float(&x, a) && mla_value_as_float(&y, b)) {
		int64_t i, k;

		truth = mla_value_as_int(&i, a) && mla_value_as_int(&k, b)
		                ? ordered(op, (i > k) - (i < k))
		                : x == x && y == y && ordered(op, (x > y) - (x < y));
		*out = mla_value_bool(truth);
		return 0;
	}
	if (a.kind == MLA_V_STR && b.kind == MLA_V_STR) {
		*out = mla_value_bool(ordered(op, mla_str_cmp(a.s, b.s)));
		return 0;
	}
	if (mla_value_is_sequence(a) && a.kind == b.kind)
		return mla_unsupported(m, "order of sequences");
	return unknown_operand(m, a, b);
}

/*
 * The evaluator behind mla_helper_means(). Unlike analyzer/evaluate.c, which finds what a size is
 * wherever it is said, it executes one function body on given numbers and follows no name out of
 * it. Numbers are Python's: `/` and what it makes are floats, and comparisons take either.
 */
#include "fixers/helper_meaning.h"

#include "analyzer/geometry.h"
#include "analyzer/str.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 32, MAX_NAMES = 32 };

/* Products of three sizes below stay far from it; anything larger counts as not understood. */
static const int64_t LIMIT = (int64_t)1 << 40;

typedef enum { UNKNOWN, NONE, BOOL, INT, FLOAT } kind;

typedef struct {
	kind known;
	int64_t value; /* of INT and BOOL */
	double real;   /* of FLOAT */
} number;

typedef struct {
	mla_str name;
	number value;
} variable;

typedef struct {
	const mla_module *module;
	variable v[MAX_NAMES];
	uint32_t n;
} frame;

typedef enum { NEXT, RETURNED, NOT_UNDERSTOOD } outcome;

static number unknown(void)
{
	return (number){0};
}

static number integer(int64_t v)
{
	return v > LIMIT || v < -LIMIT ? unknown() : (number){.known = INT, .value = v};
}

static number boolean(bool v)
{
	return (number){.known = BOOL, .value = v};
}

static number real(double v)
{
	return !(fabs(v) <= (double)LIMIT) ? unknown() : (number){.known = FLOAT, .real = v};
}

static bool is_number(number n)
{
	return n.known == INT || n.known == FLOAT;
}

static double as_real(number n)
{
	return n.known == FLOAT ? n.real : (double)n.value;
}

static bool is_true(number n)
{
	return n.known == FLOAT ? n.real != 0 : n.value != 0;
}

static variable *find(frame *f, mla_str name)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (mla_str_eq(f->v[i].name, name))
			return &f->v[i];
	return NULL;
}

static bool set(frame *f, mla_str name, number value)
{
	variable *have = find(f, name);

	if (!have && f->n == MAX_NAMES)
		return false;
	if (!have)
		have = &f->v[f->n++];
	*have = (variable){name, value};
	return true;
}

static int64_t floor_div(int64_t x, int64_t y)
{
	return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static number real_arithmetic(mla_op op, double x, double y)
{
	switch (op) {
	case MLA_OP_ADD:
		return real(x + y);
	case MLA_OP_SUB:
		return real(x - y);
	case MLA_OP_MUL:
		return real(x * y);
	case MLA_OP_DIV:
		return y != 0 ? real(x / y) : unknown();
	case MLA_OP_FLOORDIV:
		return y != 0 ? real(floor(x / y)) : unknown();
	default:
		return unknown();
	}
}

static number arithmetic(mla_op op, number a, number b)
{
	int64_t x = a.value, y = b.value, product;

	if (!is_number(a) || !is_number(b))
		return unknown();
	if (a.known == FLOAT || b.known == FLOAT || op == MLA_OP_DIV)
		return real_arithmetic(op, as_real(a), as_real(b));
	switch (op) {
	case MLA_OP_ADD:
		return integer(x + y);
	case MLA_OP_SUB:
		return integer(x - y);
	case MLA_OP_MUL:
		return __builtin_mul_overflow(x, y, &product) ? unknown() : integer(product);
	case MLA_OP_FLOORDIV:
		return y ? integer(floor_div(x, y)) : unknown();
	case MLA_OP_MOD:
		return y ? integer(x - y * floor_div(x, y)) : unknown();
	default:
		return unknown();
	}
}

static number compare(mla_op op, number a, number b)
{
	double x = as_real(a), y = as_real(b);

	if (!a.known || !b.known)
		return unknown();
	if (op == MLA_OP_IS || op == MLA_OP_IS_NOT) {
		if (a.known != NONE && b.known != NONE)
			return unknown();
		return boolean((a.known == b.known) == (op == MLA_OP_IS));
	}
	if (!is_number(a) || !is_number(b))
		return unknown();
	switch (op) {
	case MLA_OP_EQ:
		return boolean(x == y);
	case MLA_OP_NE:
		return boolean(x != y);
	case MLA_OP_LT:
		return boolean(x < y);
	case MLA_OP_LE:
		return boolean(x <= y);
	case MLA_OP_GT:
		return boolean(x > y);
	case MLA_OP_GE:
		return boolean(x >= y);
	default:
		return unknown();
	}
}

static number literal(mla_str s)
{
	int64_t v;

	return mla_str_int(&v, s, 0, LIMIT) ? integer(v) : unknown();
}

static number real_literal(mla_str s)
{
	char digits[32], *end;
	double v;

	if (s.len >= sizeof(digits))
		return unknown();
	memcpy(digits, s.ptr, s.len);
	digits[s.len] = '\0';
	v = strtod(digits, &end);
	return *end ? unknown() : real(v);
}

static number eval(frame *f, const mla_node *e, int depth);

/* math.floor(x) and math.ceil(x) */
static bool is_of_math(const frame *f, const mla_node *callee, const char *name)
{
	const mla_node *alias = callee->kind == MLA_N_ATTRIBUTE && callee->kid[0] &&
	                                        callee->kid[0]->kind == MLA_N_NAME
	                                ? mla_module_alias(f->module, callee->kid[0]->name)
	                                : NULL;

	return alias && mla_str_is(callee->name, name) && mla_str_is(callee->kid[0]->name, "math");
}

static number rounded(number n, bool up)
{
	double v = up ? ceil(n.real) : n.real;

	return n.known == FLOAT ? integer((int64_t)v) : n;
}

static number eval_round(frame *f, const mla_node *e, int depth, bool up, bool down)
{
	number n = e->n == 2 ? eval(f, e->kid[1], depth) : unknown();

	if (!is_number(n))
		return unknown();
	if (down && n.known == FLOAT)
		n.real = floor(n.real);
	return rounded(n, up);
}

/* max, min, int and float of numbers, as long as nothing here has taken those names. */
static number eval_call(frame *f, const mla_node *e, int depth)
{
	mla_str name = e->kid[0]->name;
	bool max = mla_str_is(name, "max"), min = mla_str_is(name, "min");
	number best = unknown();

	if (is_of_math(f, e->kid[0], "floor"))
		return eval_round(f, e, depth, false, true);
	if (is_of_math(f, e->kid[0], "ceil"))
		return eval_round(f, e, depth, true, false);
	if (e->kid[0]->kind != MLA_N_NAME || find(f, name) || mla_module_binding(f->module, name))
		return best;
	if (mla_str_is(name, "int"))
		return eval_round(f, e, depth, false, false);
	if (mla_str_is(name, "float") && e->n == 2) {
		best = eval(f, e->kid[1], depth);
		return is_number(best) ? real(as_real(best)) : unknown();
	}
	if ((!max && !min) || e->n < 3)
		return best;
	for (uint32_t i = 1; i < e->n; i++) {
		number n = eval(f, e->kid[i], depth);

		if (!is_number(n))
			return unknown();
		if (i == 1 || (max ? as_real(n) > as_real(best) : as_real(n) < as_real(best)))
			best = n;
	}
	return best;
}

static number eval_chain(frame *f, const mla_node *e, int depth)
{
	number left = eval(f, e->kid[0], depth), holds = boolean(true);

	for (uint32_t i = 1; i + 1 < e->n && holds.known && holds.value; i += 2) {
		number right = eval(f, e->kid[i + 1], depth);

		holds = compare(e->kid[i]->op, left, right);
		left = right;
	}
	return holds;
}

static number eval_unary(mla_op op, number n)
{
	if (!is_number(n) || (op != MLA_OP_SUB && op != MLA_OP_ADD))
		return unknown();
	return op == MLA_OP_ADD ? n : n.known == FLOAT ? real(-n.real) : integer(-n.value);
}

static number eval(frame *f, const mla_node *e, int depth)
{
	number n;
	variable *v;

	if (!e || depth-- == 0)
		return unknown();
	switch (e->kind) {
	case MLA_N_INT:
		return literal(e->name);
	case MLA_N_FLOAT:
		return real_literal(e->name);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		return boolean(e->kind == MLA_N_TRUE);
	case MLA_N_NONE:
		return (number){.known = NONE};
	case MLA_N_NAME:
		v = find(f, e->name);
		return v ? v->value : unknown();
	case MLA_N_UNARY:
		return eval_unary(e->op, eval(f, e->kid[0], depth));
	case MLA_N_NOT:
		n = eval(f, e->kid[0], depth);
		return n.known ? boolean(!is_true(n)) : n;
	case MLA_N_AND:
	case MLA_N_OR:
		n = eval(f, e->kid[0], depth);
		if (!n.known || is_true(n) == (e->kind == MLA_N_OR))
			return n;
		return eval(f, e->kid[1], depth);
	case MLA_N_BINARY:
		return arithmetic(e->op, eval(f, e->kid[0], depth), eval(f, e->kid[1], depth));
	case MLA_N_COMPARE:
		return compare(e->op, eval(f, e->kid[0], depth), eval(f, e->kid[1], depth));
	case MLA_N_CHAIN:
		return eval_chain(f, e, depth);
	case MLA_N_CONDITION:
		n = eval(f, e->kid[0], depth);
		return n.known ? eval(f, e->kid[is_true(n) ? 1 : 2], depth) : n;
	case MLA_N_CALL:
		return eval_call(f, e, depth);
	default:
		return unknown();
	}
}

/* `a = value`, `a, b = x, y` */
static bool assign(frame *f, const mla_node *target, const mla_node *value)
{
	number n[MAX_NAMES];

	if (target->kind == MLA_N_NAME) {
		n[0] = eval(f, value, MAX_DEPTH);
		return n[0].known && set(f, target->name, n[0]);
	}
	if (target->kind != MLA_N_TUPLE || value->kind != MLA_N_TUPLE || target->n != value->n ||
	    target->n > MAX_NAMES)
		return false;
	for (uint32_t i = 0; i < value->n; i++) {
		n[i] = eval(f, value->kid[i], MAX_DEPTH);
		if (!n[i].known || target->kid[i]->kind != MLA_N_NAME)
			return false;
	}
	for (uint32_t i = 0; i < value->n; i++)
		if (!set(f, target->kid[i]->name, n[i]))
			return false;
	return true;
}

/* A simple statement other than return. */
static bool do_simple(frame *f, const mla_node *n)
{
	number sum;

	switch (n->kind) {
	case MLA_N_PASS:
		return true;
	case MLA_N_EXPRESSION: /* a docstring */
		return n->kid[0]->kind == MLA_N_STRING && n->kid[0]->n == 0;
	case MLA_N_ASSIGN:
		for (uint32_t i = 0; i + 1 < n->n; i++)
			if (!assign(f, n->kid[i], n->kid[n->n - 1]))
				return false;
		return true;
	case MLA_N_ANN_ASSIGN:
		return mla_kid(n, 2) && assign(f, n->kid[0], n->kid[2]);
	case MLA_N_AUG_ASSIGN:
		sum = arithmetic(n->op, eval(f, n->kid[0], MAX_DEPTH),
		                 eval(f, n->kid[1], MAX_DEPTH));
		return sum.known && n->kid[0]->kind == MLA_N_NAME && set(f, n->kid[0]->name, sum);
	default:
		return false;
	}
}

/* A BLOCK, or the statement itself; NULL is an absent else. */
static outcome execute(number *result, frame *f, const mla_node *n, int depth)
{
	number test;
	outcome o = NEXT;

	if (!n)
		return NEXT;
	if (depth-- == 0)
		return NOT_UNDERSTOOD;
	switch (n->kind) {
	case MLA_N_BLOCK:
		for (uint32_t i = 0; i < n->n && o == NEXT; i++)
			o = execute(result, f, n->kid[i], depth);
		return o;
	case MLA_N_IF:
		test = eval(f, n->kid[0], MAX_DEPTH);
		return test.known ? execute(result, f, mla_kid(n, is_true(test) ? 1 : 2), depth)
		                  : NOT_UNDERSTOOD;
	case MLA_N_RETURN:
		*result = eval(f, mla_kid(n, 0), MAX_DEPTH);
		return RETURNED;
	default:
		return do_simple(f, n) ? NEXT : NOT_UNDERSTOOD;
	}
}

/* The function's result at one geometry; a cached length of 0 is not passed. */
static number call(const mla_module *m, const mla_node *function, const mla_geometry *g,
                   int64_t cache_len)
{
	const int64_t arguments[] = {g->rank, g->nope, g->value, cache_len};
	const mla_node *list = mla_kid(function, 0);
	uint32_t passed = cache_len ? 4 : 3;
	frame f = {.module = m}, outside = {.module = m};
	number result = unknown();

	for (uint32_t i = 0; list && i < list->n; i++) {
		const mla_node *p = list->kid[i];
		number value;

		if (p->op && !p->name.len)
			continue; /* a bare * or / */
		value = i < passed ? integer(arguments[i])
		                   : eval(&outside, mla_kid(p, 1), MAX_DEPTH);
		if (p->op || !set(&f, p->name, value))
			return unknown();
	}
	return execute(&result, &f, mla_kid(function, 1), MAX_DEPTH) == RETURNED ? result
	                                                                         : unknown();
}

/*
 * The threshold; or one less where it is exact, which is a tie that a float may round down; or,
 * where 2r <= d, what the formula says of this cached length before it says "always".
 */
static bool is_threshold(const mla_geometry *g, int64_t cache_len, int64_t is)
{
	int64_t want = mla_geometry_threshold(g, cache_len), r = g->rank;
	int64_t d = (int64_t)g->nope + g->value, over = r * d, under = 2 * r - d;

	if (cache_len) {
		over *= cache_len;
		under = r * d + under * cache_len;
	}
	if (is == want || under <= 0)
		return is == want;
	return is == over / under || (over % under == 0 && is == over / under - 1);
}

bool mla_helper_means(const mla_module *m, const mla_node *function, bool cached)
{
	/* Published sizes, one where absorbed never loses, and one that divides nowhere. */
	static const mla_geometry sizes[] = {
		{512, 128, 64, 128}, {512, 192, 64, 256}, {512, 256, 64, 256},
		{64, 128, 64, 128},  {96, 40, 16, 56},
	};
	static const int64_t lengths[] = {0, 1, 64, 513, 8192, 131072};
	const size_t n = sizeof(sizes) / sizeof(*sizes);
	const size_t calls = cached ? sizeof(lengths) / sizeof(*lengths) : 1;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < calls; k++) {
			number is = call(m, function, &sizes[i], lengths[k]);

			if (is.known != INT || !is_threshold(&sizes[i], lengths[k], is.value))
				return false;
		}
	return true;
}

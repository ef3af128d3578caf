/*
 * The integer evaluator behind mla_helper_means(). Unlike analyzer/evaluate.c, which finds what a
 * size is wherever it is said, it executes one function body on given numbers and follows no name
 * out of it.
 */
#include "fixers/helper_meaning.h"

#include "analyzer/evaluate.h"
#include "analyzer/geometry.h"
#include "analyzer/str.h"

enum { MAX_DEPTH = 32, MAX_NAMES = 32 };

/* Products of three sizes below stay far from it; anything larger counts as not understood. */
static const int64_t LIMIT = (int64_t)1 << 40;

typedef struct {
	mla_str name;
	mla_number value;
} variable;

typedef struct {
	const mla_module *module;
	variable v[MAX_NAMES];
	uint32_t n;
} frame;

typedef enum { NEXT, RETURNED, NOT_UNDERSTOOD } outcome;

static mla_number unknown(void)
{
	return (mla_number){MLA_UNKNOWN, MLA_SOURCE_FILE, 0};
}

static mla_number integer(int64_t v)
{
	return v > LIMIT || v < -LIMIT ? unknown() : (mla_number){MLA_IS_INT, MLA_SOURCE_FILE, v};
}

static mla_number boolean(bool v)
{
	return (mla_number){MLA_IS_BOOL, MLA_SOURCE_FILE, v};
}

static variable *find(frame *f, mla_str name)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (mla_str_eq(f->v[i].name, name))
			return &f->v[i];
	return NULL;
}

static bool set(frame *f, mla_str name, mla_number value)
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

static mla_number arithmetic(mla_op op, mla_number a, mla_number b)
{
	int64_t x = a.value, y = b.value, product;

	if (a.known < MLA_IS_INT || b.known < MLA_IS_INT)
		return unknown();
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

static mla_number compare(mla_op op, mla_number a, mla_number b)
{
	if (!a.known || !b.known)
		return unknown();
	if (op == MLA_OP_IS || op == MLA_OP_IS_NOT) {
		if (a.known != MLA_IS_NONE && b.known != MLA_IS_NONE)
			return unknown();
		return boolean((a.known == b.known) == (op == MLA_OP_IS));
	}
	if (a.known < MLA_IS_INT || b.known < MLA_IS_INT)
		return unknown();
	switch (op) {
	case MLA_OP_EQ:
		return boolean(a.value == b.value);
	case MLA_OP_NE:
		return boolean(a.value != b.value);
	case MLA_OP_LT:
		return boolean(a.value < b.value);
	case MLA_OP_LE:
		return boolean(a.value <= b.value);
	case MLA_OP_GT:
		return boolean(a.value > b.value);
	case MLA_OP_GE:
		return boolean(a.value >= b.value);
	default:
		return unknown();
	}
}

static mla_number literal(mla_str s)
{
	int64_t v;

	return mla_str_int(&v, s, 0, LIMIT) ? integer(v) : unknown();
}

static mla_number eval(frame *f, const mla_node *e, int depth);

/* max, min and int of numbers, as long as nothing here has taken those names. */
static mla_number eval_call(frame *f, const mla_node *e, int depth)
{
	mla_str name = e->kid[0]->name;
	bool max = mla_str_is(name, "max"), min = mla_str_is(name, "min");
	mla_number best = unknown();

	if (e->kid[0]->kind != MLA_N_NAME || find(f, name) || mla_module_binding(f->module, name))
		return best;
	if (mla_str_is(name, "int") ? e->n != 2 : (!max && !min) || e->n < 3)
		return best;
	for (uint32_t i = 1; i < e->n; i++) {
		mla_number n = eval(f, e->kid[i], depth);

		if (n.known < MLA_IS_INT)
			return unknown();
		if (i == 1 || (max ? n.value > best.value : n.value < best.value))
			best = integer(n.value);
	}
	return best;
}

static mla_number eval_chain(frame *f, const mla_node *e, int depth)
{
	mla_number left = eval(f, e->kid[0], depth), holds = boolean(true);

	for (uint32_t i = 1; i + 1 < e->n && holds.known && holds.value; i += 2) {
		mla_number right = eval(f, e->kid[i + 1], depth);

		holds = compare(e->kid[i]->op, left, right);
		left = right;
	}
	return holds;
}

static mla_number eval_unary(mla_op op, mla_number n)
{
	if (n.known < MLA_IS_INT || (op != MLA_OP_SUB && op != MLA_OP_ADD))
		return unknown();
	return integer(op == MLA_OP_SUB ? -n.value : n.value);
}

static mla_number eval(frame *f, const mla_node *e, int depth)
{
	mla_number n;
	variable *v;

	if (!e || depth-- == 0)
		return unknown();
	switch (e->kind) {
	case MLA_N_INT:
		return literal(e->name);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		return boolean(e->kind == MLA_N_TRUE);
	case MLA_N_NONE:
		return (mla_number){MLA_IS_NONE, MLA_SOURCE_FILE, 0};
	case MLA_N_NAME:
		v = find(f, e->name);
		return v ? v->value : unknown();
	case MLA_N_UNARY:
		return eval_unary(e->op, eval(f, e->kid[0], depth));
	case MLA_N_NOT:
		n = eval(f, e->kid[0], depth);
		return n.known ? boolean(!n.value) : n;
	case MLA_N_AND:
	case MLA_N_OR:
		n = eval(f, e->kid[0], depth);
		if (!n.known || (n.value != 0) == (e->kind == MLA_N_OR))
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
		return n.known ? eval(f, e->kid[n.value ? 1 : 2], depth) : n;
	case MLA_N_CALL:
		return eval_call(f, e, depth);
	default:
		return unknown();
	}
}

/* `a = value`, `a, b = x, y` */
static bool assign(frame *f, const mla_node *target, const mla_node *value)
{
	mla_number n[MAX_NAMES];

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
	mla_number sum;

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
static outcome execute(mla_number *result, frame *f, const mla_node *n, int depth)
{
	mla_number test;
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
		return test.known ? execute(result, f, mla_kid(n, test.value ? 1 : 2), depth)
		                  : NOT_UNDERSTOOD;
	case MLA_N_RETURN:
		*result = eval(f, mla_kid(n, 0), MAX_DEPTH);
		return RETURNED;
	default:
		return do_simple(f, n) ? NEXT : NOT_UNDERSTOOD;
	}
}

/* The function's result at one geometry; a cached length of 0 is not passed. */
static mla_number call(const mla_module *m, const mla_node *function, const mla_geometry *g,
                       int64_t cache_len)
{
	const int64_t arguments[] = {g->rank, g->nope, g->value, cache_len};
	const mla_node *list = mla_kid(function, 0);
	uint32_t passed = cache_len ? 4 : 3;
	frame f = {.module = m}, outside = {.module = m};
	mla_number result = unknown();

	for (uint32_t i = 0; list && i < list->n; i++) {
		const mla_node *p = list->kid[i];
		mla_number value;

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
			mla_number is = call(m, function, &sizes[i], lengths[k]);

			if (is.known != MLA_IS_INT ||
			    is.value != mla_geometry_threshold(&sizes[i], lengths[k]))
				return false;
		}
	return true;
}

/* Abstract evaluation of expressions other than calls. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

static const mla_value *number(mla_flow *f, int64_t v)
{
	mla_value *n = mla_value_new(f, MLA_V_INT, 0);

	n->number = v;
	n->number_known = true;
	return n;
}

static bool is_constant_name(mla_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		if (s.ptr[i] >= 'a' && s.ptr[i] <= 'z')
			return false;
	return s.len > 1;
}

/* True, False and strings as they are written. */
static const mla_value *fixed(mla_flow *f, const mla_module *m, const mla_node *n)
{
	if (n->kind == MLA_N_TRUE || n->kind == MLA_N_FALSE)
		return mla_value_constant(f, mla_node_text(m->text, n));
	return n->kind == MLA_N_STRING && !n->n
	               ? mla_value_constant(f, mla_str_unquoted(mla_node_text(m->text, n)))
	               : mla_value_any(f, 0);
}

/*
 * A module-level constant or function. An imported name is looked up only where it is written as a
 * constant: reading and parsing the other file for a class that is passed along is not worth it,
 * and a function that is called is resolved by the call.
 */
static const mla_value *global(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_symbol s;
	mla_value *v;

	if (mla_module_alias(fr->module, n->name) && !is_constant_name(n->name))
		return mla_value_any(f, 0);
	s = mla_project_resolve(f->project, fr->module, n->name);
	if (!s.node)
		return mla_value_any(f, 0);
	if (s.node->kind == MLA_N_FUNCTION) {
		v = mla_value_new(f, MLA_V_FUNCTION, 0);
		v->function = s.node;
		v->module = s.module;
		return v;
	}
	if (s.node->kind == MLA_N_INT || s.node->kind == MLA_N_BINARY) {
		const mla_scope scope = {f->project, NULL, NULL, s.module, NULL};
		mla_number known = mla_evaluate(&scope, s.node);

		if (known.known == MLA_IS_INT)
			return number(f, known.value);
	}
	return fixed(f, s.module, s.node);
}

static const mla_value *name(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v = mla_env_get(fr->env, n->name);

	return v ? v : global(f, fr, n);
}

static const mla_value *sequence(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value **v = mla_arena_array(f->arena, n->n, sizeof(*v));

	for (uint32_t i = 0; i < n->n; i++)
		v[i] = mla_flow_eval(f, fr, n->kid[i]);
	return mla_value_tuple(f, v, n->n);
}

/* L - 1, L + 1: a count still, with what it is more in `number`. */
static const mla_value *shifted(mla_flow *f, mla_op op, const mla_value *a, const mla_value *b)
{
	bool count_first = (a->tags & MLA_TAG_COUNT) != 0;
	const mla_value *count = count_first ? a : b, *by = count_first ? b : a;
	mla_value *v;

	if (!(count->tags & MLA_TAG_COUNT) || !by->number_known || by->number < -INT32_MAX ||
	    by->number > INT32_MAX || !(op == MLA_OP_ADD || (op == MLA_OP_SUB && count_first)))
		return NULL;
	v = mla_value_new(f, MLA_V_INT, count->tags);
	v->number = count->number + (op == MLA_OP_SUB ? -by->number : by->number);
	return v;
}

/* Of a count, it is a count no more. */
static const mla_value *arithmetic(mla_flow *f, mla_op op, const mla_value *a, const mla_value *b)
{
	const mla_number x = {MLA_IS_INT, MLA_SOURCE_FILE, a->number};
	const mla_number y = {MLA_IS_INT, MLA_SOURCE_FILE, b->number};
	mla_value *v = mla_value_new(f, MLA_V_INT, (a->tags | b->tags) & MLA_TAG_MADE_OF);
	mla_number known = {0};

	if (a->number_known && b->number_known)
		known = mla_number_arithmetic(op, x, y);
	v->number_known = known.known == MLA_IS_INT;
	v->number = known.value;
	return v;
}

static const mla_value *binary(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *a = mla_flow_eval(f, fr, n->kid[0]);
	const mla_value *b = mla_flow_eval(f, fr, n->kid[1]);
	uint32_t tags = mla_value_tags(a) | mla_value_tags(b);
	mla_value *v;

	if (n->op == MLA_OP_MATMUL)
		return mla_flow_product(f, fr, n, a, b, n->kid[0], n->kid[1]);
	if (a->kind == MLA_V_INT && b->kind == MLA_V_INT)
		return (v = (mla_value *)shifted(f, n->op, a, b)) ? v : arithmetic(f, n->op, a, b);
	if (a->kind == MLA_V_TUPLE && b->kind == MLA_V_TUPLE && n->op == MLA_OP_ADD) {
		const mla_value **e = mla_arena_array(f->arena, (size_t)a->n + b->n, sizeof(*e));

		for (uint32_t i = 0; i < a->n + b->n; i++)
			e[i] = i < a->n ? a->element[i] : b->element[i - a->n];
		return mla_value_tuple(f, e, a->n + b->n);
	}
	if (n->op == MLA_OP_BITAND || n->op == MLA_OP_BITOR) {
		if (a->kind == MLA_V_TRUTH || b->kind == MLA_V_TRUTH)
			return mla_flow_both(f, a, b);
	}
	mla_flow_other_use(a, n);
	mla_flow_other_use(b, n);
	mla_flow_array_use(f, a, n);
	mla_flow_array_use(f, b, n);
	if ((tags & MLA_TAG_SCORES) && (tags & MLA_TAG_MASK))
		mla_flow_record(f, MLA_EV_MASK, n);
	if (tags & (MLA_TAG_SCORES | MLA_TAG_ATTENDED))
		tags &= ~(uint32_t)MLA_TAG_MASK;
	v = mla_value_new(f, MLA_V_ANY, tags & ~(uint32_t)MLA_TAG_COUNT);
	v->rank = a->rank > b->rank ? a->rank : b->rank;
	v->heads_last = a->rank > b->rank ? a->heads_last : b->heads_last;
	return v;
}

static const mla_value *condition(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *test = mla_flow_condition(f, mla_flow_eval(f, fr, n->kid[0]));
	uint32_t mark = mla_flow_push(f, test, true), before = mla_flow_progress(test);
	const mla_value *a, *b, *chosen;

	a = mla_flow_eval(f, fr, n->kid[1]);
	mla_flow_pop(f, mark);
	mla_flow_push(f, test, false);
	b = mla_flow_eval(f, fr, n->kid[2]);
	mla_flow_pop(f, mark);
	if (mla_flow_string_test(fr, n->kid[0]))
		b = mla_value_not_string(f, b);
	if ((chosen = mla_flow_choose(f, test, a, b)))
		return chosen;
	if (before == mla_flow_progress(test) && !mla_value_latent(a) && !mla_value_latent(b))
		mla_flow_other_use(test, n);
	return mla_value_join(f, a, b);
}

static const mla_value *comprehension(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_env *saved = fr->env;
	const mla_value *v;

	fr->env = mla_env_new(f, saved);
	for (uint32_t i = 1; i < n->n; i++) {
		const mla_node *c = n->kid[i];

		if (c->kind == MLA_N_FOR_CLAUSE) {
			const mla_value *items = mla_flow_eval(f, fr, c->kid[1]);
			mla_value *one = mla_value_new(f, MLA_V_ANY, mla_value_tags(items));

			one->rank = items->rank;
			one->heads_last = items->heads_last;
			mla_flow_assign(f, fr, c->kid[0], one);
		} else {
			mla_flow_eval(f, fr, mla_kid(c, 0));
		}
	}
	v = mla_flow_eval(f, fr, n->kid[0]);
	fr->env = saved;
	return mla_value_any(f, mla_value_tags(v));
}

static const mla_value *walrus(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v = mla_flow_eval(f, fr, mla_kid(n, 1));

	mla_flow_assign(f, fr, mla_kid(n, 0), v);
	return v;
}

/* a < L < b; of longer chains nothing is known. */
static const mla_value *chain(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v[3] = {NULL};

	for (uint32_t i = 0; i < n->n; i += 2) {
		const mla_value *operand = mla_flow_eval(f, fr, n->kid[i]);

		if (i / 2 < 3)
			v[i / 2] = operand;
	}
	return n->n == 5 ? mla_flow_between(f, fr, n, v) : mla_value_any(f, 0);
}

static const mla_value *all_kids(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	uint32_t tags = 0;

	for (uint32_t i = 0; i < n->n; i++)
		if (n->kid[i])
			tags |= mla_value_tags(mla_flow_eval(f, fr, n->kid[i]));
	return mla_value_any(f, tags & ~(uint32_t)MLA_TAG_COUNT);
}

static const mla_value *unary(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v = mla_flow_eval(f, fr, n->kid[0]);

	if (v->kind == MLA_V_INT && v->number_known && n->op != MLA_OP_INVERT)
		return number(f, n->op == MLA_OP_SUB ? -v->number : v->number);
	if (v->kind == MLA_V_INT)
		return mla_value_new(f, MLA_V_INT, 0);
	if (n->op == MLA_OP_INVERT)
		return mla_flow_not(f, v);
	return v;
}

/* 1, 0x1, 1.0: what a count can be compared with. */
static const mla_value *literal(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_scope scope = {f->project, NULL, NULL, fr->module, NULL};
	mla_number known = n->kind == MLA_N_INT ? mla_evaluate(&scope, n) : (mla_number){0};
	double real = n->kind == MLA_N_FLOAT && n->name.len < 32 ? atof(n->name.ptr) : 0.5;

	if (known.known == MLA_IS_INT)
		return number(f, known.value);
	if (real > -1e6 && real < 1e6 && real == (double)(int64_t)real)
		return number(f, (int64_t)real);
	return n->kind == MLA_N_INT ? mla_value_new(f, MLA_V_INT, 0) : mla_value_any(f, 0);
}

static const mla_value *evaluate(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *a, *b;

	switch ((mla_kind)n->kind) {
	case MLA_N_NAME:
		return name(f, fr, n);
	case MLA_N_INT:
	case MLA_N_FLOAT:
		return literal(f, fr, n);
	case MLA_N_NONE:
		return mla_value_new(f, MLA_V_NONE, 0);
	case MLA_N_ATTRIBUTE:
		return mla_flow_attribute(f, fr, n);
	case MLA_N_SUBSCRIPT:
		return mla_flow_subscript(f, fr, n);
	case MLA_N_CALL:
		return mla_flow_call(f, fr, n);
	case MLA_N_TUPLE:
	case MLA_N_LIST:
	case MLA_N_SET:
		return sequence(f, fr, n);
	case MLA_N_BINARY:
		return binary(f, fr, n);
	case MLA_N_COMPARE:
		a = mla_flow_eval(f, fr, n->kid[0]);
		return mla_flow_compare(f, fr, n, a, mla_flow_eval(f, fr, n->kid[1]));
	case MLA_N_NOT:
		return mla_flow_not(f, mla_flow_eval(f, fr, n->kid[0]));
	case MLA_N_AND:
	case MLA_N_OR:
		a = mla_flow_condition(f, mla_flow_eval(f, fr, n->kid[0]));
		b = mla_flow_condition(f, mla_flow_eval(f, fr, n->kid[1]));
		if (a->kind == MLA_V_TRUTH || b->kind == MLA_V_TRUTH)
			return mla_flow_logic(f, n, a, b);
		return mla_value_join(f, a, b);
	case MLA_N_CONDITION:
		return condition(f, fr, n);
	case MLA_N_WALRUS:
		return walrus(f, fr, n);
	case MLA_N_CHAIN:
		return chain(f, fr, n);
	case MLA_N_LIST_COMP:
	case MLA_N_SET_COMP:
	case MLA_N_GENERATOR:
		return comprehension(f, fr, n);
	case MLA_N_LAMBDA:
		return mla_value_function(f, fr, n);
	case MLA_N_UNARY:
		return unary(f, fr, n);
	case MLA_N_AWAIT:
	case MLA_N_STAR:
		return n->n && n->kid[0] ? mla_flow_eval(f, fr, n->kid[0]) : mla_value_any(f, 0);
	case MLA_N_STRING:
		all_kids(f, fr, n);
		return fixed(f, fr->module, n);
	case MLA_N_SLICE:
		all_kids(f, fr, n);
		return mla_value_any(f, 0);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		return fixed(f, fr->module, n);
	case MLA_N_ELLIPSIS:
		return mla_value_any(f, 0);
	default:
		return all_kids(f, fr, n);
	}
}

const mla_value *mla_flow_eval(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *v;

	if (!n || mla_flow_limit(f, n))
		return mla_value_any(f, 0);
	f->depth++;
	f->steps++;
	f->total_steps++;
	v = evaluate(f, fr, n);
	f->depth--;
	return v;
}

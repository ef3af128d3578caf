/* The backward evaluation of pool_trace.h. Recursion ends at a depth and at a number of steps. */
#include "analyzer/pool_trace.h"

#include "analyzer/str.h"

enum { MAX_DEPTH = 48, MAX_STEPS = 20000 };

/* Numbers made of other numbers keep what these are made of. */
enum {
	NUMBER = MLA_TR_COUNT | MLA_TR_LENGTH | MLA_TR_QUOTIENT | MLA_TR_ONE | MLA_TR_STEP,
	TENSOR = MLA_TR_NEW | MLA_TR_ROWS | MLA_TR_SUFFIX | MLA_TR_WINDOWS | MLA_TR_POOLED,
};

static uint32_t eval(mla_trace *t, const mla_trace_frame *fr, const mla_node *n);

/* Does a method other than the constructor set self.NAME, or an item of it? */
static bool is_state(mla_trace *t, const mla_trace_frame *fr, mla_str name)
{
	mla_lineage l;

	mla_class_lineage(&l, t->project, fr->owner);
	for (uint32_t i = 0; i < l.n; i++)
		for (const mla_node *n = l.v[i].node; n; n = mla_node_next(n, l.v[i].node, false)) {
			const mla_node *method = n->kind == MLA_N_ATTRIBUTE ? n : NULL;
			const mla_node *top = n;

			if (!method || !mla_str_eq(n->name, name) || n->kid[0]->kind != MLA_N_NAME)
				continue;
			while (top->parent &&
			       (top->parent->kind == MLA_N_SUBSCRIPT ||
			        top->parent->kind == MLA_N_TUPLE ||
			        top->parent->kind == MLA_N_LIST) &&
			       (top->parent->kind != MLA_N_SUBSCRIPT || top->index == 0))
				top = top->parent;
			if (!top->parent ||
			    !((top->parent->kind == MLA_N_ASSIGN &&
			       top->index + 1 < top->parent->n) ||
			      (top->parent->kind == MLA_N_AUG_ASSIGN && top->index == 0)))
				continue;
			method = mla_node_function(n);
			if (method && !mla_str_is(method->name, "__init__") &&
			    mla_str_eq(n->kid[0]->name, mla_method_self(method)))
				return true;
		}
	return false;
}

/* Is an attribute of this name stored on some object in the module? */
static bool is_stored(const mla_module *m, mla_str name)
{
	const mla_node *root = m->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		if (n->kind == MLA_N_ATTRIBUTE && mla_str_eq(n->name, name) && n->parent &&
		    n->parent->kind == MLA_N_ASSIGN && n->index + 1 < n->parent->n)
			return true;
		if (n->kind == MLA_N_CALL && n->n == 4 && mla_str_is(n->kid[0]->name, "setattr") &&
		    n->kid[2] && n->kid[2]->kind == MLA_N_STRING) {
			mla_str text = mla_node_text(m->text, n->kid[2]);

			if (text.len > 2 && mla_str_eq((mla_str){text.ptr + 1, text.len - 2}, name))
				return true;
		}
	}
	return false;
}

/* The number of tokens that a shape's axis is, or 0 for another axis. */
static uint32_t axis_tags(uint32_t of, int64_t axis, uint32_t rank)
{
	uint32_t out = 0;

	if (rank && axis < 0)
		axis += rank;
	if (!(rank == 4 ? axis == 2 : axis == 1 || axis == -2 || (!rank && axis == 2)))
		return 0;
	if ((of & MLA_TR_MEMORY) && !(of & (MLA_TR_NEW | MLA_TR_ROWS)))
		out = MLA_TR_MEMORY;
	else if (of & (MLA_TR_ROWS | MLA_TR_MEMORY))
		out = MLA_TR_LENGTH;
	else if (of & MLA_TR_NEW)
		out = MLA_TR_COUNT;
	else
		out = MLA_TR_COUNT | MLA_TR_LENGTH;
	return out | (of & MLA_TR_POOLED ? MLA_TR_QUOTIENT : 0);
}

static bool constant(mla_trace *t, const mla_trace_frame *fr, const mla_node *n, int64_t *out)
{
	const mla_scope scope = {t->project, NULL, NULL, fr->module, NULL};
	mla_number v = mla_evaluate(&scope, n);

	*out = v.value;
	return v.known == MLA_IS_INT;
}

uint32_t mla_trace_part(mla_trace *t, const mla_trace_frame *fr, const mla_node *value, int32_t i,
                        uint32_t n)
{
	uint32_t tags;

	if (i < 0)
		return eval(t, fr, value);
	if (value->kind == MLA_N_ATTRIBUTE && mla_str_is(value->name, "shape"))
		return axis_tags(eval(t, fr, value->kid[0]), i, n);
	tags = eval(t, fr, value);
	return tags & (MLA_TR_MEMORY | TENSOR | NUMBER);
}

/* Names that runtimes give to what outlives a call; the rest of the parameters are this step's,
 * hidden states among them. */
static bool names_memory(mla_str name)
{
	static const char *const words[] = {"cache", "past",  "state", "memo", "pool",
	                                    "prev",  "prior", "store", "kept", NULL};

	for (int i = 0; words[i] && !mla_str_mentions(name, "hidden"); i++)
		if (mla_str_mentions(name, words[i]))
			return true;
	return false;
}

/* Added to or taken from something in its function: a number of tokens rather than a batch size. */
static bool is_added(const mla_node *function, mla_str name)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false))
		if (n->kind == MLA_N_NAME && mla_str_eq(n->name, name) && n->parent &&
		    n->parent->kind == MLA_N_BINARY &&
		    (n->parent->op == MLA_OP_ADD || n->parent->op == MLA_OP_SUB))
			return true;
	return false;
}

static bool names_count(mla_str name)
{
	static const char *const words[] = {
		"S",      "L",     "new",         "n_new",     "num_new", "new_tokens", "fresh",
		"steps",  "q_len", "query_len",   "seq_len",   "seqlen",  "num_tokens", "n_tokens",
		"length", "step",  "num_queries", "n_queries", "width",   NULL};

	return mla_str_in(name, words);
}

static uint32_t parameter_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *p)
{
	const mla_node *given = fr->call ? mla_trace_argument(fr, p) : NULL;
	const mla_node *type = mla_kid(p, 0);

	if (given)
		return eval(t, fr->caller, given);
	if (fr->call)
		return mla_kid(p, 1) ? eval(t, fr, mla_kid(p, 1)) : 0;
	if (p->index == 0 && fr->owner.node && !mla_method_is(fr->function, "staticmethod"))
		return 0;
	if (mla_str_mentions(p->name, "mask"))
		return 0;
	if (names_count(p->name) ||
	    (type && mla_str_is(type->name, "int") && is_added(fr->function, p->name)))
		return MLA_TR_COUNT;
	if (names_memory(p->name))
		return MLA_TR_CACHE | MLA_TR_MEMORY;
	return MLA_TR_NEW;
}

static uint32_t name_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *p = mla_parameter(fr->function, n->name);
	mla_reachings r;
	uint32_t tags = 0;

	if (mla_trace_is_self(fr, n))
		return 0;
	mla_trace_reach(&r, fr, n);
	for (uint32_t i = 0; i < r.n; i++) {
		const mla_reaching *d = &r.v[i];

		if (!d->value)
			continue;
		tags |= mla_trace_part(t, fr, d->value, d->part, d->parts);
	}
	if (r.open && p)
		tags |= parameter_tags(t, fr, p);
	/* A function inside another one sees the names around it. */
	if (r.open && !p && fr->caller && mla_node_within(fr->function, fr->caller->function))
		tags |= name_tags(t, fr->caller, n);
	return tags;
}

static uint32_t attribute_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	static const char *const nothing[] = {"dtype", "ndim", "device", NULL};
	static const char *const rows[] = {"keys", "values", NULL};
	mla_reachings r;
	uint32_t tags = 0, object;

	if (mla_str_in(n->name, nothing))
		return 0;
	if (mla_str_is(n->name, "shape"))
		return eval(t, fr, n->kid[0]);
	mla_trace_reach(&r, fr, n);
	for (uint32_t i = 0; i < r.n; i++)
		if (r.v[i].value)
			tags |= eval(t, fr, r.v[i].value);
	if (r.n && !r.open)
		return tags;
	if (mla_trace_is_self(fr, n->kid[0]))
		return tags | (is_state(t, fr, n->name) ? MLA_TR_MEMORY : 0);
	object = eval(t, fr, n->kid[0]);
	if (mla_str_is(n->name, "offset") && (object & MLA_TR_CACHE))
		return tags | MLA_TR_LENGTH;
	if (object & MLA_TR_CACHE)
		return tags | MLA_TR_MEMORY | (mla_str_in(n->name, rows) ? MLA_TR_ROWS : 0);
	if ((object & MLA_TR_NEW) && is_stored(fr->module, n->name))
		return tags | MLA_TR_MEMORY;
	return tags | object;
}

/* keys[:, start:], keys[..., start:, :]: from a position that is worked out, or keys[:, -w:] */
static bool begins_late(mla_trace *t, const mla_trace_frame *fr, const mla_node *index)
{
	const mla_node *lower = index->kind == MLA_N_SLICE ? mla_kid(index, 0) : NULL;
	int64_t number;

	if (!lower)
		return false;
	if (lower->kind == MLA_N_UNARY && lower->op == MLA_OP_SUB)
		return !constant(t, fr, lower, &number);
	return (eval(t, fr, lower) & (MLA_TR_MEMORY | NUMBER)) != 0;
}

static uint32_t subscript_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *object = n->kid[0];
	uint32_t tags;
	int64_t at;

	if (object->kind == MLA_N_ATTRIBUTE && mla_str_is(object->name, "shape") && n->n == 2)
		return constant(t, fr, n->kid[1], &at)
		               ? axis_tags(eval(t, fr, object->kid[0]), at, 0)
		               : 0;
	tags = eval(t, fr, object);
	for (uint32_t i = 1; i < n->n; i++)
		if (n->kid[i] && begins_late(t, fr, n->kid[i])) {
			tags |= MLA_TR_SUFFIX;
			t->suffix = n;
			t->suffix_frame = fr;
		}
	return tags;
}

static uint32_t all_arguments(mla_trace *t, const mla_trace_frame *fr, const mla_node *call)
{
	uint32_t tags = 0;

	for (uint32_t i = 1; i < call->n; i++)
		if (call->kid[i])
			tags |= eval(t, fr,
			             call->kid[i]->kind == MLA_N_KEYWORD ? mla_kid(call->kid[i], 0)
			                                                 : call->kid[i]);
	return tags;
}

/* The sizes of a reshape: more than two, so that one of them can be the window. */
static bool splits(const mla_node *call, uint32_t first)
{
	const mla_node *one = call->n == first + 1 ? call->kid[first] : NULL;

	if (one && (one->kind == MLA_N_TUPLE || one->kind == MLA_N_LIST))
		return one->n >= 3;
	return call->n >= first + 3;
}

/* Of an array: x.f(...) and lib.f(x, ...) have it at different places. */
static uint32_t array_call(mla_trace *t, const mla_trace_frame *fr, const mla_node *call,
                           bool library)
{
	static const char *const reduce[] = {"mean", "max",       "sum",  "min",    "amax",
	                                     "amin", "logsumexp", "prod", "reduce", NULL};
	static const char *const split[] = {"unflatten", "unfold", "as_strided", "rearrange", NULL};
	static const char *const product[] = {"einsum", "matmul", "bmm", "tensordot", NULL};
	static const char *const makers[] = {"arange", "zeros",  "ones",     "full", "empty",
	                                     "array",  "tensor", "linspace", NULL};
	mla_str name = call->kid[0]->name;
	uint32_t tags = all_arguments(t, fr, call);

	if (library && mla_str_in(name, makers))
		return tags | MLA_TR_ARRAY;

	if (!library)
		tags |= eval(t, fr, call->kid[0]->kid[0]);
	if (mla_str_is(name, "reshape") || mla_str_is(name, "view"))
		return tags | (splits(call, library ? 2 : 1) ? MLA_TR_WINDOWS : 0);
	if (mla_str_in(name, split))
		return tags | MLA_TR_WINDOWS;
	if (mla_str_in(name, product))
		return tags & MLA_TR_WINDOWS ? (tags | MLA_TR_POOLED) & ~(uint32_t)MLA_TR_WINDOWS
		                             : tags;
	if (mla_str_in(name, reduce) && (tags & (MLA_TR_WINDOWS | MLA_TR_SUFFIX)))
		return (tags | MLA_TR_POOLED) & ~(uint32_t)MLA_TR_WINDOWS;
	return tags;
}

bool mla_trace_joins(const mla_node *call, const mla_node **list, uint32_t *first)
{
	static const char *const names[] = {"concatenate", "concat", "cat", "hstack", NULL};
	const mla_node *one = mla_kid(call, 1);

	if (call->kind != MLA_N_CALL || !one || !mla_str_in(call->kid[0]->name, names))
		return false;
	*list = one->kind == MLA_N_LIST || one->kind == MLA_N_TUPLE ? one : call;
	*first = *list == call ? 1 : 0;
	return true;
}

/* Old rows and new ones together are all rows. */
static uint32_t joined(uint32_t tags)
{
	if ((tags & MLA_TR_MEMORY) && (tags & MLA_TR_NEW) && !(tags & MLA_TR_POOLED))
		tags |= MLA_TR_ROWS;
	return tags;
}

static uint32_t result_tags(mla_trace *t, const mla_trace_frame *fr)
{
	const mla_node *body = mla_kid(fr->function, 1);
	uint32_t tags = 0;
	bool skip = false;

	if (fr->function->kind == MLA_N_LAMBDA)
		return eval(t, fr, body);
	for (const mla_node *n = body; n; n = mla_node_next(n, body, skip)) {
		skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS ||
		       n->kind == MLA_N_LAMBDA;
		if (n->kind == MLA_N_RETURN && mla_kid(n, 0))
			tags |= eval(t, fr, n->kid[0]);
	}
	return tags;
}

static uint32_t read_attribute(mla_trace *t, const mla_trace_frame *fr, const mla_node *call)
{
	uint32_t object = eval(t, fr, mla_kid(call, 1));
	mla_str text =
		mla_kid(call, 2) ? mla_node_text(fr->module->text, call->kid[2]) : (mla_str){"", 0};
	mla_str name = {text.ptr + 1, text.len > 2 ? text.len - 2 : 0};

	if (mla_trace_is_self(fr, mla_kid(call, 1)))
		return is_state(t, fr, name) ? MLA_TR_MEMORY : 0;
	if (mla_str_is(name, "offset") && (object & MLA_TR_CACHE))
		return MLA_TR_LENGTH;
	return object & MLA_TR_CACHE || is_stored(fr->module, name) ? MLA_TR_MEMORY : 0;
}

static uint32_t call_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	const mla_node *callee = n->kid[0], *list;
	const mla_trace_frame *inner;
	uint32_t object, tags, first;
	bool library;

	if (!callee)
		return 0;
	if (callee->kind == MLA_N_NAME && mla_str_is(callee->name, "getattr"))
		return read_attribute(t, fr, n);
	if (mla_trace_joins(n, &list, &first))
		return joined(all_arguments(t, fr, n));
	if ((inner = mla_trace_enter(t, fr, n)))
		return result_tags(t, inner);
	library = callee->kind != MLA_N_ATTRIBUTE || mla_trace_is_library(fr, callee);
	object = library ? 0 : eval(t, fr, callee->kid[0]);
	if (object & MLA_TR_CACHE) {
		tags = all_arguments(t, fr, n);
		return tags & MLA_TR_NEW ? tags | MLA_TR_ROWS : MLA_TR_MEMORY;
	}
	tags = array_call(t, fr, n, library);
	if (mla_str_mentions(callee->name, "pool") && (tags & TENSOR))
		tags |= MLA_TR_POOLED;
	return tags;
}

static uint32_t binary_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	uint32_t a = eval(t, fr, n->kid[0]), b = eval(t, fr, n->kid[1]), tags = a | b;
	int64_t one;

	if (n->op == MLA_OP_MATMUL)
		return tags & MLA_TR_WINDOWS ? (tags | MLA_TR_POOLED) & ~(uint32_t)MLA_TR_WINDOWS
		                             : tags;
	if (tags & TENSOR)
		return tags;
	if (n->op == MLA_OP_FLOORDIV || n->op == MLA_OP_DIV || n->op == MLA_OP_MOD ||
	    n->op == MLA_OP_SHR)
		return tags | MLA_TR_QUOTIENT;
	if (n->op != MLA_OP_ADD && n->op != MLA_OP_SUB)
		return tags;
	if (((n->kid[1]->kind == MLA_N_INT && constant(t, fr, n->kid[1], &one)) ||
	     (n->kid[0]->kind == MLA_N_INT && constant(t, fr, n->kid[0], &one))) &&
	    one == 1)
		return tags | MLA_TR_ONE;
	if ((a | b) & MLA_TR_COUNT && (a | b) & (MLA_TR_LENGTH | MLA_TR_MEMORY))
		return (tags & ~(uint32_t)MLA_TR_COUNT) | MLA_TR_STEP;
	return tags;
}

static uint32_t all_kids(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	uint32_t tags = 0;

	for (uint32_t i = 0; i < n->n; i++)
		if (n->kid[i])
			tags |= eval(t, fr, n->kid[i]);
	return tags;
}

static uint32_t evaluate(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	switch ((mla_kind)n->kind) {
	case MLA_N_NAME:
		return name_tags(t, fr, n);
	case MLA_N_ATTRIBUTE:
		return attribute_tags(t, fr, n);
	case MLA_N_SUBSCRIPT:
		return subscript_tags(t, fr, n);
	case MLA_N_CALL:
		return call_tags(t, fr, n);
	case MLA_N_BINARY:
		return binary_tags(t, fr, n);
	case MLA_N_CONDITION:
		return eval(t, fr, n->kid[1]) | eval(t, fr, n->kid[2]);
	case MLA_N_WALRUS:
		return eval(t, fr, mla_kid(n, 1));
	case MLA_N_TUPLE:
	case MLA_N_LIST:
	case MLA_N_UNARY:
	case MLA_N_AND:
	case MLA_N_OR:
	case MLA_N_AWAIT:
	case MLA_N_STAR:
	case MLA_N_LIST_COMP:
	case MLA_N_GENERATOR:
	case MLA_N_FOR_CLAUSE:
		return all_kids(t, fr, n);
	default: /* tests are no numbers of tokens */
		return 0;
	}
}

static uint32_t eval(mla_trace *t, const mla_trace_frame *fr, const mla_node *n)
{
	mla_pool_fact *f;
	uint32_t tags;
	bool known;

	if (!n || t->depth == MAX_DEPTH || t->steps == MAX_STEPS)
		return 0;
	f = mla_pool_memo_at(&t->values, fr, n, &known);
	if (known) {
		if (f->suffix) {
			t->suffix = f->suffix;
			t->suffix_frame = f->suffix_frame;
		}
		return f->tags;
	}
	t->depth++;
	t->steps++;
	tags = evaluate(t, fr, n);
	t->depth--;
	f = mla_pool_memo_at(&t->values, fr, n, &known); /* it may have moved */
	f->tags = tags;
	if (tags & MLA_TR_SUFFIX) {
		f->suffix = t->suffix;
		f->suffix_frame = t->suffix_frame;
	}
	return tags;
}

uint32_t mla_trace_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *expr)
{
	t->steps = t->depth = 0;
	t->suffix = NULL;
	return eval(t, fr, expr);
}

/* Expressions of the abstract execution. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

static mla_c_value kid_value(mla_c_flow *f, mla_c_frame *fr, const mla_node *n, uint32_t i)
{
	return mla_kid(n, i) ? mla_c_eval(f, fr, n->kid[i]) : (mla_c_value){0};
}

/* Reading rows of the latent by an index: chosen ones, or those of this step. */
static uint32_t indexed(mla_c_flow *f, const mla_node *at, uint32_t base, uint32_t index)
{
	if ((index & MLA_C_CHOSEN) && (base & (MLA_C_LATENT | MLA_C_EXPANDED)))
		mla_c_record(f, MLA_EV_GATHER, at);
	if ((index & MLA_C_NEW_INDEX) && (base & MLA_C_LATENT))
		base = (base & ~(uint32_t)MLA_C_LATENT) | MLA_C_NEW;
	return base;
}

static mla_c_value eval_name(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_cell *c = mla_c_cell(f, fr, n);
	mla_c_value v;

	if (!c)
		return (mla_c_value){0};
	v = c->value;
	if (v.cell && v.cell != c)
		v.tags |= v.cell->value.tags;
	return v;
}

/* A field has what was stored in it, else what its name says, else what its object is. What was
 * stored in links says nothing: there is one for all objects, and all are linked by it. */
static mla_c_value eval_member(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value object = kid_value(f, fr, n, 0), v;

	if (mla_c_is_link(n))
		return (mla_c_value){.tags = object.tags & MLA_C_TENSOR, .cell = object.cell};
	v = eval_name(f, fr, n);
	if (!v.tags && !mla_c_is_integer(n))
		v.tags = object.tags & MLA_C_TENSOR;
	if (!v.cell)
		v.cell = object.cell;
	return v;
}

static mla_c_value eval_integers(mla_c_flow *f, const mla_node *n, mla_c_value a, mla_c_value b)
{
	uint32_t tags = (a.tags | b.tags) & ~(uint32_t)MLA_C_COUNT;

	(void)f;
	if (n->op == MLA_OP_SUB && (a.tags & MLA_C_HEAD_K))
		tags = (tags & ~(uint32_t)(MLA_C_HEAD_K | MLA_C_ROPE)) | MLA_C_NOPE;
	if (n->op == MLA_OP_SUB && (a.tags & MLA_C_LENGTH) && (b.tags & MLA_C_COUNT))
		tags &= ~(uint32_t)MLA_C_NEW_INDEX;
	return (mla_c_value){.tags = tags};
}

/* `flags | (few ? ABSORB : 0)`, `flags & ABSORB`, and what is said of tests by both sides. */
static mla_c_value eval_bits(mla_c_flow *f, const mla_node *n, mla_c_value a, mla_c_value b)
{
	mla_c_value v = {.tags = a.tags | b.tags};
	bool all = n->op == MLA_OP_BITAND;
	int64_t mask = 0;

	v.truth = mla_c_doubt(f, mla_c_join(f, a.truth, b.truth), !all, all);
	if (all && a.choice.n && mla_c_literal(&mask, mla_kid(n, 1)))
		v.truth = mla_c_join(f, mla_c_chosen(f, a.choice, mask, true), v.truth);
	if (!all && (a.choice.n || b.choice.n))
		v.choice = mla_c_either(f, mla_c_choices_of(f, a, mla_kid(n, 0)),
		                        mla_c_choices_of(f, b, mla_kid(n, 1)));
	return v;
}

static mla_c_value eval_binary(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value a = kid_value(f, fr, n, 0), b = kid_value(f, fr, n, 1);
	bool pointers = n->op == MLA_OP_ADD || n->op == MLA_OP_SUB;

	if (n->op == MLA_OP_COMMA)
		return b;
	if (n->op == MLA_OP_MUL && (a.tags & MLA_C_TENSOR) && (b.tags & MLA_C_TENSOR))
		return (mla_c_value){.tags = mla_c_product(f, n, a.tags, b.tags)};
	if (pointers && !mla_c_is_integer(n) &&
	    (mla_c_is_integer(mla_kid(n, 1)) || mla_c_is_integer(mla_kid(n, 0)))) {
		bool left = mla_c_is_integer(mla_kid(n, 1));
		mla_c_value p = left ? a : b;

		p.tags = indexed(f, n, p.tags, left ? b.tags : a.tags);
		return p;
	}
	if (n->op == MLA_OP_BITAND || n->op == MLA_OP_BITOR) {
		return eval_bits(f, n, a, b);
	}
	if (mla_c_is_integer(n) || !((a.tags | b.tags) & MLA_C_TENSOR))
		return eval_integers(f, n, a, b);
	return (mla_c_value){.tags = a.tags | b.tags};
}

static mla_c_value eval_aug(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value a = kid_value(f, fr, n, 0), b = kid_value(f, fr, n, 1);

	if (n->op == MLA_OP_MUL && (a.tags & MLA_C_TENSOR) && (b.tags & MLA_C_TENSOR))
		b.tags = mla_c_product(f, n, a.tags, b.tags);
	b.cell = NULL;
	b.choice.n = 0;
	if (n->op == MLA_OP_BITOR)
		b.choice = mla_c_under(f, mla_c_choices_of(f, b, mla_kid(n, 1)), fr->guards);
	/* Walking a pointer forward leaves what it points to. */
	if (!(n->kid[0]->c && n->kid[0]->c->pointer))
		mla_c_store(f, fr, n->kid[0], b, true);
	return b;
}

static mla_c_value eval_condition(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value test = kid_value(f, fr, n, 0), a, b;
	mla_c_truths truth = test.truth;
	uint32_t mark;

	fr->pruned |= test.known;
	if (test.known)
		return kid_value(f, fr, n, test.constant ? 1 : 2);
	mark = mla_c_push(f, truth, true);
	a = kid_value(f, fr, n, 1);
	a.choice = mla_c_under(f, mla_c_choices_of(f, a, mla_kid(n, 1)), mark);
	mla_c_pop(f, mark);
	mla_c_push(f, truth, false);
	b = kid_value(f, fr, n, 2);
	b.choice = mla_c_under(f, mla_c_choices_of(f, b, mla_kid(n, 2)), mark);
	mla_c_pop(f, mark);
	a.choice = mla_c_either(f, a.choice, b.choice);
	a.tags |= b.tags;
	a.truth = mla_c_doubt(f, mla_c_join(f, a.truth, b.truth), true, true);
	if (!a.cell)
		a.cell = b.cell;
	return a;
}

static mla_c_value eval_not(mla_c_flow *f, mla_c_value v)
{
	return (mla_c_value){
		.truth = mla_c_negate(f, v.truth), .known = v.known, .constant = !v.constant};
}

/* `test && cached >= 1024` */
static void note_length(mla_c_flow *f, const mla_c_frame *fr, mla_c_truths truth,
                        const mla_node *length)
{
	for (uint32_t i = 0; length && i < truth.n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < f->lengths.n && !known; k++)
			known = f->lengths.v[k].test == truth.v[i].test &&
			        f->lengths.v[k].length.node == length;
		if (!known)
			mla_vec_push(&f->lengths,
			             ((mla_c_length_of){truth.v[i].test, {fr->module, length}}));
	}
}

/* `&&`, `||`: what comes second is done under what came first. */
static mla_c_value eval_logic(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value a = kid_value(f, fr, n, 0);
	uint32_t mark = mla_c_push(f, a.truth, n->kind == MLA_N_AND);
	mla_c_value b = kid_value(f, fr, n, 1);

	mla_c_pop(f, mark);
	if (n->kind == MLA_N_AND) {
		note_length(f, fr, a.truth, b.length_test);
		note_length(f, fr, b.truth, a.length_test);
	}
	return (mla_c_value){.truth = mla_c_doubt(f, mla_c_join(f, a.truth, b.truth),
	                                          n->kind == MLA_N_OR, n->kind == MLA_N_AND),
	                     .length_test = a.length_test ? a.length_test : b.length_test};
}

static mla_c_value eval_others(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value v = {0};

	for (uint32_t i = 0; i < n->n; i++) {
		mla_c_value k = kid_value(f, fr, n, i);

		v.tags |= k.tags;
		v.truth = mla_c_doubt(f, mla_c_join(f, v.truth, k.truth), true, true);
	}
	return v;
}

static mla_c_value eval_one(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value v;

	switch ((mla_kind)n->kind) {
	case MLA_N_NAME:
		return eval_name(f, fr, n);
	case MLA_N_ATTRIBUTE:
		return eval_member(f, fr, n);
	case MLA_N_SUBSCRIPT: {
		mla_c_value base = kid_value(f, fr, n, 0), index = kid_value(f, fr, n, 1);

		base.tags = indexed(f, n, base.tags, index.tags);
		base.truth.n = 0;
		base.choice.n = 0;
		return base;
	}
	case MLA_N_CALL:
		return mla_c_call(f, fr, n);
	case MLA_N_COMPARE:
		return mla_c_compare(f, fr, n);
	case MLA_N_AND:
	case MLA_N_OR:
		return eval_logic(f, fr, n);
	case MLA_N_NOT:
		return eval_not(f, kid_value(f, fr, n, 0));
	case MLA_N_UNARY:
		v = kid_value(f, fr, n, 0);
		if (n->op != MLA_OP_ADDRESS && n->op != MLA_OP_DEREF) {
			v.truth.n = 0;
			v.choice.n = 0;
		}
		return v;
	case MLA_N_BINARY:
		return eval_binary(f, fr, n);
	case MLA_N_AUG_ASSIGN:
		return eval_aug(f, fr, n);
	case MLA_N_ASSIGN:
		mla_c_exec(f, fr, n);
		return kid_value(f, fr, n, 0);
	case MLA_N_CONDITION:
		return eval_condition(f, fr, n);
	case MLA_N_CAST:
		return kid_value(f, fr, n, 0);
	case MLA_N_LAMBDA:
		return (mla_c_value){.lambda = n};
	case MLA_N_BRACES:
	case MLA_N_OTHER:
		return eval_others(f, fr, n);
	case MLA_N_INT:
	case MLA_N_FLOAT:
	case MLA_N_STRING:
	case MLA_N_TRUE:
	case MLA_N_FALSE:
	case MLA_N_NONE:
		return (mla_c_value){0};
	default:
		/* What is no statement either is not handed back and forth. */
		if (mla_c_is_statement(n))
			mla_c_exec(f, fr, n);
		return (mla_c_value){0};
	}
}

mla_c_value mla_c_eval(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	mla_c_value v;

	if (!mla_c_step(f, fr, n))
		return (mla_c_value){0};
	f->nesting++;
	v = eval_one(f, fr, n);
	v.known &= n->kind == MLA_N_NAME || n->kind == MLA_N_CAST || n->kind == MLA_N_NOT ||
	           n->kind == MLA_N_COMPARE;
	if (n->c && n->c->size)
		v.tags &= ~(uint32_t)MLA_C_TENSOR | MLA_C_CHOSEN;
	f->nesting--;
	return v;
}

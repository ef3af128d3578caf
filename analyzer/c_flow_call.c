/* Calls and products of the abstract execution. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

/* A weight times something: the something decides what it is. */
static uint32_t through_weight(mla_c_flow *f, const mla_node *at, uint32_t weight, uint32_t other)
{
	if (other & MLA_C_ATTENDED) {
		mla_c_record(f, MLA_EV_FOLLOWUP, at);
		return 0;
	}
	if (other & MLA_C_LATENT) {
		mla_c_record(f, MLA_EV_EXPAND, at);
		return MLA_C_EXPANDED;
	}
	if (other & MLA_C_NEW) {
		mla_c_record(f, MLA_EV_EXPAND_NEW, at);
		return MLA_C_EXPANDED;
	}
	if ((other & MLA_C_QUERY) && !(other & MLA_C_FOLDED)) {
		mla_c_record(f, MLA_EV_FOLD, at);
		return MLA_C_FOLDED;
	}
	return weight & MLA_C_WEIGHT;
}

/* What is made of a weight and of something that runs through the model is no weight. */
static uint32_t together(uint32_t a, uint32_t b)
{
	const uint32_t runs = MLA_C_QUERY | MLA_C_FOLDED | MLA_C_LATENT | MLA_C_NEW |
	                      MLA_C_EXPANDED | MLA_C_SCORES | MLA_C_ATTENDED;
	uint32_t tags = a | b;

	return tags & runs ? tags & ~(uint32_t)MLA_C_WEIGHT : tags;
}

uint32_t mla_c_product(mla_c_flow *f, const mla_node *at, uint32_t a, uint32_t b)
{
	const uint32_t rows = MLA_C_LATENT | MLA_C_NEW;

	if ((a & MLA_C_WEIGHT) && !(b & MLA_C_WEIGHT))
		return through_weight(f, at, a, b);
	if ((b & MLA_C_WEIGHT) && !(a & MLA_C_WEIGHT))
		return through_weight(f, at, b, a);
	if (b & (MLA_C_SCORES | MLA_C_QUERY | MLA_C_FOLDED)) {
		uint32_t t = a;

		a = b;
		b = t;
	}
	if ((a & MLA_C_SCORES) && (b & (rows | MLA_C_EXPANDED))) {
		mla_c_record(f, MLA_EV_ATTEND, at);
		return b & rows ? MLA_C_ATTENDED : 0;
	}
	if ((a & (MLA_C_FOLDED | MLA_C_QUERY)) && (b & (rows | MLA_C_EXPANDED | MLA_C_ROTARY)))
		return MLA_C_SCORES;
	return (a | b) & MLA_C_TENSOR;
}

enum { ARGUMENTS_MAX = 24 };
typedef struct {
	mla_c_value v[ARGUMENTS_MAX];
	const mla_node *node[ARGUMENTS_MAX];
	uint32_t n;
} arguments;

static uint32_t tensor_tags(const arguments *a, uint32_t i)
{
	return mla_c_is_integer(a->node[i]) ? 0 : a->v[i].tags & MLA_C_TENSOR;
}

static uint32_t all_tags(const arguments *a)
{
	uint32_t tags = 0;

	for (uint32_t i = 0; i < a->n; i++)
		tags = together(tags, tensor_tags(a, i));
	return tags;
}

/* What a call makes whose result is not used goes to its first pointer. */
static void give(const mla_node *call, const arguments *a, uint32_t tags)
{
	const mla_node *p = call->parent;
	bool unused =
		p && (p->kind == MLA_N_BLOCK || p->kind == MLA_N_LABEL || p->kind == MLA_N_TARGET ||
	              ((p->kind == MLA_N_IF || p->kind == MLA_N_WHILE) && call->index) ||
	              (p->kind == MLA_N_LOOP && call->index == 3) ||
	              (p->kind == MLA_N_FOR && call->index == 2));

	if (unused && a->n && a->v[0].cell && !(a->v[0].tags & MLA_C_WEIGHT))
		mla_c_add_tags(a->v[0].cell, tags);
}

static uint32_t known_product(mla_c_flow *f, const mla_node *at, const arguments *a)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t tags = tensor_tags(a, i);

		if (tags && first)
			return mla_c_product(f, at, first, tags);
		if (tags)
			first = tags;
	}
	return first & ~(uint32_t)MLA_C_WEIGHT;
}

static uint32_t known_attention(mla_c_flow *f, const mla_node *at, const arguments *a)
{
	uint32_t tags = all_tags(a);

	mla_c_record(f, MLA_EV_ATTEND, at);
	if ((tags & MLA_C_FOLDED) || ((tags & MLA_C_LATENT) && !(tags & MLA_C_EXPANDED)))
		return MLA_C_ATTENDED;
	return 0;
}

/* What the name of a function says that it may do. */
static mla_c_value by_name(mla_c_flow *f, const mla_node *n, const arguments *a)
{
	uint32_t tags = all_tags(a);
	mla_c_value v = {0};

	switch (mla_name_function(n->name)) {
	case MLA_C_PRODUCT:
		tags = known_product(f, n, a);
		give(n, a, tags);
		break;
	case MLA_C_ATTEND:
		tags = known_attention(f, n, a);
		give(n, a, tags);
		break;
	case MLA_C_FOLD:
		mla_c_record(f, MLA_EV_FOLD, n);
		tags = MLA_C_FOLDED;
		break;
	case MLA_C_EXPAND:
		mla_c_record(f, MLA_EV_EXPAND, n);
		tags = MLA_C_EXPANDED;
		break;
	case MLA_C_FOLLOWUP:
		mla_c_record(f, MLA_EV_FOLLOWUP, n);
		tags = 0;
		break;
	case MLA_C_GATHER:
		if (tags & MLA_C_CHOSEN)
			mla_c_record(f, MLA_EV_GATHER, n);
		tags &= ~(uint32_t)MLA_C_CHOSEN;
		break;
	case MLA_C_TOP_K:
		tags = MLA_C_CHOSEN;
		break;
	case MLA_C_LAYOUT:
		mla_c_record(f, MLA_EV_LAYOUT, n);
		break;
	case MLA_C_ALLOCATE:
		tags = 0;
		break;
	case MLA_C_PASS:
		if (mla_str_mentions(n->name, "cpy") || mla_str_mentions(n->name, "memmove") ||
		    mla_str_mentions(n->name, "copy"))
			give(n, a, tags);
		for (uint32_t i = 0; i < a->n && !v.cell; i++)
			v.cell = a->v[i].cell;
		break;
	}
	if (mla_c_is_integer(n)) {
		if (a->n && mla_name_passes_condition(n->name))
			v.truth = a->v[0].truth;
		tags = 0;
		for (uint32_t i = 0; i < a->n; i++)
			tags |= a->v[i].tags & ~(uint32_t)(MLA_C_TENSOR | MLA_C_COUNT);
	}
	v.tags = tags;
	return v;
}

static bool running(const mla_c_frame *fr, const mla_node *function)
{
	for (; fr; fr = fr->caller)
		if (fr->function == function)
			return true;
	return false;
}

/* A field or a global: one for all objects, so no result may be taken for it. */
static bool is_shared(const mla_c_flow *f, const mla_cell *cell)
{
	for (uint32_t i = 0; cell && i < f->globals.n; i++)
		if (f->globals.v[i] == cell)
			return true;
	return false;
}

/* A function of the scan is executed. Where that shows nothing, its name says what it does. */
static mla_c_value enter(mla_c_flow *f, mla_c_frame *fr, const mla_node *n, mla_c_entry *entry,
                         const arguments *a, uint32_t first)
{
	bool whole = mla_c_has_room(f);
	uint64_t before = f->records;
	mla_c_value v;

	entry->busy = true;
	v = mla_c_call_function(f, fr, entry->node, entry->module, a->v + first, a->n - first);
	entry->busy = false;
	entry->entered |= whole && !f->pruned;
	if (f->records == before && mla_name_function(n->name) != MLA_C_PASS)
		return by_name(f, n, a);
	if (is_shared(f, v.cell))
		v.cell = NULL;
	return v;
}

static bool has_function(mla_c_choices choices)
{
	for (uint32_t i = 0; i < choices.n; i++)
		if (choices.v[i].entry)
			return true;
	return false;
}

/* A call through a pointer: each function that it may point to, under the tests that chose it. */
static mla_c_value enter_chosen(mla_c_flow *f, mla_c_frame *fr, const mla_node *n,
                                mla_c_choices choices, const arguments *a, uint32_t first)
{
	mla_c_value all = {0};

	for (uint32_t i = 0; i < choices.n; i++) {
		mla_c_entry *entry = choices.v[i].entry;
		uint32_t mark = f->guards.n;
		mla_c_value v;

		if (!entry || entry->busy)
			continue;
		mla_c_push(f, mla_c_chosen_at(f, choices, i), true);
		v = enter(f, fr, n, entry, a, first);
		mla_c_pop(f, mark);
		all.tags |= v.tags;
		all.truth = mla_c_join(f, all.truth, v.truth);
		if (!all.cell)
			all.cell = v.cell;
	}
	return all;
}

/* What makes a tensor out of tensors: other pointers, to a context or to sizes, are no tensors. */
static void keep_tensors(const mla_node *call, arguments *a)
{
	uint64_t made = mla_c_pointee(call);
	bool among = false;

	for (uint32_t i = 0; i < a->n; i++)
		among |= made && mla_c_pointee(a->node[i]) == made;
	for (uint32_t i = 0; among && i < a->n; i++) {
		const mla_c_info *c = a->node[i]->c;

		if (c && (c->pointer || c->array) && mla_c_pointee(a->node[i]) != made)
			a->v[i] = (mla_c_value){0};
	}
}

mla_c_value mla_c_call(mla_c_flow *f, mla_c_frame *fr, const mla_node *n)
{
	const mla_node *callee = mla_kid(n, 0);
	arguments a = {0};
	mla_c_entry *entry;
	mla_c_value v;
	uint32_t first = 0;

	v = (mla_c_value){0};
	if (callee && callee->kind == MLA_N_LAMBDA)
		v.lambda = callee;
	else if (callee && callee->kind == MLA_N_NAME && mla_decl_of(callee) != MLA_DECL_FUNCTION &&
	         callee->c)
		v = mla_c_eval(f, fr, callee);
	else if (callee && callee->kind == MLA_N_ATTRIBUTE && mla_kid(callee, 0)) {
		/* The object of a method comes first where only its name is known. */
		a.v[0] = mla_c_eval(f, fr, callee->kid[0]);
		a.node[0] = callee->kid[0];
		a.n = first = 1;
		if (mla_decl_of(callee) == MLA_DECL_FIELD)
			v.choice = mla_c_eval(f, fr, callee).choice;
	} else if (callee && (callee->kind == MLA_N_CONDITION || callee->kind == MLA_N_UNARY)) {
		v.choice = mla_c_eval(f, fr, callee).choice;
	}
	for (uint32_t i = 1; i < n->n && a.n < ARGUMENTS_MAX; i++) {
		if (!n->kid[i])
			continue;
		a.v[a.n] = mla_c_eval(f, fr, n->kid[i]);
		a.v[a.n].choice = mla_c_choices_of(f, a.v[a.n], n->kid[i]);
		a.node[a.n++] = n->kid[i];
	}
	if (v.lambda && !running(fr, v.lambda))
		return mla_c_call_function(f, fr, v.lambda, fr->module, a.v + first, a.n - first);
	if (has_function(v.choice))
		return enter_chosen(f, fr, n, v.choice, &a, first);
	entry = mla_c_find(f, n->c ? n->c->id : 0, n->name);
	keep_tensors(n, &a);
	if (!entry || entry->busy || mla_c_makes_node(f, n, entry))
		return by_name(f, n, &a);
	return enter(f, fr, n, entry, &a, first);
}

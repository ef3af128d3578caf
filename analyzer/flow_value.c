/* Abstract values: making and joining them. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

mla_value *mla_value_new(mla_flow *f, mla_value_kind kind, uint32_t tags)
{
	mla_value *v = mla_arena_alloc(f->arena, sizeof(*v));

	v->kind = (uint8_t)kind;
	v->tags = tags;
	return v;
}

const mla_value *mla_value_any(mla_flow *f, uint32_t tags)
{
	return mla_value_new(f, MLA_V_ANY, tags);
}

const mla_value *mla_value_tuple(mla_flow *f, const mla_value *const *v, uint32_t n)
{
	mla_value *t = mla_value_new(f, MLA_V_TUPLE, 0);
	const mla_value **copy = mla_arena_array(f->arena, n, sizeof(*copy));

	for (uint32_t i = 0; i < n; i++)
		copy[i] = v[i];
	t->element = copy;
	t->n = n;
	return t;
}

uint32_t mla_value_tags(const mla_value *v)
{
	uint32_t tags = v->tags;

	/* One level: tuples of tuples of tensors do not occur where it matters. */
	for (uint32_t i = 0; v->kind == MLA_V_TUPLE && i < v->n; i++)
		tags |= v->element[i]->tags;
	return tags;
}

bool mla_value_latent(const mla_value *v)
{
	return (mla_value_tags(v) &
	        (MLA_TAG_CACHED | MLA_TAG_EXPANDED | MLA_TAG_FOLDED | MLA_TAG_ATTENDED)) != 0;
}

static const mla_value *join_truth(mla_flow *f, const mla_value *a, const mla_value *b)
{
	return mla_flow_both(f, a, b);
}

const mla_value *mla_value_function(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	mla_value *v = mla_value_new(f, MLA_V_FUNCTION, 0);

	v->function = n;
	v->module = fr->module;
	v->closure = fr->env;
	return v;
}

static const mla_value *join_tuple(mla_flow *f, const mla_value *a, const mla_value *b)
{
	mla_value *t = mla_value_new(f, MLA_V_TUPLE, a->tags | b->tags);
	const mla_value **v = mla_arena_array(f->arena, a->n, sizeof(*v));

	for (uint32_t i = 0; i < a->n; i++)
		v[i] = a->element[i] == b->element[i]
		               ? a->element[i]
		               : mla_value_join(f, a->element[i], b->element[i]);
	t->element = v;
	t->n = a->n;
	return t;
}

/* What another branch may leave does not take from what this one means. */
static bool stays(const mla_value *v)
{
	return v->kind == MLA_V_TRUTH || v->kind == MLA_V_CHOICE || v->kind == MLA_V_UP ||
	       v->kind == MLA_V_FUNCTION;
}

const mla_value *mla_value_join(mla_flow *f, const mla_value *a, const mla_value *b)
{
	mla_value *v;

	if (!a || !b || a == b)
		return a ? a : b;
	if (a->kind == MLA_V_NONE)
		return b;
	if (b->kind == MLA_V_NONE)
		return a;
	if (a->kind == MLA_V_TRUTH && b->kind == MLA_V_TRUTH)
		return join_truth(f, a, b);
	if (a->kind == MLA_V_TUPLE && b->kind == MLA_V_TUPLE && a->n == b->n)
		return join_tuple(f, a, b);
	if (stays(a) || stays(b))
		return stays(a) ? a : b;
	if (mla_value_same_constant(a, b))
		return a;
	v = mla_value_new(f,
	                  a->kind == b->kind && a->kind != MLA_V_TUPLE && a->kind != MLA_V_CONSTANT
	                          ? a->kind
	                          : MLA_V_ANY,
	                  mla_value_tags(a) | mla_value_tags(b));
	v->rank = a->rank == b->rank ? a->rank : 0;
	v->heads_last = a->heads_last && b->heads_last;
	v->given = a->given || b->given;
	/* A count that another branch replaced is a count no more. */
	if ((a->tags & b->tags & MLA_TAG_COUNT) == 0 || a->number != b->number)
		v->tags &= ~(uint32_t)MLA_TAG_COUNT;
	if (a->kind == MLA_V_INT && b->kind == MLA_V_INT && a->number_known && b->number_known &&
	    a->number == b->number) {
		v->number_known = true;
		v->number = a->number;
	}
	return v;
}

/*
 * Size of one axis of a shape: the query count on axis 1 of [B, L, D], [B, L] and [B, L, H, D], on
 * axis 2 of [B, H, L, D], or -2 of what is not known better. `rank` 0 means the shape's own.
 */
const mla_value *mla_value_axis(mla_flow *f, const mla_value *shape, int axis, uint32_t rank)
{
	const uint32_t other = MLA_TAG_CACHED | MLA_TAG_SCORES | MLA_TAG_MASK | MLA_TAG_CACHE;
	mla_value *v = mla_value_new(f, MLA_V_INT, 0);
	uint32_t dims = rank ? rank : shape->rank;
	int query = dims == 4 && !shape->heads_last ? 2 : 1;

	/* Indices that were chosen for every query: [B, L, K], or with heads before L. */
	if ((shape->tags & MLA_TAG_CHOSEN) && !dims && (axis == 2 || axis == -2)) {
		v->tags = MLA_TAG_COUNT;
		return v;
	}
	if (axis < 0 && dims)
		axis += (int)dims;
	if ((shape->tags & MLA_TAG_INPUT) && !(shape->tags & other) &&
	    (axis == query || (axis == -2 && !dims)))
		v->tags = MLA_TAG_COUNT;
	else if (shape->tags & (MLA_TAG_CACHED | MLA_TAG_CACHE))
		v->tags = MLA_TAG_LENGTH;
	else
		v->tags = shape->tags & MLA_TAG_MADE_OF;
	return v;
}

/* What applying a projection, multiplying, attending, caching and indexing do to roles. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

static bool is_cached(const mla_value *v)
{
	return (mla_value_tags(v) & MLA_TAG_CACHED) != 0;
}

const mla_value *mla_flow_apply(mla_flow *f, mla_frame *fr, const mla_node *at, const mla_value *up,
                                const mla_value *operand, const mla_node *operand_node,
                                bool module_call, bool transposed)
{
	uint32_t tags = mla_value_tags(operand);
	mla_value *out;

	if (tags & (MLA_TAG_ATTENDED | MLA_TAG_PROBS)) {
		mla_flow_record(f, MLA_EV_FOLLOWUP, at);
		out = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT | MLA_TAG_ATTENDED);
	} else if ((tags & MLA_TAG_CACHED) || !transposed || up->role == MLA_UP_VALUE ||
	           (up->role == MLA_UP_BOTH && module_call)) {
		bool all = (tags & MLA_TAG_CACHED) != 0;

		mla_flow_record(f, all ? MLA_EV_EXPAND : MLA_EV_EXPAND_NEW, at);
		if (all && !f->cached) {
			f->cached = operand_node;
			f->cached_in = fr->function;
		}
		out = mla_value_new(f, MLA_V_ANY,
		                    MLA_TAG_EXPANDED | (tags & (MLA_TAG_INPUT | MLA_TAG_CACHED)));
	} else {
		mla_flow_record(f, MLA_EV_FOLD, at);
		out = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT | MLA_TAG_FOLDED);
	}
	out->rank = operand->rank;
	out->heads_last = operand->heads_last;
	return out;
}

const mla_value *mla_flow_product(mla_flow *f, mla_frame *fr, const mla_node *at,
                                  const mla_value *a, const mla_value *b, const mla_node *an,
                                  const mla_node *bn)
{
	const uint32_t keys = MLA_TAG_CACHED | MLA_TAG_EXPANDED;
	uint32_t x = mla_value_tags(a), y = mla_value_tags(b);
	mla_value *v;

	if (b->kind == MLA_V_UP)
		return mla_flow_apply(f, fr, at, b, a, an, false, true);
	if (a->kind == MLA_V_UP)
		return mla_flow_apply(f, fr, at, a, b, bn, false, true);
	if ((x | y) & MLA_TAG_PROBS || ((x & MLA_TAG_SCORES) && (y & keys))) {
		mla_flow_record(f, MLA_EV_ATTEND, at);
		v = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT | MLA_TAG_ATTENDED);
	} else if ((x & MLA_TAG_INPUT) && (y & MLA_TAG_INPUT)) {
		v = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT | MLA_TAG_SCORES);
	} else {
		v = mla_value_new(f, MLA_V_ANY, x | y);
	}
	v->rank = a->rank > b->rank ? a->rank : b->rank;
	v->heads_last = a->heads_last;
	return v;
}

static bool is_masked(const mla_arguments *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		bool mask = mla_str_mentions(a->keyword[i], "mask") ||
		            mla_str_mentions(a->keyword[i], "causal") ||
		            mla_str_mentions(a->keyword[i], "bias") ||
		            (mla_value_tags(a->v[i]) & (MLA_TAG_MASK | MLA_TAG_SCORES));

		if (mask && a->v[i]->kind != MLA_V_NONE)
			return true;
	}
	return false;
}

const mla_value *mla_flow_attend(mla_flow *f, const mla_node *at, const mla_arguments *a,
                                 bool kernel)
{
	mla_value *v = mla_value_new(f, MLA_V_ANY, MLA_TAG_INPUT | MLA_TAG_ATTENDED);

	for (uint32_t i = 0; i < a->n; i++)
		mla_flow_other_use(a->v[i], at);
	mla_flow_record(f, MLA_EV_ATTEND, at);
	if (kernel)
		mla_flow_record(f, MLA_EV_KERNEL, at);
	if (is_masked(a))
		mla_flow_record(f, MLA_EV_MASK, at);
	v->rank = 4;
	return v;
}

const mla_value *mla_flow_cache_update(mla_flow *f, const mla_node *at, const mla_arguments *a)
{
	const mla_value *stored[MLA_ARGUMENTS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t tags = mla_value_tags(a->v[i]);
		mla_value *v;

		if (!(tags & MLA_TAG_INPUT) || (tags & MLA_TAG_CACHE))
			continue;
		if (tags & MLA_TAG_EXPANDED)
			mla_flow_record(f, MLA_EV_CACHE_EXPANDED, at);
		v = mla_value_new(f, MLA_V_ANY, tags | MLA_TAG_CACHED);
		v->rank = a->v[i]->rank;
		v->heads_last = a->v[i]->heads_last;
		stored[n++] = v;
	}
	if (n == 0)
		return mla_value_any(f, 0);
	f->cache_updated = true;
	return n == 1 ? stored[0] : mla_value_tuple(f, stored, n);
}

/* shape[1], shape[-2], shape[:2] */
static const mla_value *shape_part(mla_flow *f, const mla_value *shape, const mla_node *index,
                                   const mla_value *i)
{
	if (i->kind == MLA_V_INT && i->number_known && i->number > -8 && i->number < 8)
		return mla_value_axis(f, shape, (int)i->number, 0);
	if (index->kind == MLA_N_SLICE && !index->kid[0] && index->kid[1] &&
	    mla_str_is(index->kid[1]->name, "2")) {
		const mla_value *v[2] = {mla_value_axis(f, shape, 0, 0),
		                         mla_value_axis(f, shape, 1, 0)};

		return mla_value_tuple(f, v, 2);
	}
	return mla_value_any(f, 0);
}

static int query_axis(const mla_value *v)
{
	if (v->tags & MLA_TAG_CHOSEN) /* indices are [B, H, L, K] or [B, L, K] */
		return v->rank == 3 ? 1 : 2;
	if (v->tags & (MLA_TAG_SCORES | MLA_TAG_PROBS))
		return 2; /* [B, H, L, T] */
	return v->rank == 4 && !v->heads_last ? 2 : v->rank ? 1 : -1;
}

/* x[:, :1], x[..., -1:, :]: a part of the query axis with constant ends */
static bool is_part(mla_flow *f, mla_frame *fr, const mla_node *index)
{
	bool part = false;

	if (index->kind != MLA_N_SLICE)
		return false;
	for (uint32_t i = 0; i < 2; i++)
		if (index->kid[i]) {
			const mla_value *v = mla_flow_eval(f, fr, index->kid[i]);

			if (v->kind != MLA_V_INT || !v->number_known)
				return false;
			part |= v->number != 0;
		}
	return part;
}

/* Does the index at `i` of subscript `n` stand on the query axis of what is indexed? */
static bool on_query_axis(const mla_node *n, uint32_t i, uint32_t position, bool ellipsis,
                          const mla_value *object)
{
	uint32_t behind = 0;

	if (!ellipsis)
		return (int)position == query_axis(object);
	for (uint32_t k = i + 1; k < n->n; k++)
		behind += n->kid[k]->kind != MLA_N_NONE;
	/* Queries are the last axis but one of [B, H, L, D], [B, L, D] and scores. */
	return behind == 1 && !object->heads_last;
}

const mla_value *mla_flow_subscript(mla_flow *f, mla_frame *fr, const mla_node *n)
{
	const mla_value *object = mla_flow_eval(f, fr, n->kid[0]);
	uint32_t dropped = 0, added = 0, position = 0;
	bool chosen = false, ellipsis = false, row = false;
	const mla_value *chosen_one;
	mla_value *v;

	for (uint32_t i = 1; i < n->n; i++) {
		const mla_node *index = n->kid[i];
		const mla_value *k = mla_flow_eval(f, fr, index);

		if (object->kind == MLA_V_SHAPE)
			return shape_part(f, object, index, k);
		if (object->kind == MLA_V_TUPLE && k->kind == MLA_V_INT && k->number_known) {
			int64_t at = k->number < 0 ? k->number + object->n : k->number;

			if (at >= 0 && at < object->n)
				return object->element[at];
		}
		if (object->kind == MLA_V_TUPLE && object->n == 2 && k->kind == MLA_V_TRUTH &&
		    (chosen_one = mla_flow_choose(f, k, object->element[1], object->element[0])))
			return chosen_one;
		mla_flow_other_use(k, index);
		ellipsis |= index->kind == MLA_N_ELLIPSIS;
		chosen |= (mla_value_tags(k) & MLA_TAG_CHOSEN) != 0;
		added += index->kind == MLA_N_NONE;
		if ((k->kind == MLA_V_INT && k->number_known) || is_part(f, fr, index))
			row |= on_query_axis(n, i, position, ellipsis, object);
		dropped += k->kind == MLA_V_INT && k->number_known;
		position += index->kind != MLA_N_NONE;
	}
	mla_flow_array_use(f, object, n);
	if (object->kind == MLA_V_UP)
		return object;
	if (chosen && is_cached(object))
		mla_flow_gather(f, n);
	if (row && (object->tags & (MLA_TAG_INPUT | MLA_TAG_CHOSEN | MLA_TAG_MASK)) &&
	    (!(object->tags & MLA_TAG_CACHED) || (object->tags & MLA_TAG_SCORES)))
		mla_flow_record(f, MLA_EV_ONE_ROW, n);
	v = mla_value_new(f, MLA_V_ANY, mla_value_tags(object));
	if (object->tags &
	    MLA_TAG_CACHE) /* a part of the past: a cache of several, or its tensors */
		v->tags |= MLA_TAG_CACHE;
	if (object->rank && object->rank + added >= dropped)
		v->rank = (uint8_t)(object->rank + added - dropped);
	v->heads_last = object->heads_last && !added && !dropped;
	return v;
}

/* Array operations known by name, in MLX, PyTorch and NumPy spelling, as functions or methods. */
#include "analyzer/flow.h"

#include "analyzer/str.h"

typedef enum {
	OP_SAME,  /* keeps tags and rank of its first argument */
	OP_UNION, /* element by element: all tags */
	OP_SIZE,  /* x.size(), x.size(1) */
	OP_RESHAPE,
	OP_SWAP, /* transposes axes */
	OP_ADD_AXIS,
	OP_DROP_AXIS,
	OP_CONCAT,
	OP_WHERE,
	OP_SOFTMAX,
	OP_PRODUCT,
	OP_EINSUM,
	OP_GATHER,
	OP_SCATTER,
	OP_CHOOSE,
	OP_FRESH, /* depends on no data */
	OP_ATTEND,
} operation;

static const struct {
	const char *name;
	operation op;
} table[] = {
	{"size", OP_SIZE},
	{"reshape", OP_RESHAPE},
	{"view", OP_RESHAPE},
	{"transpose", OP_SWAP},
	{"permute", OP_SWAP},
	{"swapaxes", OP_SWAP},
	{"moveaxis", OP_SWAP},
	{"expand_dims", OP_ADD_AXIS},
	{"unsqueeze", OP_ADD_AXIS},
	{"squeeze", OP_DROP_AXIS},
	{"concatenate", OP_CONCAT},
	{"concat", OP_CONCAT},
	{"cat", OP_CONCAT},
	{"stack", OP_CONCAT},
	{"where", OP_WHERE},
	{"masked_fill", OP_WHERE},
	{"masked_fill_", OP_WHERE},
	{"softmax", OP_SOFTMAX},
	{"matmul", OP_PRODUCT},
	{"bmm", OP_PRODUCT},
	{"mm", OP_PRODUCT},
	{"linear", OP_PRODUCT},
	{"quantized_matmul", OP_PRODUCT},
	{"einsum", OP_EINSUM},
	{"take_along_axis", OP_GATHER},
	{"take_along_dim", OP_GATHER},
	{"gather", OP_GATHER},
	{"take", OP_GATHER},
	{"index_select", OP_GATHER},
	{"put_along_axis", OP_SCATTER},
	{"scatter", OP_SCATTER},
	{"scatter_", OP_SCATTER},
	{"argpartition", OP_CHOOSE},
	{"argsort", OP_CHOOSE},
	{"argmax", OP_CHOOSE},
	{"topk", OP_CHOOSE},
	{"zeros", OP_FRESH},
	{"ones", OP_FRESH},
	{"full", OP_FRESH},
	{"arange", OP_FRESH},
	{"array", OP_FRESH},
	{"tensor", OP_FRESH},
	{"finfo", OP_FRESH},
	{"zeros_like", OP_FRESH},
	{"scaled_dot_product_attention", OP_ATTEND},
	{"split", OP_SAME},
	{"chunk", OP_SAME},
	{"tensor_split", OP_SAME},
	{"contiguous", OP_SAME},
	{"astype", OP_SAME},
	{"to", OP_SAME},
	{"float", OP_SAME},
	{"type_as", OP_SAME},
	{"rms_norm", OP_SAME},
	{"layer_norm", OP_SAME},
	{"rope", OP_SAME},
	{"broadcast_to", OP_SAME},
	{"expand", OP_SAME},
	{"dequantize", OP_UNION},
	{"depends", OP_UNION},
	{"multiply", OP_UNION},
	{"add", OP_UNION},
};

static const mla_value *like(mla_flow *f, const mla_value *v, uint32_t tags, uint32_t rank)
{
	mla_value *out = mla_value_new(f, MLA_V_ANY, tags);

	out->rank = (uint8_t)rank;
	out->heads_last = rank == v->rank && v->heads_last;
	return out;
}

static const mla_value *size(mla_flow *f, const mla_arguments *a)
{
	const mla_value *x = a->v[0], *axis = a->n > 1 ? a->v[1] : NULL;
	mla_value *shape = mla_value_new(f, MLA_V_SHAPE, mla_value_tags(x));

	shape->rank = x->rank;
	shape->heads_last = x->heads_last;
	if (axis && axis->number_known && axis->number > -8 && axis->number < 8)
		return mla_value_axis(f, shape, (int)axis->number, 0);
	return axis ? mla_value_any(f, 0) : shape;
}

/* A literal 1 where a query count could stand, and no count anywhere: one query only. */
static bool fixes_count(const mla_value *const *size, uint32_t n)
{
	bool one = false;

	for (uint32_t i = 0; i < n; i++) {
		if (size[i]->tags & MLA_TAG_COUNT)
			return false;
		one |= i >= 1 && i + 1 < n && size[i]->number_known && size[i]->number == 1;
		if (size[i]->number_known && size[i]->number == -1 && i + 1 < n)
			return false; /* the count may be what is left over */
	}
	return one;
}

/* x.reshape(B, L, H, D) and x.reshape((B, L, H, D)); a size may be a tuple that was starred. */
static const mla_value *reshape(mla_flow *f, const mla_node *at, const mla_arguments *a)
{
	const mla_value *x = a->v[0], *one = a->n == 2 ? a->v[1] : NULL;
	const mla_value *const *size = a->v + 1;
	uint32_t n = a->n - 1;
	mla_value *v = mla_value_new(f, MLA_V_ANY, x->tags);

	if (one && one->kind == MLA_V_TUPLE) {
		size = one->element;
		n = one->n;
	} else if (a->open || (one && one->kind != MLA_V_INT)) {
		return v;
	}
	v->rank = (uint8_t)(n < 8 ? n : 0);
	v->heads_last = n == 4 && (size[1]->tags & MLA_TAG_COUNT);
	if (n >= 3 && (x->tags & MLA_TAG_INPUT) && !(x->tags & MLA_TAG_CACHED) &&
	    fixes_count(size, n))
		mla_flow_record(f, MLA_EV_ONE_ROW, at);
	return v;
}

/* Only the exchange of the axes 1 and 2 matters: it turns [B, L, H, D] into [B, H, L, D]. */
static const mla_value *swap(mla_flow *f, const mla_arguments *a)
{
	const mla_value *x = a->v[0];
	mla_value *v = (mla_value *)like(f, x, x->tags, x->rank);
	const mla_value *const *axis = a->v + 1;
	uint32_t n = a->n - 1;

	if (n == 1 && axis[0]->kind == MLA_V_TUPLE) {
		n = axis[0]->n;
		axis = axis[0]->element;
	}
	for (uint32_t i = 0; i < n; i++)
		if (axis[i]->kind != MLA_V_INT || !axis[i]->number_known)
			return v;
	if ((n == 4 && axis[1]->number == 2 && axis[2]->number == 1) ||
	    (n == 2 && axis[0]->number + axis[1]->number == 3 &&
	     (axis[0]->number == 1 || axis[0]->number == 2)))
		v->heads_last = !x->heads_last && x->rank == 4;
	return v;
}

/* squeeze() of the query axis, or of every axis that is 1 */
static void note_squeeze(mla_flow *f, const mla_node *at, const mla_arguments *a)
{
	const mla_value *x = a->v[0], *axis = a->n > 1 ? a->v[1] : NULL;
	int query = x->rank == 4 && !x->heads_last ? 2 : 1;

	if (!(x->tags & MLA_TAG_INPUT) || (x->tags & MLA_TAG_CACHED) || x->rank < 3)
		return;
	if (!axis ||
	    (axis->number_known && (axis->number == query || axis->number == query - (int)x->rank)))
		mla_flow_record(f, MLA_EV_ONE_ROW, at);
}

static const mla_value *concat(mla_flow *f, const mla_arguments *a)
{
	const mla_value *first = a->v[0];
	uint32_t tags = mla_arguments_tags(a);

	if (first->kind == MLA_V_TUPLE && first->n)
		first = first->element[0];
	if ((tags & MLA_TAG_CACHE) && (tags & MLA_TAG_INPUT)) {
		f->cache_updated = true;
		tags = (tags | MLA_TAG_CACHED) & ~(uint32_t)MLA_TAG_CACHE;
	}
	return like(f, first, tags, first->rank);
}

static const mla_value *where(mla_flow *f, const mla_node *at, const mla_arguments *a)
{
	uint32_t tags = mla_arguments_tags(a);

	if (tags & MLA_TAG_SCORES) {
		mla_flow_record(f, MLA_EV_MASK, at);
		tags &= ~(uint32_t)MLA_TAG_MASK;
	}
	return mla_value_any(f, tags);
}

static const mla_value *softmax(mla_flow *f, const mla_arguments *a)
{
	uint32_t tags = mla_value_tags(a->v[0]);

	if (tags & MLA_TAG_SCORES)
		tags = (tags & ~(uint32_t)MLA_TAG_SCORES) | MLA_TAG_PROBS;
	return like(f, a->v[0], tags, a->v[0]->rank);
}

/* einsum("...", x, w) and einsum("...", x, w, y) */
static const mla_value *einsum(mla_flow *f, mla_frame *fr, const mla_node *at,
                               const mla_arguments *a)
{
	const mla_value *v;

	if (a->n < 3)
		return mla_value_any(f, mla_arguments_tags(a));
	v = mla_flow_product(f, fr, at, a->v[1], a->v[2], a->node[1], a->node[2]);
	for (uint32_t i = 3; i < a->n; i++)
		if (!a->keyword[i].len)
			v = mla_flow_product(f, fr, at, v, a->v[i], NULL, a->node[i]);
	return v;
}

static const mla_value *gather(mla_flow *f, const mla_node *at, const mla_arguments *a)
{
	uint32_t tags = mla_value_tags(a->v[0]);

	if ((tags & MLA_TAG_CACHED) && !(tags & MLA_TAG_ATTENDED))
		mla_flow_gather(f, at);
	return like(f, a->v[0], tags, a->v[0]->rank);
}

static const mla_value *scatter(mla_flow *f, const mla_arguments *a)
{
	if (mla_arguments_tags(a) & MLA_TAG_CHOSEN)
		f->sparse = true;
	return mla_value_any(f, MLA_TAG_MASK);
}

static bool find(operation *op, mla_str name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (mla_str_is(name, table[i].name)) {
			*op = table[i].op;
			return true;
		}
	return false;
}

const mla_value *mla_flow_known(mla_flow *f, mla_frame *fr, const mla_node *call, mla_str name,
                                const mla_arguments *a)
{
	operation op;
	const mla_value *x;

	if (!find(&op, name))
		return NULL;
	for (uint32_t i = 0; i < a->n; i++) {
		mla_flow_other_use(a->v[i], call);
		if (op != OP_ATTEND)
			mla_flow_array_use(f, a->v[i], call);
	}
	if (op == OP_FRESH)
		return mla_value_any(f, 0);
	if (!a->n)
		return mla_value_any(f, 0);
	x = a->v[0];
	if (x->kind == MLA_V_UP && op != OP_PRODUCT && op != OP_ATTEND)
		return x; /* a slice, a view, a dequantised copy: still the projection */
	switch (op) {
	case OP_SAME:
		return like(f, x, mla_value_tags(x), x->rank);
	case OP_SIZE:
		return size(f, a);
	case OP_RESHAPE:
		return reshape(f, call, a);
	case OP_SWAP:
		return swap(f, a);
	case OP_ADD_AXIS:
		return like(f, x, mla_value_tags(x), x->rank ? x->rank + 1 : 0);
	case OP_DROP_AXIS:
		note_squeeze(f, call, a);
		return like(f, x, mla_value_tags(x), x->rank ? x->rank - 1 : 0);
	case OP_CONCAT:
		return concat(f, a);
	case OP_WHERE:
		return where(f, call, a);
	case OP_SOFTMAX:
		return softmax(f, a);
	case OP_PRODUCT:
		if (a->n < 2)
			return mla_value_any(f, mla_value_tags(x));
		return mla_flow_product(f, fr, call, x, a->v[1], a->node[0], a->node[1]);
	case OP_EINSUM:
		return einsum(f, fr, call, a);
	case OP_GATHER:
		return gather(f, call, a);
	case OP_SCATTER:
		return scatter(f, a);
	case OP_CHOOSE:
		return mla_value_any(f, MLA_TAG_CHOSEN);
	case OP_ATTEND:
		return mla_flow_attend(f, call, a, false);
	default:
		return mla_value_any(f, mla_arguments_tags(a));
	}
}

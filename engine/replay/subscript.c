/* Subscripts: of sequences, dictionaries, caches and tensors, reading and storing. */
#include "engine/gather.h"
#include "engine/move.h"
#include "engine/replay/machine.h"
#include "engine/view.h"

static int bound_of(int64_t *out, mla_machine *m, mla_value v, int64_t otherwise)
{
	*out = otherwise;
	if (v.kind == MLA_V_NONE || mla_value_as_int(out, v))
		return 0;
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	if (v.kind == MLA_V_TENSOR)
		return mla_unsupported(m, "an array as a slice bound");
	return mla_raise(m, "TypeError", "slice indices must be integers");
}

/* start, stop, step as Python's slice.indices(size), but for the size. */
static int slice_bounds(int64_t v[3], mla_machine *m, const mla_sequence *s)
{
	int error;

	if ((error = bound_of(&v[2], m, s->v[2], 1)) < 0)
		return error;
	if (!v[2])
		return mla_raise(m, "ValueError", "slice step cannot be zero");
	if ((error = bound_of(&v[0], m, s->v[0], v[2] > 0 ? 0 : INT64_MAX)) < 0)
		return error;
	return bound_of(&v[1], m, s->v[1], v[2] > 0 ? INT64_MAX : INT64_MIN);
}

static int64_t clamp(int64_t at, int64_t low, int64_t high)
{
	return at < low ? low : at > high ? high : at;
}

static void within(int64_t v[3], int64_t size)
{
	for (int i = 0; i < 2; i++) {
		if (v[i] < 0 && v[i] != INT64_MIN)
			v[i] += size;
		v[i] = v[2] > 0 ? clamp(v[i], 0, size) : clamp(v[i], -1, size - 1);
	}
}

static int slice_sequence(mla_value *out, mla_machine *m, mla_value s, mla_value index)
{
	int64_t v[3];
	int error = slice_bounds(v, m, index.seq);

	if (error < 0)
		return error;
	within(v, s.seq->n);
	*out = mla_sequence_new(m, (mla_value_kind)s.kind, 0);
	for (int64_t i = v[0]; error == 0 && (v[2] > 0 ? i < v[1] : i > v[1]); i += v[2])
		error = mla_sequence_push(m, out->seq, s.seq->v[i]);
	return error;
}

static int slice_text(mla_value *out, mla_machine *m, mla_str s, mla_value index)
{
	int64_t v[3];
	int error = slice_bounds(v, m, index.seq);

	if (error < 0)
		return error;
	within(v, s.len);
	if (v[2] != 1)
		return mla_unsupported(m, "a step in a slice of a string");
	*out = mla_value_str((mla_str){s.ptr + v[0], v[1] > v[0] ? (uint32_t)(v[1] - v[0]) : 0});
	return 0;
}

/* How the axes of a tensor are met by an index: what follows the ellipsis counts from the end. */
typedef struct {
	mla_value part[2 * MLA_DIMS];
	uint32_t n;
} index_list;

static int expand_index(index_list *l, mla_machine *m, const mla_tensor *t, mla_value index)
{
	bool tuple = index.kind == MLA_V_TUPLE;
	uint32_t n = tuple ? index.seq->n : 1, taken = 0, dots = 0;
	const mla_value *v = tuple ? index.seq->v : &index;
	mla_value all = {0};

	l->n = 0;
	if (n > MLA_DIMS + 2)
		return mla_unsupported(m, "a subscript of %u parts", n);
	for (uint32_t i = 0; i < n; i++) {
		taken += v[i].kind != MLA_V_NONE && v[i].kind != MLA_V_ELLIPSIS;
		dots += v[i].kind == MLA_V_ELLIPSIS;
	}
	if (taken > t->ndim || dots > 1)
		return mla_raise(m, "ValueError", "too many indices for an array of %u dimensions",
		                 t->ndim);
	for (uint32_t i = 0; i <= n; i++) {
		if (i < n && v[i].kind != MLA_V_ELLIPSIS) {
			l->part[l->n++] = v[i];
			continue;
		}
		if (i == n && dots)
			break;
		for (uint32_t k = taken; k < t->ndim; k++)
			l->part[l->n++] = all;
	}
	return 0;
}

static int one_part(mla_tensor **t, uint32_t *axis, mla_machine *m, mla_value part)
{
	mla_engine *e = m->engine;
	int64_t v[3];
	int error;

	switch (part.kind) {
	case MLA_V_UNBOUND:
		(*axis)++;
		return 0;
	case MLA_V_NONE:
		return mla_engine_fault(m, mla_view_expand(t, e, *t, (*axis)++));
	case MLA_V_INT:
		return mla_engine_fault(m, mla_view_index(t, e, *t, *axis, part.i));
	case MLA_V_SLICE:
		if ((error = slice_bounds(v, m, part.seq)) < 0)
			return error;
		return mla_engine_fault(m, mla_view_slice(t, e, *t, (*axis)++, v[0], v[1], v[2]));
	default:
		return mla_unsupported(m, "a %s as an index of an array", mla_value_type(part));
	}
}

int mla_tensor_subscript(mla_value *out, mla_machine *m, mla_value v, mla_value index)
{
	mla_tensor *t = v.t;
	uint32_t axis = 0;
	index_list l;
	int error;

	if (index.kind == MLA_V_TENSOR) {
		if (index.t->dtype != MLA_I32)
			return mla_unsupported(m, "an index array that is not of integers");
		error = mla_engine_fault(m, mla_take(&t, m->engine, t, index.t, 0));
		*out = mla_value_tensor(t, v.from);
		return error;
	}
	if ((error = expand_index(&l, m, t, index)) < 0)
		return error;
	for (uint32_t i = 0; i < l.n && error == 0; i++)
		error = one_part(&t, &axis, m, l.part[i]);
	if (error == 0 && t == v.t) /* x[...] is another array */
		error = mla_engine_fault(m, mla_tensor__view(&t, m->engine, t));
	*out = mla_value_tensor(t, v.from);
	return error;
}

static int part_of(mla_part *out, mla_machine *m, int64_t size, mla_value part)
{
	int64_t v[3];
	int error;

	if (part.kind == MLA_V_UNBOUND) {
		*out = (mla_part){0, size, 1};
		return 0;
	}
	if (part.kind == MLA_V_INT) {
		int64_t at = part.i < 0 ? part.i + size : part.i;

		if (at < 0 || at >= size)
			return mla_raise(m, "IndexError", "index %lld is out of range",
			                 (long long)part.i);
		*out = (mla_part){at, at + 1, 1};
		return 0;
	}
	if (part.kind != MLA_V_SLICE)
		return mla_unsupported(m, "a store at a %s", mla_value_type(part));
	if ((error = slice_bounds(v, m, part.seq)) < 0)
		return error;
	within(v, size);
	*out = (mla_part){v[0], v[1], v[2]};
	return 0;
}

int mla_tensor_subscript_set(mla_value *out, mla_machine *m, mla_value t, mla_value index,
                             mla_value v)
{
	mla_part parts[MLA_DIMS];
	mla_value source;
	mla_tensor *made;
	index_list l;
	int error;

	if ((error = mla_as_tensor(&source, m, v)) < 0 ||
	    (error = expand_index(&l, m, t.t, index)) < 0)
		return error;
	if (l.n != t.t->ndim)
		return mla_unsupported(m, "a store with a new axis");
	for (uint32_t i = 0; i < l.n; i++) {
		/* An indexed axis is gone from what is stored; as size 1 it would not line up. */
		if (l.part[i].kind == MLA_V_INT && source.t->ndim)
			return mla_unsupported(m, "a store of an array at an index");
		if ((error = part_of(&parts[i], m, t.t->shape[i], l.part[i])) < 0)
			return error;
	}
	error = mla_engine_fault(m, mla_move_update(&made, m->engine, t.t, parts, source.t));
	*out = mla_value_tensor(made, (t.from | source.from) & ~(unsigned)MLA_QUANTISED);
	return error;
}

static int item_of(mla_value *out, mla_machine *m, mla_value s, mla_value index)
{
	int64_t at;

	if (!mla_value_as_int(&at, index)) {
		if (index.kind == MLA_V_TENSOR || index.kind == MLA_V_OPEN)
			return mla_unsupported(m, "a %s as an index", mla_value_type(index));
		return mla_raise(m, "TypeError", "indices must be integers, not %s",
		                 mla_value_type(index));
	}
	if (at < 0)
		at += s.seq->n;
	if (at < 0 || at >= s.seq->n)
		return mla_raise(m, "IndexError", "index out of range");
	*out = s.seq->v[at];
	return 0;
}

static int key_of(mla_value *out, mla_machine *m, mla_dictionary *d, mla_value key)
{
	if (mla_dictionary_get(out, d, key))
		return 0;
	if (d->open && key.kind == MLA_V_STR) {
		int error = mla_config_field(out, m, key.s, NULL, (mla_value){0});

		return error < 0 ? error : mla_dictionary_set(m, d, key, *out);
	}
	if (key.kind == MLA_V_STR)
		return mla_raise(m, "KeyError", "'%.*s'", MLA_ARG(key.s));
	return mla_raise(m, "KeyError", "a %s", mla_value_type(key));
}

int mla_subscript(mla_value *out, mla_machine *m, mla_value object, mla_value index)
{
	int64_t at;

	switch (object.kind) {
	case MLA_V_TENSOR:
		return mla_tensor_subscript(out, m, object, index);
	case MLA_V_TUPLE:
	case MLA_V_LIST:
		if (index.kind == MLA_V_SLICE)
			return slice_sequence(out, m, object, index);
		return item_of(out, m, object, index);
	case MLA_V_STR:
		if (index.kind == MLA_V_SLICE)
			return slice_text(out, m, object.s, index);
		return mla_unsupported(m, "a character of a string");
	case MLA_V_DICT:
		return key_of(out, m, object.dict, index);
	case MLA_V_CACHE:
		if (!mla_value_as_int(&at, index))
			return mla_unsupported(m, "a cache indexed by a %s", mla_value_type(index));
		return mla_cache_item(out, m, object.cache, at);
	case MLA_V_FOREIGN: /* Optional[int] and the like in an expression */
	case MLA_V_CLASS:
	case MLA_V_BUILTIN:
	case MLA_V_DTYPE:
		*out = object;
		return 0;
	case MLA_V_LAYER: /* a module's parameters by name */
		if (index.kind == MLA_V_STR)
			return mla_attribute_get(out, m, object, index.s);
		return mla_unsupported(m, "a subscript of a layer");
	case MLA_V_INSTANCE: {
		mla_value method;
		bool found;
		int error =
			mla_attribute_find(&found, &method, m, object, mla_str_c("__getitem__"));

		if (error < 0 || found)
			return error < 0 ? error : mla_call_plain(out, m, method, &index, 1);
		if (object.instance->class->module_base && index.kind == MLA_V_STR)
			return mla_attribute_get(out, m, object, index.s);
		return mla_raise(m, "TypeError", "'%.*s' object is not subscriptable",
		                 MLA_ARG(object.instance->class->node->name));
	}
	case MLA_V_OPEN:
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(object.s));
	case MLA_V_NONE:
	case MLA_V_BOOL:
	case MLA_V_INT:
	case MLA_V_FLOAT:
	case MLA_V_FUNCTION:
	case MLA_V_METHOD:
		return mla_raise(m, "TypeError", "'%s' object is not subscriptable",
		                 mla_value_type(object));
	default:
		return mla_unsupported(m, "a subscript of a %s", mla_value_type(object));
	}
}

static int set_slice(mla_machine *m, mla_value s, mla_value index, mla_value v)
{
	mla_value list;
	int64_t b[3];
	int error;

	if ((error = slice_bounds(b, m, index.seq)) < 0 || (error = mla_iterate(&list, m, v)) < 0)
		return error;
	within(b, s.seq->n);
	if (b[2] != 1 || b[0] != 0 || b[1] != s.seq->n)
		return mla_unsupported(m, "a store into a part of a list");
	list.seq->born = s.seq->born;
	*s.seq = *list.seq;
	return 0;
}

int mla_subscript_set(mla_value *changed, mla_machine *m, mla_value object, mla_value index,
                      mla_value v)
{
	int64_t at;
	int error = 0;

	*changed = object;
	if (object.kind == MLA_V_LIST)
		error = mla_check_own(m, object.seq->born);
	if (object.kind == MLA_V_DICT)
		error = mla_check_own(m, object.dict->born);
	if (error < 0)
		return error;
	switch (object.kind) {
	case MLA_V_TENSOR:
		return mla_tensor_subscript_set(changed, m, object, index, v);
	case MLA_V_LIST:
		if (index.kind == MLA_V_SLICE)
			return set_slice(m, object, index, v);
		if (!mla_value_as_int(&at, index))
			return mla_unsupported(m, "a store at a %s", mla_value_type(index));
		at += at < 0 ? object.seq->n : 0;
		if (at < 0 || at >= object.seq->n)
			return mla_raise(m, "IndexError", "assignment index out of range");
		object.seq->v[at] = v;
		return 0;
	case MLA_V_DICT:
		return mla_dictionary_set(m, object.dict, index, v);
	case MLA_V_TUPLE:
		return mla_raise(m, "TypeError", "'tuple' object does not support item assignment");
	default:
		return mla_unsupported(m, "a store into a %s", mla_value_type(object));
	}
}

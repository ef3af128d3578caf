/* Lists, tuples, sets, dictionaries, ranges: elements, iteration, truth, membership. */
#include "engine/replay/machine.h"

#include "engine/view.h"

mla_value mla_sequence_new(mla_machine *m, mla_value_kind kind, uint32_t room)
{
	mla_sequence *s = mla_machine_alloc(m, 1, sizeof(*s));

	s->cap = room;
	s->born = m->runs;
	s->v = room ? mla_machine_alloc(m, room, sizeof(*s->v)) : NULL;
	return (mla_value){.kind = (uint8_t)kind, .seq = s};
}

int mla_sequence_push(mla_machine *m, mla_sequence *s, mla_value v)
{
	if (s->n == s->cap) {
		uint32_t cap = s->cap ? 2 * s->cap : 8;
		mla_value *grown;

		if (s->n >= MLA_REPLAY_LENGTH)
			return mla_limit(m, "a list of more than %d elements", MLA_REPLAY_LENGTH);
		grown = mla_machine_alloc(m, cap, sizeof(*grown));
		if (s->n)
			memcpy(grown, s->v, s->n * sizeof(*grown));
		s->v = grown;
		s->cap = cap;
	}
	s->v[s->n++] = v;
	return 0;
}

mla_value mla_dictionary_new(mla_machine *m)
{
	mla_value v = {.kind = MLA_V_DICT, .dict = mla_machine_alloc(m, 1, sizeof(*v.dict))};

	v.dict->born = m->runs;
	return v;
}

int mla_check_own(mla_machine *m, uint32_t born)
{
	return m->run && born != m->runs
	               ? mla_unsupported(m, "a list or dictionary that changes between calls")
	               : 0;
}

static mla_item *find(const mla_dictionary *d, mla_value key)
{
	for (uint32_t i = 0; i < d->n; i++) {
		bool known;

		if (mla_value_equal(&known, d->v[i].key, key))
			return &d->v[i];
	}
	return NULL;
}

int mla_dictionary_set(mla_machine *m, mla_dictionary *d, mla_value key, mla_value value)
{
	mla_item *old = find(d, key);

	if (old) {
		old->value = value;
		return 0;
	}
	if (d->n == d->cap) {
		uint32_t cap = d->cap ? 2 * d->cap : 8;
		mla_item *grown;

		if (d->n >= MLA_REPLAY_LENGTH / 16) /* lookups are linear */
			return mla_limit(m, "a dictionary of more than %d entries",
			                 MLA_REPLAY_LENGTH / 16);
		grown = mla_machine_alloc(m, cap, sizeof(*grown));
		if (d->n)
			memcpy(grown, d->v, d->n * sizeof(*grown));
		d->v = grown;
		d->cap = cap;
	}
	d->v[d->n++] = (mla_item){key, value};
	return 0;
}

bool mla_dictionary_get(mla_value *out, const mla_dictionary *d, mla_value key)
{
	mla_item *i = find(d, key);

	if (i)
		*out = i->value;
	return i != NULL;
}

bool mla_dictionary_name(mla_value *out, const mla_dictionary *d, mla_str name)
{
	return mla_dictionary_get(out, d, mla_value_str(name));
}

static int iterate_range(mla_value *list, mla_machine *m, const mla_sequence *r)
{
	int64_t at = r->v[0].i, stop = r->v[1].i, step = r->v[2].i;
	int error = 0;

	*list = mla_sequence_new(m, MLA_V_LIST, 0);
	while (error == 0 && (step > 0 ? at < stop : at > stop)) {
		error = mla_sequence_push(m, list->seq, mla_value_int(at));
		if (__builtin_add_overflow(at, step, &at))
			break;
	}
	return error;
}

/* The rows of a tensor along its first axis. */
static int iterate_tensor(mla_value *list, mla_machine *m, mla_value t)
{
	int64_t n = t.t->ndim ? t.t->shape[0] : 0;
	int error = 0;

	if (!t.t->ndim)
		return mla_raise(m, "TypeError", "iteration over an array without dimensions");
	*list = mla_sequence_new(m, MLA_V_LIST, 0);
	for (int64_t i = 0; i < n && error == 0; i++) {
		mla_tensor *row;

		if ((error = mla_engine_fault(m, mla_view_index(&row, m->engine, t.t, 0, i))) == 0)
			error = mla_sequence_push(m, list->seq, mla_value_tensor(row, t.from));
	}
	return error;
}

static int iterate_text(mla_value *list, mla_machine *m, mla_str s)
{
	int error = 0;

	*list = mla_sequence_new(m, MLA_V_LIST, 0);
	for (uint32_t i = 0; i < s.len && error == 0; i++) {
		if ((unsigned char)s.ptr[i] > 127)
			return mla_unsupported(m, "characters of a string beyond ASCII");
		error = mla_sequence_push(m, list->seq, mla_value_str((mla_str){s.ptr + i, 1}));
	}
	return error;
}

int mla_keep(mla_machine *m, mla_dictionary *d, mla_str name, mla_value v)
{
	mla_change_note note = {.of = d, .name = name};

	if (m->run) {
		mla_dictionary_name(&note.old, d, name);
		mla_vec_push(&m->journal, note);
	}
	return mla_dictionary_set(m, d, mla_value_str(name), v);
}

int mla_iterate(mla_value *list, mla_machine *m, mla_value v)
{
	int error = 0;

	switch (v.kind) {
	case MLA_V_LIST:
	case MLA_V_TUPLE:
	case MLA_V_SET:
		*list = mla_sequence_new(m, MLA_V_LIST, v.seq->n);
		if (v.seq->n)
			memcpy(list->seq->v, v.seq->v, v.seq->n * sizeof(*v.seq->v));
		list->seq->n = v.seq->n;
		return 0;
	case MLA_V_RANGE:
		return iterate_range(list, m, v.seq);
	case MLA_V_TENSOR:
		return iterate_tensor(list, m, v);
	case MLA_V_STR:
		return iterate_text(list, m, v.s);
	case MLA_V_CACHE:
		return mla_cache_iterate(list, m, v.cache);
	case MLA_V_DICT:
		if (v.dict->open)
			return mla_unsupported(m, "iteration over a config dictionary");
		*list = mla_sequence_new(m, MLA_V_LIST, v.dict->n);
		for (uint32_t i = 0; i < v.dict->n && error == 0; i++)
			error = mla_sequence_push(m, list->seq, v.dict->v[i].key);
		return error;
	case MLA_V_NONE:
	case MLA_V_BOOL:
	case MLA_V_INT:
	case MLA_V_FLOAT:
		return mla_raise(m, "TypeError", "'%s' object is not iterable", mla_value_type(v));
	default:
		return mla_unsupported(m, "iteration over a %s", mla_value_type(v));
	}
}

static int truth_of_tensor(bool *out, mla_machine *m, mla_value v)
{
	if (v.t->count != 1)
		return mla_raise(m, "ValueError", "the truth of an array of %lld elements",
		                 (long long)v.t->count);
	if (!mla_tensor_has_data(v.t))
		return mla_unsupported(m, "a decision on the value of an array");
	*out = mla_tensor_at(v.t, 0) != 0;
	return 0;
}

int mla_truth(bool *out, mla_machine *m, mla_value v)
{
	switch (v.kind) {
	case MLA_V_NONE:
		*out = false;
		return 0;
	case MLA_V_BOOL:
		*out = v.b;
		return 0;
	case MLA_V_INT:
		*out = v.i != 0;
		return 0;
	case MLA_V_FLOAT:
		*out = v.f != 0;
		return 0;
	case MLA_V_STR:
		*out = v.s.len != 0;
		return 0;
	case MLA_V_TUPLE:
	case MLA_V_LIST:
	case MLA_V_SET:
		*out = v.seq->n != 0;
		return 0;
	case MLA_V_DICT:
		*out = v.dict->open || v.dict->n != 0;
		return 0;
	case MLA_V_TENSOR:
		return truth_of_tensor(out, m, v);
	case MLA_V_FUNCTION:
	case MLA_V_METHOD:
	case MLA_V_PARTIAL:
	case MLA_V_BUILTIN:
	case MLA_V_CLASS:
	case MLA_V_LAYER:
	case MLA_V_CACHE:
	case MLA_V_ELLIPSIS:
	case MLA_V_MODULE:
		*out = true;
		return 0;
	case MLA_V_INSTANCE: {
		mla_value method;
		bool found;
		int error = mla_attribute_find(&found, &method, m, v, mla_str_c("__bool__"));

		if (error == 0 && !found)
			error = mla_attribute_find(&found, &method, m, v, mla_str_c("__len__"));
		if (error < 0)
			return error;
		if (found)
			return mla_unsupported(m,
			                       "the truth of an object with __bool__ or __len__");
		*out = true;
		return 0;
	}
	case MLA_V_OPEN:
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	default:
		return mla_unsupported(m, "the truth of a %s", mla_value_type(v));
	}
}

int mla_contains(bool *out, mla_machine *m, mla_value item, mla_value in)
{
	*out = false;
	if (in.kind == MLA_V_STR && item.kind == MLA_V_STR) {
		for (uint32_t i = 0; !*out && i + item.s.len <= in.s.len; i++)
			*out = !item.s.len || memcmp(in.s.ptr + i, item.s.ptr, item.s.len) == 0;
		return 0;
	}
	if (in.kind == MLA_V_DICT) {
		mla_value ignored;

		*out = mla_dictionary_get(&ignored, in.dict, item);
		return 0;
	}
	if (in.kind == MLA_V_RANGE || in.kind == MLA_V_TUPLE || in.kind == MLA_V_LIST ||
	    in.kind == MLA_V_SET) {
		mla_value list;
		bool known = true;
		int error = mla_iterate(&list, m, in);

		for (uint32_t i = 0; error == 0 && known && !*out && i < list.seq->n; i++)
			*out = mla_value_same(list.seq->v[i], item) ||
			       mla_value_equal(&known, list.seq->v[i], item);
		return error < 0 || known ? error : mla_unsupported(m, "`in` among such values");
	}
	return mla_unsupported(m, "`in` a %s", mla_value_type(in));
}

int mla_set_unique(mla_machine *m, mla_value set)
{
	enum { MOST = 4096 };
	mla_sequence *s = set.seq;
	uint32_t n = s->n;
	int error = 0;

	if (n > MOST)
		return mla_limit(m, "a set of more than %d elements", MOST);
	s->n = 0;
	for (uint32_t i = 0; i < n && error == 0; i++) {
		bool there;

		error = mla_contains(&there, m, s->v[i], set);
		if (error == 0 && !there)
			s->v[s->n++] = s->v[i];
	}
	return error;
}

/* The elements of `from` that are, or are not, in `in`. */
static int push_those(mla_machine *m, mla_value to, mla_value from, mla_value in, bool wanted)
{
	int error = 0;

	for (uint32_t i = 0; i < from.seq->n && error == 0; i++) {
		bool there;

		error = mla_contains(&there, m, from.seq->v[i], in);
		if (error == 0 && there == wanted)
			error = mla_sequence_push(m, to.seq, from.seq->v[i]);
	}
	return error;
}

int mla_operate_sets(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b)
{
	int error = 0;

	*out = mla_sequence_new(m, MLA_V_SET, 0);
	if (op == MLA_OP_BITAND || op == MLA_OP_BITOR)
		error = push_those(m, *out, a, b, true);
	if (error == 0 && op != MLA_OP_BITAND)
		error = push_those(m, *out, a, b, false);
	if (error == 0 && (op == MLA_OP_BITOR || op == MLA_OP_BITXOR))
		error = push_those(m, *out, b, a, false);
	return error;
}

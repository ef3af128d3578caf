/*
 * A cache, known by its use alone: what has an offset and takes rows, what is joined with new rows,
 * a list or an object of such caches. No cache module is executed. The rows before the call are
 * drawn; the same place gets the same rows in every run.
 */
#include "engine/make.h"
#include "engine/move.h"
#include "engine/quant.h"
#include "engine/replay/functions.h"
#include "engine/view.h"

struct mla_cache {
	uint64_t place; /* a number of its own, by where it was found */
	mla_dictionary parts, attributes;
	mla_cache *of;      /* it is a part of this one, and may turn out to be its method */
	bool used;          /* its rows were asked for */
	uint32_t grown_run; /* the call in which rows were appended; 0: none */
	bool is_method;
};

static bool has_grown(const mla_machine *m, const mla_cache *c)
{
	return c->grown_run && c->grown_run == m->runs;
}

mla_value mla_cache_new(mla_machine *m)
{
	mla_value v = {.kind = MLA_V_CACHE, .cache = mla_machine_alloc(m, 1, sizeof(mla_cache))};

	v.cache->place = 1;
	return v;
}

static uint64_t place_of(const mla_cache *c, mla_str name)
{
	uint64_t h = c->place * UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.ptr[i]) * UINT64_C(0x100000001b3);
	return h;
}

static bool same_rows(const mla_drawn_rows *a, const mla_drawn_rows *b)
{
	return a->place == b->place && a->ndim == b->ndim && a->dtype == b->dtype &&
	       memcmp(a->shape, b->shape, a->ndim * sizeof(*a->shape)) == 0;
}

/* Rows of every position before this call, shaped as `like` but for that axis. */
static int draw_rows(mla_value *out, mla_machine *m, const mla_cache *c, const char *which,
                     const mla_tensor *like, int64_t axis)
{
	mla_drawn_rows key = {
		.place = place_of(c, mla_str_c(which)), .ndim = like->ndim, .dtype = like->dtype};
	mla_random r = mla_random_stream(m->options.seed + 1, key.place + key.ndim);
	mla_tensor *t = NULL;
	uint32_t at;
	int error;

	if ((error = mla_engine_fault(m, mla_tensor_axis(&at, like, axis, "cache"))) < 0)
		return error;
	memcpy(key.shape, like->shape, like->ndim * sizeof(*key.shape));
	key.shape[at] = m->run->cached;
	for (uint32_t i = 0; i < m->rows.n; i++)
		if (same_rows(&m->rows.v[i], &key)) {
			*out = mla_value_tensor(m->kept.v[i], MLA_FROM_CACHE | MLA_FROM_INPUT);
			return 0;
		}
	error = mla_random_normals(&t, m->engine, like->dtype, MLA_BF16, like->ndim, key.shape, &r,
	                           1);
	if (error < 0)
		return mla_engine_fault(m, error);
	if (m->options.mode != MLA_REPLAY_SHAPES) {
		mla_vec_push(&m->rows, key);
		mla_vec_push(&m->kept, t);
	}
	*out = mla_value_tensor(t, MLA_FROM_CACHE | MLA_FROM_INPUT);
	return 0;
}

int mla_cache_rows(mla_value *out, mla_machine *m, mla_cache *c, const mla_tensor *like,
                   int64_t axis)
{
	if (!m->run)
		return mla_unsupported(m, "a cache outside a call");
	if (m->run->session)
		return mla_unsupported(m, "a past that is joined with new rows by the program");
	if (c->parts.n || has_grown(m, c))
		return mla_unsupported(m, "a cache used in two ways");
	c->used = true;
	return draw_rows(out, m, c, "rows", like, axis);
}

static int grow(mla_value *out, mla_machine *m, const mla_cache *c, const char *which, mla_value v)
{
	const mla_tensor *part[2];
	mla_value rows;
	mla_tensor *t = NULL;
	int error;

	if (v.kind != MLA_V_TENSOR || v.t->ndim < 2)
		return mla_unsupported(m, "a cache that is given a %s", mla_value_type(v));
	if (m->run->session) {
		error = mla_session_append(&t, m->run->session, m, place_of(c, mla_str_c(which)),
		                           v.t, -2);
		*out = mla_value_tensor(t, MLA_FROM_CACHE | MLA_FROM_INPUT);
		return error;
	}
	if ((error = draw_rows(&rows, m, c, which, v.t, -2)) < 0)
		return error;
	part[0] = rows.t;
	part[1] = v.t;
	error = mla_move_concat(&t, m->engine, part, 2, -2);
	*out = mla_value_tensor(t, MLA_FROM_CACHE | MLA_FROM_INPUT);
	return mla_engine_fault(m, error);
}

/* MLX's own are 64 and 8; 32 fits narrow rotary parts too. */
enum { CACHE_BITS = 8, CACHE_GROUP = 32 };

/* The rows as a quantised cache hands them out: (codes, scales, biases). */
static int pack(mla_value *v, mla_machine *m)
{
	mla_quantised q;
	mla_value parts;
	int error = mla_engine_fault(
		m, mla_quantise_groups(&q, m->engine, v->t, CACHE_BITS, CACHE_GROUP));

	if (error < 0)
		return error;
	parts = mla_sequence_new(m, MLA_V_TUPLE, 3);
	parts.seq->v[parts.seq->n++] = mla_value_tensor(q.codes, v->from);
	parts.seq->v[parts.seq->n++] = mla_value_tensor(q.scales, v->from);
	parts.seq->v[parts.seq->n++] = mla_value_tensor(q.biases, v->from);
	*v = parts;
	return 0;
}

enum { OF_MLX, OF_TRANSFORMERS };

/* update_and_fetch(keys, values) of MLX, update(keys, values, layer_idx, cache_kwargs) of
 * transformers: appended, and all of both given back. */
static int update(mla_value *out, mla_machine *m, mla_call *call, int variant)
{
	mla_value self, k, v, ignored;
	mla_cache *c;
	int error;

	if ((error = mla_arg_required(&self, m, call, 0, "self")) < 0 ||
	    (error = mla_arg_required(&k, m, call, 1, "keys")) < 0 ||
	    (error = mla_arg_required(&v, m, call, 2, "values")) < 0)
		return error;
	if (variant == OF_TRANSFORMERS) {
		mla_arg(&ignored, call, 3, "layer_idx");
		mla_arg(&ignored, call, 4, "cache_kwargs");
	}
	if ((error = mla_call_done(m, call)) < 0)
		return error;
	c = self.cache;
	if (has_grown(m, c) || c->used || c->parts.n || !m->run)
		return mla_unsupported(m, "a cache that is updated twice, or used in two ways");
	if ((error = grow(&k, m, c, "keys", k)) < 0 || (error = grow(&v, m, c, "values", v)) < 0)
		return error;
	c->grown_run = m->runs;
	if (m->run->quantised && ((error = pack(&k, m)) < 0 || (error = pack(&v, m)) < 0))
		return error;
	if ((error = mla_dictionary_set(m, &c->attributes, mla_value_c("keys"), k)) < 0 ||
	    (error = mla_dictionary_set(m, &c->attributes, mla_value_c("values"), v)) < 0)
		return error;
	*out = mla_sequence_new(m, MLA_V_TUPLE, 2);
	out->seq->v[out->seq->n++] = k;
	out->seq->v[out->seq->n++] = v;
	return 0;
}

static const mla_builtin updates[] = {{"update_and_fetch", update, OF_MLX},
                                      {"update", update, OF_TRANSFORMERS}};

/* Padding of row b on the left: none in row 0, one more in each row after it. */
static int offset(mla_value *out, mla_machine *m, const mla_cache *c)
{
	double at[64];
	mla_tensor *t = NULL;
	int64_t n = m->run->cached + (has_grown(m, c) ? m->run->width : 0), batch = m->run->batch;
	int error;

	for (uint32_t i = 0; i < c->parts.n; i++)
		if (has_grown(m, c->parts.v[i].value.cache) &&
		    !c->parts.v[i].value.cache->is_method)
			return mla_unsupported(m, "the offset of a cache whose part was updated");
	*out = mla_value_int(n);
	if (!m->run->array_offset)
		return 0;
	if (batch > 64)
		return mla_limit(m, "a batch of more than 64");
	for (int64_t i = 0; i < batch; i++)
		at[i] = (double)(n - i);
	error = mla_tensor_from(&t, m->engine, MLA_I32, 1, &batch, at);
	*out = mla_value_tensor(t, 0);
	return mla_engine_fault(m, error);
}

static int part(mla_value *out, mla_machine *m, mla_cache *c, mla_str name)
{
	mla_value key = mla_value_str(name);

	if (mla_dictionary_get(out, &c->parts, key))
		return 0;
	if (!m->run->session && (has_grown(m, c) || c->used))
		return mla_unsupported(m, "`%.*s` of a cache", MLA_ARG(name));
	*out = mla_cache_new(m);
	out->cache->of = c;
	out->cache->place = place_of(c, name);
	return mla_dictionary_set(m, &c->parts, key, *out);
}

/* Does the source store such an attribute on something else than its own object? */
static bool is_stored(const mla_machine *m, mla_str name)
{
	const mla_node *root = m->module->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_ATTRIBUTE && mla_str_eq(n->name, name) && n->parent &&
		    n->parent->kind == MLA_N_ASSIGN && n->index + 1 < n->parent->n &&
		    n->kid[0]->kind == MLA_N_NAME && !mla_str_is(n->kid[0]->name, "self"))
			return true;
	return false;
}

int mla_cache_attribute(bool *found, mla_value *out, mla_machine *m, mla_cache *c, mla_str name,
                        bool must)
{
	static const char *const absent[] = {"bits", "group_size", NULL};
	mla_bound *b;

	if (!m->run)
		return mla_unsupported(m, "a cache outside a call");
	*found = mla_dictionary_name(out, &c->attributes, name);
	if (*found)
		return 0;
	if (m->run->quantised && (mla_str_is(name, "bits") || mla_str_is(name, "group_size"))) {
		*found = true;
		*out = mla_value_int(mla_str_is(name, "bits") ? CACHE_BITS : CACHE_GROUP);
		return 0;
	}
	if (mla_str_is(name, "offset")) {
		*found = true;
		return offset(out, m, c);
	}
	for (uint32_t i = 0; i < 2; i++) {
		if (!mla_str_is(name, updates[i].name))
			continue;
		b = mla_machine_alloc(m, 1, sizeof(*b));
		b->callee = (mla_value){.kind = MLA_V_BUILTIN, .builtin = &updates[i]};
		b->self = (mla_value){.kind = MLA_V_CACHE, .cache = c};
		*out = (mla_value){.kind = MLA_V_METHOD, .bound = b};
		*found = true;
		return 0;
	}
	/* A private one is what a method itself left there in an earlier call: not yet. */
	if ((mla_str_in(name, absent) || name.ptr[0] == '_') && !must)
		return 0;
	/* What a session has is there: the attributes that the program has left. */
	if (!must && m->run->session)
		return 0;
	if (!must)
		return mla_unsupported(m, "whether a cache has `%.*s`", MLA_ARG(name));
	if (mla_str_in(name, absent) || name.ptr[0] == '_')
		return mla_raise(m, "AttributeError", "'cache' object has no attribute '%.*s'",
		                 MLA_ARG(name));
	*found = true;
	/* Its own class has it from the start, for the program to fill. */
	if (m->run->session && is_stored(m, name)) {
		*out = mla_value_none;
		return 0;
	}
	return part(out, m, c, name);
}

mla_dictionary *mla_cache_attributes(mla_cache *c)
{
	return &c->attributes;
}

int mla_cache_call(mla_value *out, mla_machine *m, mla_cache *c, mla_call *call)
{
	mla_value rows[4];
	int error = 0;

	if (!m->run || !m->run->session || !c->of || call->keywords || !call->n || call->n > 4)
		return mla_unsupported(m, "call of a cache");
	if (c->used || c->parts.n || has_grown(m, c))
		return mla_unsupported(m, "a cache that is updated twice, or used in two ways");
	for (uint32_t i = 0; i < call->n && error == 0; i++) {
		static const char *const which[] = {"0", "1", "2", "3"};

		if (call->args[i].kind != MLA_V_TENSOR)
			return mla_unsupported(m, "a method of a cache that is given a %s",
			                       mla_value_type(call->args[i]));
		error = grow(&rows[i], m, c, which[i], call->args[i]);
	}
	if (error < 0)
		return error;
	c->is_method = true;
	c->grown_run = c->of->grown_run = m->runs;
	if (call->n == 1) {
		*out = rows[0];
		return 0;
	}
	*out = mla_sequence_new(m, MLA_V_TUPLE, call->n);
	for (uint32_t i = 0; i < call->n; i++)
		out->seq->v[out->seq->n++] = rows[i];
	return 0;
}

int mla_cache_set(mla_machine *m, mla_cache *c, mla_str name, mla_value v)
{
	if (mla_str_is(name, "offset"))
		return mla_unsupported(m, "a store to the offset of a cache");
	return mla_dictionary_set(m, &c->attributes, mla_value_str(name), v);
}

int mla_cache_item(mla_value *out, mla_machine *m, mla_cache *c, int64_t index)
{
	if (index < 0 || index > 8)
		return mla_unsupported(m, "item %lld of a cache", (long long)index);
	return part(out, m, c, mla_machine_format(m, "[%lld]", (long long)index));
}

int mla_cache_iterate(mla_value *list, mla_machine *m, mla_cache *c)
{
	(void)list;
	(void)c;
	return mla_unsupported(m, "iteration over a cache");
}

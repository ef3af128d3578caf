/* A cache over several calls: its rows, by the place they are appended at, and its attributes. */
#include "engine/compare.h"
#include "engine/gather.h"
#include "engine/move.h"
#include "engine/replay/functions.h"
#include "engine/view.h"

#include <math.h>
#include <stdio.h>

enum { PLACES = 16 };

struct mla_session {
	mla_value cache;
	int64_t length;
	struct {
		uint64_t place;
		mla_tensor *rows;
		int64_t axis;
	} v[PLACES];
	uint32_t n;
};

mla_session *mla_session_new(mla_machine *m)
{
	mla_session *s = mla_machine_alloc(m, 1, sizeof(*s));

	s->cache = mla_cache_new(m);
	return s;
}

mla_value mla_session_cache(const mla_session *s)
{
	return s->cache;
}

int64_t mla_session_length(const mla_session *s)
{
	return s->length;
}

int mla_session_append(mla_tensor **out, mla_session *s, mla_machine *m, uint64_t place,
                       const mla_tensor *rows, int64_t axis)
{
	uint32_t i = 0;
	int error;

	while (i < s->n && s->v[i].place != place)
		i++;
	if (i == PLACES)
		return mla_limit(m, "a cache of more than %d kinds of rows", PLACES);
	if (i == s->n && s->length)
		return mla_unsupported(m, "rows that earlier calls did not append");
	if (i == s->n) {
		error = mla_move_copy(out, m->engine, rows);
		s->v[s->n].place = place;
		s->v[s->n++].axis = axis;
	} else {
		const mla_tensor *part[2] = {s->v[i].rows, rows};

		error = mla_move_concat(out, m->engine, part, 2, axis);
	}
	s->v[i].rows = *out;
	return mla_engine_fault(m, error);
}

void mla_session_close(mla_session *s, const mla_run *run)
{
	s->length += run->width;
}

int mla_session_trim(mla_session *s, mla_machine *m, int64_t n)
{
	int error = 0;

	s->length -= n;
	for (uint32_t i = 0; i < s->n && error == 0; i++)
		error = mla_engine_fault(m, mla_view_slice(&s->v[i].rows, m->engine, s->v[i].rows,
		                                           s->v[i].axis, 0, s->length, 1));
	return error;
}

int mla_session_select(mla_session *s, mla_machine *m, int64_t row)
{
	int error = 0;

	for (uint32_t i = 0; i < s->n && error == 0; i++)
		error = mla_engine_fault(m, mla_view_slice(&s->v[i].rows, m->engine, s->v[i].rows,
		                                           0, row, row + 1, 1));
	return error;
}

void mla_session_forget(mla_session *s)
{
	mla_cache_attributes(s->cache.cache)->n = 0;
}

bool mla_session_remembers(const mla_session *s)
{
	return mla_cache_attributes(s->cache.cache)->n != 0;
}

typedef struct {
	char *text;
	double worst, ulps;
} judge;

static void shape_text(char to[64], const mla_tensor *t)
{
	int at = snprintf(to, 64, "(");

	for (uint32_t i = 0; i < t->ndim && at < 48; i++)
		at += snprintf(to + at, 64 - (size_t)at, "%s%lld", i ? ", " : "",
		               (long long)t->shape[i]);
	snprintf(to + at, 64 - (size_t)at, ")");
}

static bool tensors_agree(judge *j, const char *name, const mla_tensor *a, const mla_tensor *b)
{
	char x[64], y[64];
	double ulp;
	bool same = a->ndim == b->ndim;

	for (uint32_t i = 0; same && i < a->ndim; i++)
		same = a->shape[i] == b->shape[i];
	if (!same) {
		shape_text(x, a);
		shape_text(y, b);
		snprintf(j->text, 160, "`%s` has the shape %s, from scratch %s", name, x, y);
		return false;
	}
	if (!mla_dtype_is_float(a->dtype)) {
		if (mla_compare_identical(a, b))
			return true;
		snprintf(j->text, 160, "`%s` differs", name);
		return false;
	}
	if (a->ndim && mla_compare_rows(&ulp, a, b, MLA_F32) == 0 && ulp <= j->ulps) {
		j->worst = ulp > j->worst ? ulp : j->worst;
		return true;
	}
	if (!a->ndim && mla_compare_identical(a, b))
		return true;
	snprintf(j->text, 160, "the keys of `%s` differ by %.3g ULP", name, a->ndim ? ulp : NAN);
	return false;
}

static bool agree(judge *j, const char *name, mla_value a, mla_value b, uint32_t depth);

/* Everything that `b` has; `of` is the dotted name in front, or empty. */
static bool entries_agree(judge *j, const char *of, const mla_dictionary *a,
                          const mla_dictionary *b, uint32_t depth)
{
	for (uint32_t i = 0; i < b->n; i++) {
		mla_value key = b->v[i].key, got;
		mla_str text = key.kind == MLA_V_STR ? key.s : mla_str_c("?");
		char name[64];

		snprintf(name, sizeof(name), "%.40s%s%.*s", of, *of ? "." : "", (int)text.len % 60,
		         text.ptr);
		if (!mla_dictionary_get(&got, a, key)) {
			snprintf(j->text, 160, "`%s` is not there", name);
			return false;
		}
		if (!agree(j, name, got, b->v[i].value, depth))
			return false;
	}
	return true;
}

/* Of a dictionary or an object; NULL: it is neither. */
static const mla_dictionary *entries_of(mla_value v)
{
	if (v.kind == MLA_V_DICT)
		return v.dict;
	return v.kind == MLA_V_INSTANCE ? &v.instance->attributes : NULL;
}

static bool agree(judge *j, const char *name, mla_value a, mla_value b, uint32_t depth)
{
	bool known;

	if (depth > 4)
		return true;
	if (a.kind == MLA_V_TENSOR && b.kind == MLA_V_TENSOR)
		return tensors_agree(j, name, a.t, b.t);
	if (mla_value_is_sequence(a) && mla_value_is_sequence(b) && a.seq->n == b.seq->n) {
		for (uint32_t i = 0; i < a.seq->n; i++) {
			char part[64];

			snprintf(part, sizeof(part), "%.48s[%u]", name, i);
			if (!agree(j, part, a.seq->v[i], b.seq->v[i], depth + 1))
				return false;
		}
		return true;
	}
	if (a.kind == b.kind && entries_of(a) && entries_of(a)->n == entries_of(b)->n)
		return entries_agree(j, name, entries_of(a), entries_of(b), depth + 1);
	if (mla_value_equal(&known, a, b) && known)
		return true;
	snprintf(j->text, 160, "`%s` differs", name);
	if (a.kind == MLA_V_INT && b.kind == MLA_V_INT)
		snprintf(j->text, 160, "`%s` is %lld, from scratch %lld", name, (long long)a.i,
		         (long long)b.i);
	return false;
}

bool mla_session_agrees(char text[160], double *worst, const mla_session *a,
                        const mla_session *reference, double ulps)
{
	const mla_dictionary *x = mla_cache_attributes(a->cache.cache);
	const mla_dictionary *y = mla_cache_attributes(reference->cache.cache);
	judge j = {.text = text, .ulps = ulps};

	if (!entries_agree(&j, "", x, y, 0))
		return false;
	*worst = j.worst > *worst ? j.worst : *worst;
	return true;
}

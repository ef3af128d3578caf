/* The machine format of bench: everything the charts are drawn from, and what plan reads. */
#include "cli/bench.h"

#include "cli/json.h"

static json_t *geometry(const mla_bench_spec *s)
{
	json_t *o = json_object();

	mla_json_put(o, "kv_lora_rank", json_integer(s->geometry.rank));
	mla_json_put(o, "qk_nope_head_dim", json_integer(s->geometry.nope));
	mla_json_put(o, "qk_rope_head_dim", json_integer(s->geometry.rope));
	mla_json_put(o, "v_head_dim", json_integer(s->geometry.value));
	return o;
}

static json_t *side(const mla_bench_point *p, unsigned i)
{
	const mla_bench_stats *s = &p->ms[i];
	json_t *o = json_object();

	mla_json_put(o, "arm", mla_json_z(mla_bench_arm_name(p->arm[i])));
	mla_json_put(o, "samples", json_integer(s->n));
	mla_json_put(o, "repeats", json_integer(p->times[i]));
	mla_json_put(o, "median_ms", json_real(s->median));
	mla_json_put(o, "min_ms", json_real(s->min));
	mla_json_put(o, "q1_ms", json_real(s->q1));
	mla_json_put(o, "q3_ms", json_real(s->q3));
	mla_json_put(o, "max_ms", json_real(s->max));
	return o;
}

const mla_bench_field mla_bench_fields[MLA_BENCH_FIELDS] = {
	{"", offsetof(mla_bench_paired, stats.median)},
	{"_low", offsetof(mla_bench_paired, low)},
	{"_high", offsetof(mla_bench_paired, high)},
	{"_min", offsetof(mla_bench_paired, stats.min)},
	{"_q1", offsetof(mla_bench_paired, stats.q1)},
	{"_q3", offsetof(mla_bench_paired, stats.q3)},
	{"_max", offsetof(mla_bench_paired, stats.max)},
};

/* NAME, NAME_low, ... with the unit at the end of each key. */
static void put_paired(json_t *o, const char *name, const char *unit, const mla_bench_paired *p)
{
	char key[MLA_BENCH_KEY];

	for (uint32_t i = 0; i < MLA_BENCH_FIELDS; i++) {
		const mla_bench_field *f = &mla_bench_fields[i];

		snprintf(key, sizeof key, "%s%s%s", name, f->key, unit);
		mla_json_put(o, key, json_real(*(const double *)((const char *)p + f->at)));
	}
}

static json_t *point(const mla_bench_point *p)
{
	json_t *o = json_object();
	int ahead = mla_bench_ahead(p);

	mla_json_put(o, "cached", json_integer(p->cached));
	mla_json_put(o, "width", json_integer(p->width));
	mla_json_put(o, "same_arm", json_boolean(mla_bench_same(p)));
	mla_json_put(o, "stock", side(p, 0));
	mla_json_put(o, "patched", side(p, 1));
	put_paired(o, "ratio", "", &p->ratio);
	if (mla_bench_second(p))
		put_paired(o, "difference", "_ms", &p->more);
	mla_json_put(o, "ahead",
	             ahead < 0 || mla_bench_same(p) || mla_bench_second(p)
	                     ? json_null()
	                     : mla_json_z(mla_bench_arm_name(p->arm[ahead])));
	return o;
}

static json_t *number_or_null(uint32_t n)
{
	return n ? json_integer(n) : json_null();
}

static json_t *length(const mla_bench_report *r, const mla_bench_length *l)
{
	json_t *o = json_object(), *second = json_null();

	mla_json_put(o, "cached", json_integer(l->cached));
	if (r->spec.kind == MLA_BENCH_ATTENTION) {
		mla_json_put(o, "threshold", json_integer(l->threshold));
		mla_json_put(o, "absorbed_ahead_to", number_or_null(l->absorbed_to));
		mla_json_put(o, "materialised_ahead_from", number_or_null(l->materialised_from));
	}
	mla_json_put(o, "apart", l->has_same ? json_real(l->apart) : json_null());
	mla_json_put(o, "spread", l->has_same ? json_real(l->spread) : json_null());
	mla_json_put(o, "valid", json_boolean(l->valid));
	if (l->has_second) {
		second = json_object();
		put_paired(second, "stock", "_ms", &l->second[0]);
		put_paired(second, "patched", "_ms", &l->second[1]);
	}
	mla_json_put(o, "second_query", second);
	return o;
}

static json_t *bench(const mla_bench_report *r)
{
	json_t *o = json_object(), *points = json_array(), *lengths = json_array();
	const mla_bench_spec *s = &r->spec;
	mla_bench_lengths list = {0};

	mla_json_put(o, "kind", mla_json_z(mla_bench_kind_name(s->kind)));
	mla_json_put(o, "backend", mla_json_z(r->backend));
	mla_json_put(o, "note", r->note[0] ? mla_json_z(r->note) : json_null());
	mla_json_put(o, "threads", number_or_null(r->threads));
	if (s->kind != MLA_BENCH_POOL) {
		mla_json_put(o, "geometry", geometry(s));
		mla_json_put(o, "heads", json_integer(s->heads));
		mla_json_put(o, "threshold", json_integer(mla_geometry_threshold(&s->geometry, 0)));
	}
	mla_json_put(o, "top_k", number_or_null(s->top_k));
	mla_json_put(o, "samples", json_integer(r->effort.samples));
	mla_json_put(o, "patience_s", json_integer(r->effort.patience));
	mla_json_put(o, "apart_limit", json_real(MLA_BENCH_APART));
	mla_json_put(o, "valid", json_boolean(mla_bench_valid(r->points, r->n)));
	mla_json_put(o, "interrupted", json_boolean(r->interrupted));
	for (uint32_t i = 0; i < r->n; i++)
		if (r->points[i].measured)
			json_array_append_new(points, point(&r->points[i]));
	mla_bench_report_lengths(&list, r);
	for (uint32_t i = 0; i < list.n; i++)
		json_array_append_new(lengths, length(r, &list.v[i]));
	mla_vec_free(&list);
	mla_json_put(o, "points", points);
	mla_json_put(o, "lengths", lengths);
	return o;
}

/* With all digits: read back, it gives the same tables and charts. */
void mla_bench_json(FILE *to, const mla_bench_report *r)
{
	json_t *o = json_object();

	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "bench", bench(r));
	json_dumpf(o, to, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', to);
	json_decref(o);
}

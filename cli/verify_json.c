/* The verdicts in the machine format. */
#include "analyzer/str.h"
#include "cli/json.h"
#include "cli/verify.h"
#include "cli/verify_pool.h"

static json_t *geometry(const mla_site_verdict *v)
{
	json_t *o = json_object();

	mla_json_put(o, "kv_lora_rank", json_integer(v->geometry.rank));
	mla_json_put(o, "qk_nope_head_dim", json_integer(v->geometry.nope));
	mla_json_put(o, "qk_rope_head_dim", json_integer(v->geometry.rope));
	mla_json_put(o, "v_head_dim", json_integer(v->geometry.value));
	mla_json_put(o, "source", mla_json_z(mla_source_name(v->source)));
	return o;
}

static json_t *one_case(const mla_site_verdict *v, const mla_site_case *c)
{
	json_t *o = json_object();

	mla_json_put(o, "width", json_integer(c->width));
	mla_json_put(o, "cached", json_integer(c->cached));
	mla_json_put(o, "batch", json_integer(c->batch));
	mla_json_put(o, "padded", json_boolean(c->padded));
	mla_json_put(o, "quantised_cache", json_boolean(c->quantised));
	mla_json_put(o, "topk", c->topk ? json_integer(c->topk) : json_null());
	mla_json_put(o, "dtype", mla_json_z(c->has_bf16 ? "bfloat16" : "float64"));
	mla_json_put(o, "bits", c->has_bf16 ? json_integer(v->bits) : json_null());
	mla_json_put(o, "arm_before",
	             mla_json_z(c->split_before ? "split" : mla_tail_arm_name(c->before)));
	mla_json_put(o, "arm_after", mla_json_z(mla_tail_arm_name(c->after)));
	mla_json_put(o, "max_abs", c->has_bf16 ? json_real(c->max_abs) : json_null());
	mla_json_put(o, "ulp", c->has_bf16 ? json_real(c->ulp) : json_null());
	mla_json_put(o, "rms_rel", c->has_bf16 ? json_real(c->rms_rel) : json_null());
	mla_json_put(o, "rel_f64", json_real(c->rel_f64));
	return o;
}

static json_t *counts(const mla_site_verdict *v, bool whole)
{
	json_t *o;

	if (!v->counted)
		return json_null();
	o = json_object();
	mla_json_put(o, "form",
	             mla_json_z(whole ? "per head, whole call" : "per head, per cached token"));
	mla_json_put(o, "absorbed_at_t", json_integer((json_int_t)v->absorbed_at_t));
	mla_json_put(o, "materialised_at_t", json_integer((json_int_t)v->materialised_at_t));
	mla_json_put(o, "crossover", json_integer(v->crossover));
	return o;
}

/* {"kernels": {"matmul": 12, ...}, "host": {...}}: who ran the operations that are not f64. */
static json_t *operations(const mla_uses *u)
{
	json_t *o = json_object(), *kernels = json_object(), *host = json_object();

	for (uint32_t i = 0; i < u->n; i++) {
		if (u->v[i].kernel)
			mla_json_put(kernels, u->v[i].op, json_integer((json_int_t)u->v[i].kernel));
		if (u->v[i].host)
			mla_json_put(host, u->v[i].op, json_integer((json_int_t)u->v[i].host));
	}
	mla_json_put(o, "kernels", kernels);
	mla_json_put(o, "host", host);
	return o;
}

static json_t *tails(const mla_tail_check *c)
{
	double f64 = 0, bf16 = 0;
	json_t *o = json_object();

	for (uint32_t i = 0; i < c->n; i++) {
		f64 = c->cases[i].rel_f64 > f64 ? c->cases[i].rel_f64 : f64;
		bf16 = c->cases[i].max_abs > bf16 ? c->cases[i].max_abs : bf16;
	}
	mla_json_put(o, "agree", json_boolean(c->passes));
	mla_json_put(o, "cases", json_integer(c->n));
	mla_json_put(o, "rel_f64", json_real(f64));
	mla_json_put(o, "max_abs", json_real(bf16));
	mla_json_put(o, "threshold", json_integer(c->threshold));
	mla_json_put(o, "crossover", json_integer(c->crossover));
	return o;
}

static json_t *site(const mla_verdict *all)
{
	json_t *o = json_object(), *lines = json_array(), *cases = json_array();
	json_t *notes = json_array();
	const mla_site_verdict *v = &all->result;
	const mla_site *s = all->fix->site;

	for (uint32_t i = 0; i < s->test_count; i++)
		json_array_append_new(lines,
		                      json_integer(mla_text_line(s->test[i]->module->text,
		                                                 s->test[i]->node->span.start)));
	for (uint32_t i = 0; i < v->case_count; i++)
		json_array_append_new(cases, one_case(v, &v->cases[i]));
	for (uint32_t i = 0; i < v->notes; i++)
		json_array_append_new(notes, mla_json_z(v->note[i]));
	mla_json_put(o, "code", mla_json_z("MLA001"));
	mla_json_put(o, "path", mla_json_z(s->module->path));
	mla_json_put(o, "symbol", mla_json_text(s->symbol));
	mla_json_put(o, "lines", lines);
	mla_json_put(o, "geometry", geometry(v));
	mla_json_put(o, "threshold", v->threshold ? json_integer(v->threshold) : json_null());
	mla_json_put(o, "verdict", mla_json_z(mla_outcome_name(v->outcome)));
	mla_json_put(o, "reason", v->reason[0] ? mla_json_z(v->reason) : json_null());
	mla_json_put(o, "notes", notes);
	mla_json_put(o, "cases", cases);
	mla_json_put(o, "counts", counts(v, all->whole_call));
	mla_json_put(o, "operations", operations(&v->uses));
	mla_json_put(o, "generic_tails", all->has_tails ? tails(&all->tails) : json_null());
	return o;
}

void mla_verify_json(FILE *to, const mla_verdicts *v)
{
	json_t *o = json_object(), *sites = json_array();

	for (uint32_t i = 0; i < v->v.n; i++)
		json_array_append_new(sites, v->v.v[i].fix->pool ? mla_verify_pool_json(&v->v.v[i])
		                                                 : site(&v->v.v[i]));
	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "backend", mla_json_z(v->device.kind));
	mla_json_put(o, "device", mla_json_z(v->device.label));
	mla_json_put(o, "backend_note",
	             v->device.note[0] ? mla_json_z(v->device.note) : json_null());
	mla_json_put(o, "sites", sites);
	json_dumpf(o, to, JSON_INDENT(1));
	fputc('\n', to);
	json_decref(o);
}

/* The verdicts in the machine format. */
#include "analyzer/str.h"
#include "cli/json.h"
#include "cli/verify.h"

static json_t *geometry(const mla_verdict *v)
{
	json_t *o = json_object();

	mla_json_put(o, "kv_lora_rank", json_integer(v->geometry.rank));
	mla_json_put(o, "qk_nope_head_dim", json_integer(v->geometry.nope));
	mla_json_put(o, "qk_rope_head_dim", json_integer(v->geometry.rope));
	mla_json_put(o, "v_head_dim", json_integer(v->geometry.value));
	mla_json_put(o, "source", mla_json_z(mla_source_name(v->source)));
	return o;
}

static json_t *one_case(const mla_tail_case *c)
{
	json_t *o = json_object();

	mla_json_put(o, "width", json_integer(c->width));
	mla_json_put(o, "cached", json_integer(c->cached));
	mla_json_put(o, "batch", json_integer(c->batch));
	mla_json_put(o, "padded", json_boolean(c->padded));
	mla_json_put(o, "dtype", mla_json_z(mla_dtype_name(c->dtype)));
	mla_json_put(o, "bits", json_integer(c->bits));
	mla_json_put(o, "arm_before", mla_json_z(mla_tail_arm_name(c->before)));
	mla_json_put(o, "arm_after", mla_json_z(mla_tail_arm_name(c->after)));
	mla_json_put(o, "max_abs", json_real(c->max_abs));
	mla_json_put(o, "ulp", json_real(c->ulp));
	mla_json_put(o, "rms_rel", json_real(c->rms_rel));
	mla_json_put(o, "rel_f64", json_real(c->rel_f64));
	return o;
}

static json_t *counts(const mla_tail_check *t, uint32_t threshold)
{
	json_t *o = json_object();

	mla_json_put(o, "form",
	             mla_json_z(t->threshold == threshold ? "per head, per cached token"
	                                                  : "per head, whole call"));
	mla_json_put(o, "queries", json_integer(t->threshold));
	mla_json_put(o, "absorbed_at_t", json_integer((json_int_t)t->at_threshold.absorbed));
	mla_json_put(o, "materialised_at_t",
	             json_integer((json_int_t)t->at_threshold.materialised));
	mla_json_put(o, "crossover", json_integer(t->crossover));
	return o;
}

static json_t *site(const mla_verdict *v)
{
	json_t *o = json_object(), *lines = json_array(), *cases = json_array();
	const mla_site *s = v->site;

	for (uint32_t i = 0; i < s->test_count; i++)
		json_array_append_new(lines,
		                      json_integer(mla_text_line(s->test[i]->module->text,
		                                                 s->test[i]->node->span.start)));
	for (uint32_t i = 0; v->tails && i < v->tails->n; i++)
		json_array_append_new(cases, one_case(&v->tails->cases[i]));
	mla_json_put(o, "code", mla_json_z("MLA001"));
	mla_json_put(o, "path", mla_json_z(s->module->path));
	mla_json_put(o, "symbol", mla_json_text(s->symbol));
	mla_json_put(o, "lines", lines);
	mla_json_put(o, "geometry", geometry(v));
	mla_json_put(o, "threshold", json_integer(v->threshold));
	mla_json_put(o, "verdict", mla_json_z(mla_verdict_name(v->verdict)));
	mla_json_put(o, "reason", v->reason[0] ? mla_json_z(v->reason) : json_null());
	mla_json_put(o, "notes", json_array());
	/* Which code the numbers are of: the method itself, or the generic tails. */
	mla_json_put(o, "measured", mla_json_z("generic tails"));
	mla_json_put(o, "cases", cases);
	mla_json_put(o, "counts", v->tails ? counts(v->tails, v->threshold) : json_null());
	return o;
}

void mla_verify_json(FILE *to, const mla_verdicts *v)
{
	json_t *o = json_object(), *sites = json_array();

	for (uint32_t i = 0; i < v->v.n; i++)
		json_array_append_new(sites, site(&v->v.v[i]));
	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "backend", mla_json_z("cpu"));
	mla_json_put(o, "sites", sites);
	json_dumpf(o, to, JSON_INDENT(1));
	fputc('\n', to);
	json_decref(o);
}

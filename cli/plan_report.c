/* The table and the machine format of plan. */
#include "cli/json.h"
#include "cli/options.h"
#include "cli/plan.h"

static void head(FILE *to, const mla_plan *p)
{
	fprintf(to, "conditional acceptances ");
	for (uint32_t i = 0; i < p->depth; i++)
		fprintf(to, "%s%g", i ? ", " : "", p->accept[i]);
	fprintf(to, "; a draft token costs %g ms\n", p->draft);
	if (p->bench)
		fprintf(to, "verify costs: medians in %s, %s%s\n", p->bench, p->backend,
		        p->alone ? "; attention of one layer alone, see --layers and --decode-ms"
		                 : "");
	else if (p->flat)
		fprintf(to, "verify costs: as much as a step of plain decoding%s\n",
		        p->unit ? ", which counts as 1 ms" : "");
	else
		fprintf(to, "verify costs: as given\n");
}

static void verdict(FILE *to, const mla_plan *p, const mla_plan_costs *c)
{
	double best = 0;

	for (uint32_t i = 0; i < p->depth; i++)
		best = c->at[i].speedup > best ? c->at[i].speedup : best;
	if (c->best)
		fprintf(to, "depth %u: %.2f times plain decoding\n", c->best, best);
	else
		fprintf(to,
		        "do not speculate: no depth is faster than plain decoding (%.2f times at "
		        "best)\n",
		        best);
}

void mla_plan_text(FILE *to, const mla_plan *p)
{
	head(to, p);
	for (uint32_t i = 0; i < p->costs.n; i++) {
		const mla_plan_costs *c = &p->costs.v[i];

		fprintf(to, "\n");
		if (c->cached)
			fprintf(to, "%s, T = %u: ", c->name, c->cached);
		fprintf(to, "plain decoding %.4g ms a token\n", c->decode);
		fprintf(to, "depth  tokens/step  verify ms    step ms  speed-up\n");
		for (uint32_t k = 0; k < p->depth; k++)
			fprintf(to, "%5u  %11.3f  %9.4g  %9.4g  %8.2f\n", k + 1, c->at[k].tokens,
			        c->at[k].verify, c->at[k].step, c->at[k].speedup);
		verdict(to, p, c);
	}
}

static json_t *depth(const mla_depth *d, uint32_t k)
{
	json_t *o = json_object();

	mla_json_put(o, "depth", json_integer(k));
	mla_json_put(o, "tokens", json_real(d->tokens));
	mla_json_put(o, "verify_ms", json_real(d->verify));
	mla_json_put(o, "step_ms", json_real(d->step));
	mla_json_put(o, "speedup", json_real(d->speedup));
	return o;
}

static json_t *costs(const mla_plan *p, const mla_plan_costs *c)
{
	json_t *o = json_object(), *depths = json_array();

	for (uint32_t k = 0; k < p->depth; k++)
		json_array_append_new(depths, depth(&c->at[k], k + 1));
	mla_json_put(o, "runtime", mla_json_z(c->name));
	mla_json_put(o, "cached", c->cached ? json_integer(c->cached) : json_null());
	mla_json_put(o, "decode_ms", json_real(c->decode));
	mla_json_put(o, "depths", depths);
	mla_json_put(o, "best_depth", c->best ? json_integer(c->best) : json_null());
	return o;
}

void mla_plan_json(FILE *to, const mla_plan *p)
{
	json_t *o = json_object(), *plan = json_object();
	json_t *accept = json_array(), *list = json_array();

	for (uint32_t i = 0; i < p->depth; i++)
		json_array_append_new(accept, json_real(p->accept[i]));
	for (uint32_t i = 0; i < p->costs.n; i++)
		json_array_append_new(list, costs(p, &p->costs.v[i]));
	mla_json_put(plan, "accept", accept);
	mla_json_put(plan, "draft_ms", json_real(p->draft));
	mla_json_put(plan, "bench", p->bench ? mla_json_z(p->bench) : json_null());
	mla_json_put(plan, "plans", list);
	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "plan", plan);
	json_dumpf(o, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	fputc('\n', to);
	json_decref(o);
}

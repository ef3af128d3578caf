/* The verdicts as a table for a person. */
#include "analyzer/str.h"
#include "cli/verify.h"
#include "cli/verify_pool.h"

#include <inttypes.h>
#include <limits.h>

static void put_lines(FILE *to, const mla_site *s)
{
	fprintf(to, "line%s ", s->test_count == 1 ? "" : "s");
	for (uint32_t i = 0; i < s->test_count; i++)
		fprintf(to, "%s%u", i ? ", " : "",
		        mla_text_line(s->test[i]->module->text, s->test[i]->node->span.start));
}

static void put_case(FILE *to, const mla_site_case *c)
{
	fprintf(to, "  %5u %6u %5u%s  %-12s %-12s", c->width, c->cached, c->batch,
	        c->padded ? "p" : " ", c->split_before ? "split" : mla_tail_arm_name(c->before),
	        mla_tail_arm_name(c->after));
	if (c->has_bf16)
		fprintf(to, " %10.3e %6.2f %10.3e", c->max_abs, c->ulp, c->rms_rel);
	else
		fprintf(to, " %10s %6s %10s", "-", "-", "-");
	fprintf(to, " %10.3e%s\n", c->rel_f64,
	        c->topk        ? "  sparse"
	        : c->quantised ? "  quantised cache"
	                       : "");
}

static void put_cases(FILE *to, const mla_site_verdict *v)
{
	if (!v->case_count)
		return;
	fprintf(to,
	        "  the method after the fix against its materialised arm: bf16 with %u-bit "
	        "up-projections, f64\n  %5s %6s %6s  %-12s %-12s %10s %6s %10s %10s\n",
	        v->bits, "width", "cached", "batch", "before", "after", "max abs", "ULP", "RMS rel",
	        "f64 rel");
	for (uint32_t i = 0; i < v->case_count; i++)
		put_case(to, &v->cases[i]);
	if (v->rms_ratio > 0)
		fprintf(to, "  RMS error at width 8 to width 2: %.2f\n", v->rms_ratio);
}

static void put_counts(FILE *to, const mla_site_verdict *v)
{
	if (v->counted)
		fprintf(to,
		        "  multiply-adds a head at %u queries: absorbed %" PRIu64
		        ", materialised %" PRIu64 "; they cross after %u\n",
		        v->threshold, v->absorbed_at_t, v->materialised_at_t, v->crossover);
}

/* Who computed the bf16 columns: how many operations kernels ran, and what had none. */
static void put_uses(FILE *to, const mla_uses *u, const mla_replay_device *device)
{
	uint64_t kernels = 0, host = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		kernels += u->v[i].kernel;
		host += u->v[i].host;
	}
	if (!kernels && !host)
		return;
	fprintf(to, "  bf16 computed by %s: %" PRIu64 " operations", device->label, kernels);
	if (host)
		fprintf(to, ", without a kernel %" PRIu64 ":", host);
	for (uint32_t i = 0; i < u->n; i++)
		if (u->v[i].host)
			fprintf(to, " %s %" PRIu64, u->v[i].op, u->v[i].host);
	fprintf(to, "; f64 by the host's code\n");
}

static void put_tails(FILE *to, const mla_tail_check *c)
{
	double f64 = 0, bf16 = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		f64 = c->cases[i].rel_f64 > f64 ? c->cases[i].rel_f64 : f64;
		bf16 = c->cases[i].max_abs > bf16 ? c->cases[i].max_abs : bf16;
	}
	fprintf(to,
	        "  not this code, but the generic tails at this geometry: %s over %u cases (f64 "
	        "rel "
	        "%.3e, bf16 max abs %.3e), threshold %u, multiply-adds cross after %u\n",
	        c->passes ? "agree" : "do not agree", c->n, f64, bf16, c->threshold, c->crossover);
}

static void put_site(FILE *to, const mla_verdict *v, const mla_replay_device *device)
{
	const mla_site_verdict *r = &v->result;
	const mla_site *s = v->fix->site;
	const mla_geometry *g = &r->geometry;
	char path[PATH_MAX];

	mla_file_display(path, sizeof(path), v->tree->tree, s->module->path);
	fprintf(to, "%s: %.*s, ", path, MLA_ARG(s->symbol));
	put_lines(to, s);
	fprintf(to, "\n  geometry r=%u n=%u p=%u v=%u (%s)", g->rank, g->nope, g->rope, g->value,
	        mla_source_name(r->source));
	if (r->threshold)
		fprintf(to, ", threshold %u", r->threshold);
	fprintf(to, "\n  verdict: %s%s%s\n", mla_outcome_name(r->outcome), r->reason[0] ? ": " : "",
	        r->reason);
	if (!v->fix->edits.n)
		fprintf(to, "  no fix: %.*s\n", MLA_ARG(v->fix->refusal));
	for (uint32_t k = 0; k < r->notes; k++)
		fprintf(to, "  note: %s\n", r->note[k]);
	put_cases(to, r);
	put_counts(to, r);
	put_uses(to, &r->uses, device);
	if (v->has_tails)
		put_tails(to, &v->tails);
}

void mla_verify_text(FILE *to, const mla_verdicts *all)
{
	if (all->device.note[0])
		fprintf(to, "backend %s: %s\n\n", all->device.kind, all->device.note);
	for (uint32_t i = 0; i < all->v.n; i++) {
		if (i)
			fputc('\n', to);
		if (all->v.v[i].fix->pool)
			mla_verify_pool_text(to, &all->v.v[i]);
		else
			put_site(to, &all->v.v[i], &all->device);
	}
}

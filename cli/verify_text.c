/* The verdicts as a table for a person. */
#include "analyzer/str.h"
#include "cli/verify.h"

#include <limits.h>

static void put_lines(FILE *to, const mla_site *s)
{
	fprintf(to, "line%s ", s->test_count == 1 ? "" : "s");
	for (uint32_t i = 0; i < s->test_count; i++)
		fprintf(to, "%s%u", i ? ", " : "",
		        mla_text_line(s->test[i]->module->text, s->test[i]->node->span.start));
}

static void put_cases(FILE *to, const mla_tail_check *t)
{
	fprintf(to, "  %5s %6s  %-12s %-13s %11s %6s %11s %11s\n", "width", "cached", "forced",
	        "against", "max abs", "ULP", "RMS rel", "f64 rel");
	for (uint32_t i = 0; i < t->n; i++) {
		const mla_tail_case *c = &t->cases[i];

		fprintf(to, "  %5u %6u  %-12s %-13s %11.3e %6.2f %11.3e %11.3e\n", c->width,
		        c->cached, mla_tail_arm_name(c->before), mla_tail_arm_name(c->after),
		        c->max_abs, c->ulp, c->rms_rel, c->rel_f64);
	}
}

static void put_tails(FILE *to, const mla_verdict *v)
{
	const mla_tail_check *t = v->tails;

	fprintf(to,
	        "  the generic tails at this geometry (not this method): bf16, %u-bit "
	        "up-projections,\n  ULP at the output's magnitude; f64 without rounding\n",
	        t->cases[0].bits);
	put_cases(to, t);
	fprintf(to, "  RMS error at width 8 to width 2: %.2f; control, a missing mask: %s\n",
	        t->rms_ratio, t->mask_matters ? "the outputs differ" : "NOT noticed");
	if (v->threshold > 1)
		fprintf(to,
		        "  multiply-adds a head%s at %u queries: absorbed %llu, materialised %llu; "
		        "they cross after %u\n",
		        t->threshold == v->threshold ? " and cached token" : "", t->threshold,
		        (unsigned long long)t->at_threshold.absorbed,
		        (unsigned long long)t->at_threshold.materialised, t->crossover);
}

void mla_verify_text(FILE *to, const mla_verdicts *all)
{
	for (uint32_t i = 0; i < all->v.n; i++) {
		const mla_verdict *v = &all->v.v[i];
		const mla_geometry *g = &v->geometry;
		const mla_tail_check *shown = NULL;
		char path[PATH_MAX];

		mla_file_display(path, sizeof(path), v->tree->tree, v->site->module->path);
		fprintf(to, "%s%s: %.*s, ", i ? "\n" : "", path, MLA_ARG(v->site->symbol));
		put_lines(to, v->site);
		fprintf(to, "\n  geometry r=%u n=%u p=%u v=%u (%s), threshold %u\n", g->rank,
		        g->nope, g->rope, g->value, mla_source_name(v->source), v->threshold);
		fprintf(to, "  verdict: %s%s%s\n", mla_verdict_name(v->verdict),
		        v->reason[0] ? ": " : "", v->reason);
		for (uint32_t k = 0; k < i; k++)
			if (all->v.v[k].tails == v->tails)
				shown = v->tails;
		if (v->tails && !shown)
			put_tails(to, v);
		else if (v->tails)
			fprintf(to, "  the generic tails at this geometry: as above\n");
	}
}

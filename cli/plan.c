/* The plan verb: costs from the command line or a report of bench, and what each depth gains. */
#include "cli/bench.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <string.h>

/* Numbers of a list, each at most `max`. */
static int numbers(double *out, uint32_t *n, const char *option, const char *text, double max)
{
	*n = 0;
	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");

		if (*n == MLA_DEPTH_MAX)
			return mla_error(MLA_ECONFIG, "--%s: more than %d numbers", option,
			                 MLA_DEPTH_MAX);
		if (!mla_options_number(&out[*n], p, len) || out[*n] > max)
			return mla_error(MLA_ECONFIG,
			                 "--%s: '%s' is not a list of numbers from 0 to %g, "
			                 "separated by commas",
			                 option, text, max);
		++*n;
		p += len;
		if (!*p)
			return 0;
	}
}

static int from_options(mla_plan *plan, const mla_options *o)
{
	double verify[MLA_DEPTH_MAX];
	uint32_t given = 0;
	mla_plan_costs costs = {.name = "given"};
	int error;

	if (o->layers || o->cache_length > 0)
		return mla_error(MLA_ECONFIG, "--layers and --cache-length belong to --bench");
	if (o->verify_ms && o->decode_ms < 0)
		return mla_error(MLA_ECONFIG, "--verify-ms needs --decode-ms, what a step of plain "
		                              "decoding takes");
	costs.decode = o->decode_ms < 0 ? 1 : o->decode_ms;
	if (o->verify_ms && (error = numbers(verify, &given, "verify-ms", o->verify_ms, 1e9)) < 0)
		return error;
	if (costs.decode <= 0)
		return mla_error(MLA_ECONFIG, "--decode-ms must be above 0");
	for (uint32_t i = 0; i < given; i++)
		if (verify[i] <= 0)
			return mla_error(MLA_ECONFIG, "--verify-ms must be above 0");
	for (uint32_t i = 0; i < plan->depth; i++)
		costs.verify[i] = !given ? costs.decode : i < given ? verify[i] : verify[given - 1];
	plan->flat = !given;
	plan->unit = o->decode_ms < 0;
	mla_vec_push(&plan->costs, costs);
	return 0;
}

static const mla_bench_point *find(const mla_bench_report *r, uint32_t cached, uint32_t width,
                                   bool same)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->points[i].cached == cached && r->points[i].width == width &&
		    mla_bench_same(&r->points[i]) == same && !mla_bench_second(&r->points[i]))
			return &r->points[i];
	return NULL;
}

/*
 * One side at one length. The rest of a step, everything but attention, takes as long for a few
 * queries as for one: it reads the same weights.
 */
static int add_side(mla_plan *plan, const mla_bench_report *r, const mla_options *o,
                    const mla_bench_point *one, unsigned side)
{
	static const char *const names[] = {"stock", "patched"};
	uint32_t threshold = mla_geometry_threshold(&r->spec.geometry, 0);
	double layers = o->layers ? (double)o->layers : 1, rest;
	mla_plan_costs costs = {.cached = one->cached, .name = names[side]};

	costs.decode = o->decode_ms < 0 ? layers * one->ms[side].median : o->decode_ms;
	rest = costs.decode - layers * one->ms[side].median;
	if (rest < 0)
		return mla_error(MLA_ECONFIG,
		                 "--decode-ms %g is less than attention alone takes at %u cached "
		                 "positions, %g ms",
		                 o->decode_ms, one->cached, layers * one->ms[side].median);
	for (uint32_t i = 0; i < plan->depth; i++) {
		const mla_bench_point *p = find(r, one->cached, i + 2, false);
		unsigned arm = side && i + 2 <= threshold;

		if (!p)
			return mla_error(MLA_ECONFIG,
			                 "%s: depth %u verifies %u queries at once, and that width "
			                 "is not measured at %u cached positions; run bench with "
			                 "--widths",
			                 o->bench, i + 1, i + 2, one->cached);
		costs.verify[i] = rest + layers * p->ms[arm].median;
	}
	mla_vec_push(&plan->costs, costs);
	return 0;
}

static int check_report(const mla_bench_report *r, const mla_options *o)
{
	if (r->spec.kind != MLA_BENCH_ATTENTION)
		return mla_error(MLA_ECONFIG, "%s: not a report of bench on dense attention",
		                 o->bench);
	if (!o->keep_invalid && !mla_bench_valid(r->points, r->n))
		return mla_error(MLA_ECONFIG,
		                 "%s: the same arm differs from itself by more than 2 %%, so the "
		                 "run is invalid; --keep-invalid uses it all the same",
		                 o->bench);
	return 0;
}

/* Lengths at which only the second query was measured are left out. */
static int from_bench(mla_plan *plan, const mla_options *o)
{
	mla_bench_report r;
	int error = o->verify_ms ? mla_error(MLA_ECONFIG, "--bench and --verify-ms exclude each "
	                                                  "other")
	                         : mla_bench_json_read(&r, o->bench);

	if (error < 0)
		return error;
	plan->alone = o->decode_ms < 0 && !o->layers;
	error = check_report(&r, o);
	for (uint32_t i = 0; i < r.n && error == 0; i++) {
		const mla_bench_point *p = &r.points[i];
		bool wanted = o->cache_length > 0 ? p->cached == o->cache_length
		                                  : find(&r, p->cached, 1, false) != NULL;

		if (p->width != 1 || !mla_bench_same(p) || !wanted)
			continue;
		error = add_side(plan, &r, o, p, 0);
		if (error == 0)
			error = add_side(plan, &r, o, p, 1);
	}
	if (error == 0 && !plan->costs.n)
		error = o->cache_length > 0
		                ? mla_error(MLA_ECONFIG,
		                            "%s: nothing is measured at %lld cached "
		                            "positions",
		                            o->bench, (long long)o->cache_length)
		                : mla_error(MLA_ECONFIG, "%s: no sweep over widths", o->bench);
	snprintf(plan->backend, sizeof(plan->backend), "%s", r.backend);
	mla_bench_report_free(&r);
	return error;
}

int mla_verb_plan(const mla_options *o)
{
	mla_plan plan = {.draft = o->draft_ms < 0 ? 0 : o->draft_ms, .bench = o->bench};
	mla_outputs to;
	int error = 0, status;

	if (o->arg_count)
		error = mla_error(MLA_ECONFIG, "plan takes no argument '%s'", o->args[0]);
	else if (!o->accept)
		error = mla_error(MLA_ECONFIG, "plan needs --accept");
	if (error == 0)
		error = numbers(plan.accept, &plan.depth, "accept", o->accept, 1);
	if (error == 0)
		error = o->bench ? from_bench(&plan, o) : from_options(&plan, o);
	for (uint32_t i = 0; i < plan.costs.n; i++) {
		mla_plan_costs *c = &plan.costs.v[i];

		mla_speculate(c->at, plan.accept, c->verify, plan.depth, c->decode, plan.draft);
		c->best = mla_best_depth(c->at, plan.depth);
	}
	if (error == 0)
		error = mla_outputs_open(&to, o);
	if (error < 0) {
		status = mla_fail();
	} else {
		for (uint32_t i = 0; i < to.n; i++)
			mla_formats[to.v[i].format].plan(to.v[i].to, &plan);
		status = mla_outputs_close(&to, MLA_EXIT_CLEAN);
	}
	mla_vec_free(&plan.costs);
	return status;
}

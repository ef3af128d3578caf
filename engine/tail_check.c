/* Runs the tails over a verdict's cases and judges them. Owns the list of cases; prints nothing. */
#include "engine/tail_check.h"

#include <math.h>
#include <string.h>

static const struct {
	uint32_t cached, width;
} plan[MLA_TAIL_CASES] = {
	{0, 2},  {0, 3},   {0, 4},   {0, 8},   {64, 2},  {64, 3},   {64, 4},
	{64, 8}, {513, 2}, {513, 3}, {513, 4}, {513, 8}, {2048, 1}, {2048, 2},
};

/* The lengths at which the steadiness of the rounding error and the mask are looked at. */
enum { RMS_CACHED = 513, RMS_NARROW = 2, RMS_WIDE = 8, MASK_CACHED = 64 };
/* Outputs to average over at width 2: with 1024 the ratio of 40 seeds was within 0.94 and 1.11. */
enum { RMS_OUTPUTS = 1024 };

/* One precision: its engine and the weights that serve all cases. */
typedef struct {
	mla_engine *e;
	mla_tail_weights weights;
	const mla_tail_check_options *options;
	mla_tail_spec spec;
} lane;

static int lane_open(lane *l, const mla_tail_check_options *o, bool oracle)
{
	uint64_t most = o->max_work ? o->max_work : MLA_TAIL_WORK;

	l->options = o;
	l->e = mla_engine_new(
		&(mla_engine_options){.oracle = oracle, .max_work = most, .backend = o->backend});
	l->spec = (mla_tail_spec){.geometry = o->geometry,
	                          .heads = o->heads ? o->heads : 2,
	                          .batch = o->batch ? o->batch : 1,
	                          .bits = o->bits ? o->bits : 4,
	                          .queries = 1,
	                          .cache_len = 1,
	                          .seed = o->seed};
	return mla_tail_draw_weights(&l->weights, l->e, &l->spec);
}

/* Absorbed against materialised; `drop_mask` takes the mask from the absorbed arm. */
static int compare_arms(mla_comparison *out, lane *l, uint32_t width, uint32_t cached,
                        uint64_t reseed, bool drop_mask)
{
	mla_tensor_scope scope = mla_tensor_scope_open(l->e);
	mla_tail_spec spec = l->spec;
	mla_tail_inputs in;
	mla_tensor *before, *after;
	int error;

	spec.queries = width;
	spec.cache_len = (int64_t)cached + width;
	spec.seed += reseed;
	if ((error = mla_tail_draw(&in, l->e, &spec, &l->weights)) < 0 ||
	    (error = mla_tail_run(&before, l->e, &in, MLA_MATERIALISED)) < 0)
		goto done;
	if (drop_mask)
		in.mask = NULL;
	if (l->options->tamper)
		l->options->tamper(&in, l->options->payload);
	if ((error = mla_tail_run(&after, l->e, &in, MLA_ABSORBED)) == 0)
		error = mla_compare(out, after, before, MLA_BF16);
done:
	mla_tensor_scope_close(l->e, scope, NULL, 0);
	return error;
}

static int run_case(mla_tail_case *out, lane *oracle, lane *bf16, uint32_t width, uint32_t cached)
{
	mla_comparison exact, rounded;
	int error;

	if ((error = compare_arms(&exact, oracle, width, cached, 0, false)) < 0 ||
	    (error = compare_arms(&rounded, bf16, width, cached, 0, false)) < 0)
		return error;
	*out = (mla_tail_case){
		.width = width,
		.cached = cached,
		.batch = bf16->spec.batch,
		.dtype = MLA_BF16,
		.bits = bf16->spec.bits,
		.before = MLA_MATERIALISED,
		.after = MLA_ABSORBED,
		.max_abs = rounded.max_abs,
		.ulp = rounded.ulp,
		.rms_rel = rounded.rms_rel,
		.rel_f64 = exact.rel,
		.agrees_bf16 = mla_compare_agrees(&rounded, MLA_TOLERANCE_BF16),
		.agrees_f64 = mla_compare_agrees(&exact, MLA_TOLERANCE_F64),
	};
	return 0;
}

/* The relative RMS error over as many draws as make enough outputs. */
static int pooled_rms(double *out, lane *l, uint32_t width)
{
	uint64_t outputs =
		(uint64_t)RMS_NARROW * l->spec.heads * l->spec.batch * l->spec.geometry.value;
	uint64_t draws = (RMS_OUTPUTS + outputs - 1) / outputs;
	double apart = 0, reference = 0;
	mla_comparison c;
	int error;

	for (uint64_t i = 0; i < draws; i++) {
		if ((error = compare_arms(&c, l, width, RMS_CACHED, i, false)) < 0)
			return error;
		apart += c.rms_abs * c.rms_abs;
		reference += c.rms_reference * c.rms_reference;
	}
	*out = apart == 0 ? 0 : sqrt(apart / reference);
	return 0;
}

static int check_rms(mla_tail_check *out, lane *bf16)
{
	double narrow, wide;
	int error;

	if ((error = pooled_rms(&narrow, bf16, RMS_NARROW)) < 0 ||
	    (error = pooled_rms(&wide, bf16, RMS_WIDE)) < 0)
		return error;
	/* No error at all is steady; NaN is not, and none of the comparisons lets it through. */
	out->rms_ratio = narrow == 0 && wide == 0 ? 1 : wide / narrow;
	out->rms_steady =
		out->rms_ratio >= MLA_RMS_RATIO_MIN && out->rms_ratio <= MLA_RMS_RATIO_MAX;
	return 0;
}

static int check_mask(mla_tail_check *out, lane *oracle)
{
	mla_comparison c;
	int error;

	if ((error = compare_arms(&c, oracle, RMS_WIDE, MASK_CACHED, 0, true)) < 0)
		return error;
	out->mask_matters = c.finite && !mla_compare_agrees(&c, MLA_TOLERANCE_F64);
	return 0;
}

static int check_counts(mla_tail_check *out, const mla_tail_check_options *o)
{
	int error;

	out->threshold = mla_geometry_threshold(&o->geometry, o->cache_len);
	if ((error = mla_count_crossover(&out->crossover, &o->geometry, o->cache_len)) < 0 ||
	    (error = mla_count_at(&out->at_threshold, &o->geometry, out->threshold, o->cache_len)) <
	            0)
		return error;
	out->counts_match = out->crossover == out->threshold || out->threshold == 1;
	return 0;
}

int mla_tail_check_run(mla_tail_check *out, const mla_tail_check_options *options)
{
	lane oracle = {0}, bf16 = {0};
	int error;

	memset(out, 0, sizeof(*out));
	if ((error = lane_open(&oracle, options, true)) < 0 ||
	    (error = lane_open(&bf16, options, false)) < 0)
		goto done;
	out->group_key = bf16.weights.up_key.group;
	out->group_value = bf16.weights.up_value.group;
	out->f64_agrees = out->bf16_agrees = true;
	for (uint32_t i = 0; i < MLA_TAIL_CASES; i++) {
		mla_tail_case *c = &out->cases[i];

		if ((error = run_case(c, &oracle, &bf16, plan[i].width, plan[i].cached)) < 0)
			goto done;
		out->n++;
		out->f64_agrees &= c->agrees_f64;
		out->bf16_agrees &= c->agrees_bf16;
	}
	if ((error = check_rms(out, &bf16)) < 0 || (error = check_mask(out, &oracle)) < 0 ||
	    (error = check_counts(out, options)) < 0)
		goto done;
	out->passes = out->f64_agrees && out->bf16_agrees && out->rms_steady && out->mask_matters &&
	              out->counts_match;
done:
	mla_engine_free(oracle.e);
	mla_engine_free(bf16.e);
	return error;
}

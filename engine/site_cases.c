/* The numbers of a verdict: the arms against each other and the fix against what it replaces. */
#include "engine/compare.h"
#include "engine/site_subject.h"

#include "analyzer/str.h"

#include <math.h>
#include <stdio.h>

/* A selection small enough that rows are dropped at 64 cached positions. */
enum { SMALL_TOPK = 16 };

/* One precision: the method before and after in machines of the same numbers. */
typedef struct {
	mla_trial *t;
	mla_subject before, after;
	mla_dtype dtype;
	double tolerance;
	uint32_t topk;
	double square[9], reference[9]; /* by width: sums of squares of error and reference */
} bench;

static bool bench_open(bench *b, mla_trial *t, const mla_subject_mode *mode)
{
	*b = (bench){.t = t, .topk = (uint32_t)mode->topk};
	b->dtype = mode->mode == MLA_REPLAY_F64 ? MLA_F64 : MLA_BF16;
	b->tolerance = b->dtype == MLA_F64 ? MLA_TOLERANCE_F64 : MLA_TOLERANCE_BF16;
	if (mla_subject_open(&b->before, t, false, mode) < 0) {
		mla_trial_fault(t, MLA_UNVERIFIED, &b->before, "");
		return false;
	}
	if (t->after && mla_subject_open(&b->after, t, true, mode) < 0) {
		bool raised = mla_machine_fault(b->after.m)->kind == MLA_FAULT_RAISED;

		mla_trial_fault(t, raised ? MLA_REJECTED : MLA_UNVERIFIED, &b->after,
		                raised ? "constructor after the fix" : "");
		return false;
	}
	return true;
}

static void bench_close(bench *b)
{
	mla_subject_close(&b->before, b->t->out);
	mla_subject_close(&b->after, b->t->out);
}

/* Where two results are furthest apart, as "(0, 1, 17)". */
static void worst_at(char text[MLA_SHAPE_TEXT], const mla_tensor *a, const mla_tensor *b)
{
	int64_t at[MLA_DIMS], worst = 0, rest;
	double most = -1;

	for (int64_t i = 0; i < a->count; i++) {
		double d = fabs(mla_tensor_at(a, i) - mla_tensor_at(b, i));

		if (!(d <= most)) {
			most = d;
			worst = i;
		}
	}
	rest = worst;
	for (uint32_t i = a->ndim; i > 0; i--) {
		at[i - 1] = rest % a->shape[i - 1];
		rest /= a->shape[i - 1];
	}
	mla_shape_text(text, a->ndim, at);
}

/* `what` against the reference; false: the verdict is out. */
static bool agree(mla_comparison *c, bench *b, const char *what, const mla_run *run,
                  const mla_tensor *a, const mla_tensor *reference)
{
	char text[96], place[MLA_SHAPE_TEXT];

	if (mla_compare(c, a, reference, b->dtype) < 0) {
		mla_trial_say(b->t, MLA_REJECTED, "%s at %s: %s", what, mla_run_text(text, run),
		              mla_error_last());
		return false;
	}
	if (mla_compare_agrees(c, b->tolerance))
		return true;
	if (!c->finite) {
		mla_trial_say(b->t, MLA_REJECTED, "%s at %s: not a finite number", what,
		              mla_run_text(text, run));
		return false;
	}
	worst_at(place, a, reference);
	mla_trial_say(b->t, MLA_REJECTED,
	              "%s at %s: differs by %.3g at %s, where results reach %.3g (%s)", what,
	              mla_run_text(text, run), c->max_abs, place, c->max_reference,
	              mla_dtype_name(b->dtype));
	return false;
}

/* The width that a run after the fix is to take, from the observed threshold. */
static bool check_arm(bench *b, const mla_run *run, mla_arm_taken expected, const char *when)
{
	mla_arm_taken arm = mla_run_arm(run);
	char text[96];

	if (arm == expected)
		return true;
	mla_trial_say(b->t, MLA_UNVERIFIED, "%s at %s ran %s", when, mla_run_text(text, run),
	              mla_arm_taken_name(arm));
	return false;
}

/* Did every linked test decide as if it were forced to the materialised arm? */
static bool was_forced(const mla_subject *s)
{
	for (uint32_t i = 0; i < s->watches; i++)
		if (s->small_when_true[i] ? s->watch[i].was_true : s->watch[i].was_false)
			return false;
	return true;
}

typedef struct {
	mla_tensor *forced, *absorbed, *after;
	mla_tensor *free; /* NULL: its tests disagreed, so that it is no reference */
	mla_run run_forced, run_absorbed, run_free, run_after;
} results;

/* The method as it is. False: the verdict is out, or it does not run (*skip). */
static bool run_free(results *r, bool *skip, bench *b)
{
	bool ran = mla_subject_run(&r->free, &b->before, &r->run_free, MLA_FREE) == 0;

	if (!ran && mla_machine_fault(b->before.m)->kind != MLA_FAULT_RAISED) {
		mla_trial_fault(b->t, MLA_UNVERIFIED, &b->before, "");
		return false;
	}
	if (mla_subject_split(&b->before)) {
		mla_trial_note(b->t, "where the tests disagree before the fix, what is after it is "
		                     "compared with the materialised arm only");
		r->free = NULL;
		return true;
	}
	*skip = !ran;
	return ran;
}

/* All the runs of one case. False: the verdict is out, or the case does not count (*skip). */
static bool run_all(results *r, bool *skip, bench *b, const mla_run *spec)
{
	mla_trial *t = b->t;
	char what[128], text[96];

	*skip = false;
	r->run_forced = r->run_absorbed = r->run_free = r->run_after = *spec;
	if (!run_free(r, skip, b))
		return false;
	if (t->after && mla_subject_run(&r->after, &b->after, &r->run_after, MLA_FREE) < 0) {
		bool raised = mla_machine_fault(b->after.m)->kind == MLA_FAULT_RAISED;

		snprintf(what, sizeof(what), "after the fix, %s", mla_run_text(text, spec));
		mla_trial_fault(t, raised ? MLA_REJECTED : MLA_UNVERIFIED, &b->after,
		                raised ? what : "");
		return false;
	}
	/* A free run whose tests all chose to materialise is the forced one. */
	if (r->free && was_forced(&b->before) &&
	    mla_run_arm(&r->run_free) == MLA_ARM_MATERIALISED) {
		r->forced = r->free;
		r->run_forced = r->run_free;
	} else if (mla_subject_run(&r->forced, &b->before, &r->run_forced, MLA_FORCE_MATERIALISED) <
	           0) {
		mla_trial_fault(t, MLA_UNVERIFIED, &b->before, "materialised arm");
		return false;
	}
	if (mla_subject_run(&r->absorbed, &b->before, &r->run_absorbed, MLA_FORCE_ABSORBED) < 0) {
		bool raised = mla_machine_fault(b->before.m)->kind == MLA_FAULT_RAISED;

		/* Without a fix this is what widening would do. */
		snprintf(what, sizeof(what), "absorbed arm, %s", mla_run_text(text, spec));
		mla_trial_fault(t, raised && !t->after ? MLA_REJECTED : MLA_UNVERIFIED, &b->before,
		                what);
		return false;
	}
	return true;
}

static bool first_query(bench *b, const results *r)
{
	char text[96];

	if (!b->t->after || !r->free || r->run_free.width != 1 ||
	    mla_run_arm(&r->run_free) != mla_run_arm(&r->run_after))
		return true;
	if (mla_compare_identical(r->free, r->after))
		return true;
	mla_trial_say(b->t, MLA_REJECTED, "%s: before and after are not bit-identical",
	              mla_run_text(text, &r->run_free));
	return false;
}

static void record(bench *b, const results *r, const mla_comparison *c, mla_site_case *into)
{
	uint32_t w = r->run_forced.width;

	into->split_before = !r->free;
	into->before =
		mla_run_arm(&r->run_free) == MLA_ARM_ABSORBED ? MLA_ABSORBED : MLA_MATERIALISED;
	into->after =
		mla_run_arm(&r->run_after) == MLA_ARM_ABSORBED ? MLA_ABSORBED : MLA_MATERIALISED;
	if (b->dtype == MLA_F64) {
		into->rel_f64 = c->rel;
		return;
	}
	into->has_bf16 = true;
	into->max_abs = c->max_abs;
	into->ulp = c->ulp;
	into->rms_rel = c->rms_rel;
	if (w <= 8 && into->cached >= 64) {
		double n = (double)r->forced->count;

		b->square[w] += n * c->rms_abs * c->rms_abs;
		b->reference[w] += n * c->rms_reference * c->rms_reference;
	}
}

static bool judge(bench *b, const results *r, mla_site_case *into)
{
	mla_comparison c;

	if (!check_arm(b, &r->run_forced, MLA_ARM_MATERIALISED, "the materialised arm") ||
	    !first_query(b, r))
		return false;
	if (b->t->after) {
		if (!agree(&c, b, "after the fix", &r->run_after, r->after, r->forced))
			return false;
		record(b, r, &c, into);
		if (r->free && r->free != r->forced &&
		    !agree(&c, b, "before against after", &r->run_free, r->after, r->free))
			return false;
	}
	if (!check_arm(b, &r->run_absorbed, MLA_ARM_ABSORBED, "the absorbed arm"))
		return false;
	return agree(&c, b, "the two arms", &r->run_absorbed, r->absorbed, r->forced);
}

/* A padded batch has an offset for each row; a family that cannot take those gets one for all. */
static bool run_case(bench *b, mla_run *spec, mla_site_case *into, bool *skipped)
{
	mla_engine *before = mla_machine_engine(b->before.m);
	mla_engine *after = b->t->after ? mla_machine_engine(b->after.m) : NULL;
	mla_tensor_scope scope = mla_tensor_scope_open(before);
	mla_tensor_scope other = after ? mla_tensor_scope_open(after) : 0;
	results r = {0};
	bool good = run_all(&r, skipped, b, spec);

	if (!good && *skipped && spec->array_offset) {
		spec->array_offset = false;
		good = run_all(&r, skipped, b, spec);
	}
	if (good)
		good = judge(b, &r, into);
	if (after)
		mla_machine_scope_close(b->after.m, other);
	mla_machine_scope_close(b->before.m, scope);
	return good;
}

static void note_skipped(bench *b, const mla_run *spec)
{
	const mla_fault *f = mla_machine_fault(b->before.m);
	char text[96];

	mla_trial_note(b->t, "not compared: %s (the method fails there before the fix too: %.*s)",
	               spec->padded ? "left-padded batches" : mla_run_text(text, spec),
	               MLA_ARG(f->message));
}

/* Runs a case in every bench. False: the verdict is out. */
static bool one_case(mla_trial *t, bench *const *benches, uint32_t n, const mla_run *spec)
{
	mla_site_case c = {.width = spec->width,
	                   .cached = (uint32_t)spec->cached,
	                   .batch = spec->batch,
	                   .padded = spec->padded,
	                   .quantised = spec->quantised,
	                   .topk = benches[0]->topk};
	uint32_t ran = 0;

	for (uint32_t i = 0; i < n; i++) {
		mla_run run = *spec;
		bool skipped;

		if (!run_case(benches[i], &run, &c, &skipped)) {
			if (!skipped)
				return false;
			if (!spec->padded) {
				mla_trial_fault(t, MLA_UNVERIFIED, &benches[i]->before,
				                "before the fix");
				return false;
			}
			note_skipped(benches[i], spec);
			continue;
		}
		ran++;
	}
	if (ran && t->out->case_count < MLA_SITE_CASES)
		t->out->cases[t->out->case_count++] = c;
	return true;
}

/* Widths and cached lengths; `brief` for what is looked at again in another form. */
static bool all_cases(mla_trial *t, bench *const *benches, uint32_t n, bool brief, bool gather)
{
	static const uint32_t width[] = {1, 2, 3, 4, 8};
	static const int64_t cached[] = {0, 64, 513, 2048};
	static const struct {
		uint32_t batch;
		bool padded;
	} form[] = {{1, false}, {2, false}, {2, true}};

	for (uint32_t f = 0; f < 3; f++)
		for (uint32_t k = 0; k < 4; k++)
			for (uint32_t i = 0; i < 5; i++) {
				mla_run run = {.width = width[i],
				               .cached = cached[k],
				               .batch = form[f].batch,
				               .padded = form[f].padded,
				               .array_offset = form[f].padded,
				               .gather = gather};

				if (t->options->padded_only && !form[f].padded)
					continue;
				if (t->brief && (f || cached[k] != 64 || width[i] > 2))
					continue;
				if ((cached[k] == 2048 && (width[i] > 2 || f)) ||
				    (brief && (cached[k] != 64 || width[i] > 3)) ||
				    (f && cached[k] == 513 && width[i] != 8 && width[i] != 2))
					continue;
				if (!one_case(t, benches, n, &run))
					return false;
			}
	return true;
}

/* Either side of the observed threshold, one head, f64. */
static bool around_threshold(mla_trial *t)
{
	mla_subject_mode mode = {.mode = MLA_REPLAY_F64, .heads = 1, .choices = t->choices};
	bench b, *list[] = {&b};
	bool good = bench_open(&b, t, &mode);

	for (int at = -1; at <= 1 && good; at++)
		for (int64_t cached = 0; cached <= 64 && good; cached += 64) {
			mla_run run = {.width = t->out->threshold + (uint32_t)at,
			               .batch = 1,
			               .cached = cached,
			               .gather = t->gather};

			if (run.width > 1)
				good = one_case(t, list, 1, &run);
		}
	bench_close(&b);
	return good;
}

/* The largest relative difference of the patched (else absorbed) method under two runs. */
static bool differs(bool *out, mla_subject *a, mla_run *run_a, mla_subject *b, mla_run *run_b)
{
	mla_engine *ea = mla_machine_engine(a->m), *eb = mla_machine_engine(b->m);
	mla_tensor_scope sa = mla_tensor_scope_open(ea), sb = mla_tensor_scope_open(eb);
	mla_tensor *x, *y;
	mla_comparison c;
	bool ran = mla_subject_run(&x, a, run_a, MLA_FREE) == 0 &&
	           mla_subject_run(&y, b, run_b, MLA_FREE) == 0 &&
	           mla_compare(&c, x, y, MLA_F64) == 0;

	*out = ran && c.finite && c.rel > 1e-6;
	mla_machine_scope_close(b->m, sb);
	mla_machine_scope_close(a->m, sa);
	return ran;
}

static bool mask_matters(mla_trial *t, bench *b)
{
	mla_subject *s = t->after ? &b->after : &b->before;
	mla_run with = {.width = 8, .batch = 1, .cached = 64, .gather = t->gather};
	mla_run without = with;
	bool different = false;

	without.no_mask = true;
	if (!differs(&different, s, &with, s, &without))
		mla_trial_say(t, MLA_UNVERIFIED,
		              "the method does not run without its mask: whether it "
		              "matters is not known");
	else if (!different)
		mla_trial_say(t, MLA_UNVERIFIED,
		              "leaving out the mask changes nothing: the cases show too little");
	return different;
}

/* The same comparisons where a selection drops rows, and the proof that it does. */
static bool sparse_cases(mla_trial *t, bool gather)
{
	mla_subject_mode mode = {.mode = MLA_REPLAY_F64, .heads = 2, .choices = t->choices};
	mla_run run = {.width = 2, .batch = 1, .cached = 64}, picked = run;
	bench few, all, half, *list[] = {&few, &half};
	bool good, different = false;

	picked.gather = gather;
	good = bench_open(&all, t, &mode);
	if (!gather)
		mode.topk = SMALL_TOPK;
	good = bench_open(&few, t, &mode) && good;
	mode.mode = MLA_REPLAY_BF16;
	good = bench_open(&half, t, &mode) && good;
	if (good && (!differs(&different, &all.before, &run, &few.before, &picked) || !different)) {
		if (gather)
			different = true; /* a parameter that is not used here */
		else
			mla_trial_say(t, MLA_UNVERIFIED,
			              "a small top-k drops no rows: the selection is not reached");
		good = different;
	} else if (good) {
		good = all_cases(t, list, 2, true, gather);
	}
	bench_close(&half);
	bench_close(&few);
	bench_close(&all);
	return good;
}

/*
 * A quantised cache counts where the method runs with one at a single query: then it is in use, and
 * has to work at every width.
 */
static bool quantised_cases(mla_trial *t)
{
	mla_subject_mode mode = {.mode = MLA_REPLAY_F64, .heads = 2, .choices = t->choices};
	mla_run run = {.width = 1, .batch = 1, .cached = 64, .quantised = true};
	bench exact, half, *list[] = {&exact, &half};
	bool good = bench_open(&exact, t, &mode), runs = false;

	mode.mode = MLA_REPLAY_BF16;
	good = bench_open(&half, t, &mode) && good;
	if (good) {
		mla_engine *e = mla_machine_engine(exact.before.m);
		mla_tensor_scope scope = mla_tensor_scope_open(e);
		mla_tensor *out;

		runs = mla_subject_run(&out, &exact.before, &run, MLA_FREE) == 0;
		mla_machine_scope_close(exact.before.m, scope);
	}
	for (run.width = 1; runs && good && run.width <= 3; run.width++)
		good = one_case(t, list, 2, &run);
	bench_close(&half);
	bench_close(&exact);
	return good;
}

static bool rms_steady(mla_trial *t, const bench *b)
{
	double two = b->reference[2] > 0 ? sqrt(b->square[2] / b->reference[2]) : 0;
	double eight = b->reference[8] > 0 ? sqrt(b->square[8] / b->reference[8]) : 0;

	if (!t->after || t->brief || two <= 0)
		return true;
	t->out->rms_ratio = eight / two;
	if (t->out->rms_ratio >= MLA_RMS_RATIO_MIN && t->out->rms_ratio <= MLA_RMS_RATIO_MAX)
		return true;
	mla_trial_say(t, MLA_REJECTED,
	              "the RMS error grows with the width: %.3g at 8 queries, %.3g at 2", eight,
	              two);
	return false;
}

bool mla_trial_cases(mla_trial *t)
{
	mla_subject_mode mode = {.mode = MLA_REPLAY_F64, .heads = 2, .choices = t->choices};
	bench exact, half = {0}, *list[] = {&exact, &half};
	bool good = bench_open(&exact, t, &mode), opened = false;

	mode.mode = MLA_REPLAY_BF16;
	if (good) {
		good = bench_open(&half, t, &mode);
		opened = true;
	}
	good = good && all_cases(t, list, 2, false, t->gather) && mask_matters(t, &exact) &&
	       rms_steady(t, &half);
	bench_close(&exact);
	if (opened)
		bench_close(&half);
	if (good && t->after && !t->brief)
		good = around_threshold(t);
	if (good && t->after && !t->brief && !t->gather)
		good = quantised_cases(t);
	if (good && t->site->sparse && !mla_site_takes_gather(t->site))
		good = sparse_cases(t, false);
	if (good && mla_site_takes_gather(t->site) && !t->gather)
		good = sparse_cases(t, true);
	return good;
}

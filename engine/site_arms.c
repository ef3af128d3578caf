/* Which arm runs at which width after the fix, and what each costs: shapes only. */
#include "engine/site_subject.h"

#include <inttypes.h>
#include <stdio.h>

/* No threshold of a real geometry is near; a method that absorbs at all of these has none. */
enum { WIDEST = 4096, CACHED = 64 };

static const mla_subject_mode shapes = {.mode = MLA_REPLAY_SHAPES, .heads = 1};

static int shape_run(mla_run *run, const mla_trial *t, mla_subject *s, uint32_t width,
                     int64_t cached, mla_forcing forcing)
{
	mla_engine *e = mla_machine_engine(s->m);
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	mla_tensor *out;
	int error;

	*run = (mla_run){.width = width, .batch = 1, .cached = cached, .gather = t->gather};
	error = mla_subject_run(&out, s, run, forcing);
	mla_machine_scope_close(s->m, scope);
	return error;
}

/* Before the call; the cache-length form looks at one length after it. */
static int64_t cached_at(const mla_trial *t, uint32_t width)
{
	int64_t T = t->options->cache_len;

	return T ? (T > width ? T - width : 0) : CACHED;
}

static void failed(mla_trial *t, const mla_subject *s, uint32_t width)
{
	bool raised = mla_machine_fault(s->m)->kind == MLA_FAULT_RAISED;
	char what[64];

	snprintf(what, sizeof(what), "after the fix, at width %u", width);
	mla_trial_fault(t, raised ? MLA_REJECTED : MLA_UNVERIFIED, s, raised ? what : "");
}

/* Every width up to the first that is not absorbed: no assumption on how they lie. */
static bool observe(mla_trial *t, mla_subject *s)
{
	uint32_t width = 1;

	for (; width <= WIDEST; width++) {
		mla_arm_taken arm;
		mla_run run;

		if (shape_run(&run, t, s, width, cached_at(t, width), MLA_FREE) < 0) {
			failed(t, s, width);
			return false;
		}
		arm = mla_run_arm(&run);
		if (arm == MLA_ARM_ABSORBED)
			continue;
		if (arm == MLA_ARM_MATERIALISED)
			break;
		mla_trial_say(t, MLA_REJECTED, "after the fix, width %u runs %s", width,
		              mla_arm_taken_name(arm));
		return false;
	}
	t->out->threshold = width - 1;
	if (width > WIDEST)
		mla_trial_say(t, MLA_UNVERIFIED, "every width up to %d is absorbed", WIDEST);
	else if (width == 1)
		mla_trial_say(t, MLA_REJECTED, "after the fix, width 1 is materialised");
	return width > 1 && width <= WIDEST;
}

bool mla_trial_threshold(mla_trial *t)
{
	mla_subject_mode mode = shapes;
	mla_subject s;
	bool good = false;

	mode.choices = t->choices;
	if (mla_subject_open(&s, t, true, &mode) < 0)
		mla_trial_fault(t,
		                mla_machine_fault(s.m)->kind == MLA_FAULT_RAISED ? MLA_REJECTED
		                                                                 : MLA_UNVERIFIED,
		                &s, "constructor after the fix");
	else
		good = observe(t, &s);
	mla_subject_close(&s, t->out);
	return good;
}

/* Multiply-adds of one head: per additional cached token, or of the whole call at `T`. */
static bool count(uint64_t *out, mla_trial *t, mla_subject *s, uint32_t width, mla_forcing forcing)
{
	int64_t T = t->options->cache_len, base = 2 * WIDEST;
	mla_run a, b;

	if (T) {
		if (shape_run(&a, t, s, width, cached_at(t, width), forcing) < 0)
			return false;
		*out = a.multiply_adds;
		return true;
	}
	if (shape_run(&a, t, s, width, base - width, forcing) < 0 ||
	    shape_run(&b, t, s, width, 2 * base - width, forcing) < 0)
		return false;
	*out = (b.multiply_adds - a.multiply_adds) / (uint64_t)base;
	return true;
}

static bool both(uint64_t v[2], mla_trial *t, mla_subject *s, uint32_t width)
{
	if (count(&v[0], t, s, width, MLA_FORCE_ABSORBED) &&
	    count(&v[1], t, s, width, MLA_FORCE_MATERIALISED))
		return true;
	mla_trial_fault(t, MLA_UNVERIFIED, s, "counting");
	return false;
}

/* Both counts grow by the same amount with every query, so there is one crossing. */
static bool crossing(mla_trial *t, mla_subject *s)
{
	uint32_t low = 0, high = WIDEST;
	uint64_t v[2];

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (!both(v, t, s, middle))
			return false;
		if (v[0] <= v[1])
			low = middle;
		else
			high = middle - 1;
	}
	t->out->crossover = low;
	return true;
}

static bool judge_counts(mla_trial *t, mla_subject *s)
{
	mla_site_verdict *o = t->out;
	uint64_t at[2], above[2];

	if (!crossing(t, s) || !both(at, t, s, o->threshold) ||
	    !both(above, t, s, o->threshold + 1))
		return false;
	if (o->threshold == 1 && o->crossover == WIDEST) {
		mla_trial_say(
			t, MLA_UNVERIFIED,
			"the threshold is 1 by convention where absorbed never loses: the fix "
			"changes nothing");
		return false;
	}
	o->counted = true;
	o->absorbed_at_t = at[0];
	o->materialised_at_t = at[1];
	o->absorbed_above = above[0];
	o->materialised_above = above[1];
	if (at[0] > at[1])
		mla_trial_say(t, MLA_REJECTED,
		              "the threshold %u is too high: at that width absorbed takes %" PRIu64
		              " multiply-adds, materialised %" PRIu64 " (they cross after %u)",
		              o->threshold, at[0], at[1], o->crossover);
	else if (above[0] <= above[1])
		mla_trial_say(t, MLA_REJECTED,
		              "the threshold %u is too low: at width %u absorbed takes %" PRIu64
		              " multiply-adds, materialised %" PRIu64 " (they cross after %u)",
		              o->threshold, o->threshold + 1, above[0], above[1], o->crossover);
	return at[0] <= at[1] && above[0] > above[1];
}

/* What a chunk of a prefill on an empty cache costs when it is absorbed. */
static void note_cold(mla_trial *t, mla_subject *s)
{
	uint32_t width = t->out->threshold >= 512 ? 512 : t->out->threshold;
	mla_run a, m;

	if (t->options->cache_len || shape_run(&a, t, s, width, 0, MLA_FORCE_ABSORBED) < 0 ||
	    shape_run(&m, t, s, width, 0, MLA_FORCE_MATERIALISED) < 0 ||
	    a.multiply_adds <= m.multiply_adds)
		return;
	/* The more queries, the worse, so that the widest step is the worst one. */
	mla_trial_note(t,
	               "on a cold cache absorbing takes %.2f times the multiply-adds of "
	               "materialising at %u queries, and less than that at fewer "
	               "(--threshold cache-length avoids it)%s",
	               (double)a.multiply_adds / (double)m.multiply_adds, width,
	               t->out->threshold >= 512
	                       ? "; the threshold is at or above the usual prefill chunk of 512"
	                       : "");
}

bool mla_trial_counts(mla_trial *t)
{
	mla_subject_mode mode = shapes;
	mla_subject s;
	bool good = false;

	mode.choices = t->choices;
	if (mla_subject_open(&s, t, false, &mode) < 0)
		mla_trial_fault(t, MLA_UNVERIFIED, &s, "constructor");
	else
		good = judge_counts(t, &s);
	if (good)
		note_cold(t, &s);
	mla_subject_close(&s, t->out);
	return good;
}

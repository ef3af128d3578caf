/* The order of a verdict, and what stands outside the runs: geometry, open choices, notes. */
#include "engine/site_subject.h"

#include "analyzer/str.h"

#include <stdio.h>

const char *mla_outcome_name(mla_outcome o)
{
	return o == MLA_VERIFIED ? "verified" : o == MLA_REJECTED ? "rejected" : "unverified";
}

static uint32_t size_or(const mla_number *n, uint32_t usual, mla_source *source)
{
	bool usable = n->known == MLA_IS_INT && n->value >= 0 && n->value <= MLA_DIM_MAX;
	mla_source from = usable ? n->source : MLA_SOURCE_ASSUMED;

	if (from > *source)
		*source = from;
	return usable ? (uint32_t)n->value : usual;
}

/* What the source leaves open is taken as 512/128/64/128, the most common sizes. */
void mla_site_geometry(mla_site_verdict *v, const mla_latent *l)
{
	v->source = MLA_SOURCE_FILE;
	v->geometry.rank = size_or(&l->rank.number, 512, &v->source);
	v->geometry.nope = size_or(&l->nope.number, 128, &v->source);
	v->geometry.rope = size_or(&l->rope, 64, &v->source);
	v->geometry.value = size_or(&l->value.number, 128, &v->source);
}

static void set_target(mla_replay_target *to, const mla_site *s)
{
	*to = (mla_replay_target){.owner = s->owner, .module = s->module, .function = s->function};
	for (uint32_t i = 0; i < s->latent.n && to->ups < 8; i++)
		to->up[to->ups++] = s->latent.up[i].attribute;
}

static void note_choices(mla_trial *t, const mla_choice *list, uint32_t n)
{
	char text[MLA_SITE_TEXT];
	int at = 0;

	for (uint32_t i = 0; i < n && at < (int)sizeof(text) - 64; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%.*s = %s", i ? ", " : "",
		               MLA_ARG(list[i].name), list[i].value ? "True" : "False");
	mla_trial_note(t, "no default in the source: replayed with %s", text);
}

/* Does the method before the fix run with these booleans? *more: how many there are. */
static bool runs_before(mla_trial *t, uint32_t choices, uint32_t *more)
{
	mla_subject_mode mode = {.mode = MLA_REPLAY_SHAPES, .heads = 2, .choices = choices};
	mla_subject s;
	bool good = mla_subject_open(&s, t, false, &mode) == 0;
	const mla_choice *list;
	const mla_str *assumed;

	for (uint32_t width = 1; width <= 2 && good; width++) {
		mla_run run = {.width = width, .batch = 1, .cached = 64, .gather = t->gather};
		mla_engine *e = mla_machine_engine(s.m);
		mla_tensor_scope scope = mla_tensor_scope_open(e);
		mla_tensor *out;

		good = mla_subject_run(&out, &s, &run, MLA_FREE) == 0 ||
		       (width > 1 && mla_subject_split(&s));
		/* Without indices the absorbed arm may not run at all. */
		if (good && width == 1 && mla_run_arm(&run) != MLA_ARM_ABSORBED)
			t->gather = mla_site_takes_gather(t->site);
		mla_machine_scope_close(s.m, scope);
	}
	*more = mla_machine_choices(&list, s.m);
	if (!good)
		mla_trial_fault(t, MLA_UNVERIFIED, &s,
		                mla_machine_fault(s.m)->kind == MLA_FAULT_RAISED ? "before the fix"
		                                                                 : "");
	if (mla_machine_assumed(&assumed, s.m))
		t->out->source = MLA_SOURCE_ASSUMED;
	if (good && *more)
		note_choices(t, list, *more);
	mla_subject_close(&s, t->out);
	return good;
}

/* The assignments of open booleans under which the method runs as it is. */
static uint32_t find_choices(uint32_t kept[16], mla_trial *t)
{
	uint32_t n = 0, more = 0;

	for (uint32_t c = 0; c < 16 && (c == 0 || c < 1U << more); c++) {
		uint32_t found;
		bool good = runs_before(t, c, &found);

		if (found > more && found <= 4)
			more = found;
		if (good)
			kept[n++] = c;
	}
	if (n)
		t->out->reason[0] = 0; /* of those that do not run */
	return n;
}

static void judge(mla_trial *t)
{
	uint32_t kept[16], n;

	n = find_choices(kept, t);
	if (!n) {
		/* A size that is None by default may have another to fall back on; else it is open.
		 */
		char reason[MLA_SITE_TEXT];

		memcpy(reason, t->out->reason, sizeof(reason));
		t->out->reason[0] = 0;
		t->assume_none = true;
		n = find_choices(kept, t);
		if (!n)
			memcpy(t->out->reason, reason, sizeof(reason));
	}
	for (uint32_t i = 0; i < n; i++) {
		t->choices = kept[i];
		t->brief = i > 0;
		/* The counts are cheap and say more about a wrong threshold than the numbers. */
		if (t->after &&
		    (!mla_trial_threshold(t) || (!t->brief && !t->gather && !mla_trial_counts(t))))
			return;
		if (!mla_trial_cases(t))
			return;
		if (t->gather) {
			mla_trial_say(t, MLA_UNVERIFIED,
			              "the absorbed arm runs on gathered rows only: what it costs "
			              "does not grow with the cache");
			return;
		}
	}
	if (n && t->after)
		t->out->outcome = MLA_VERIFIED;
}

void mla_site_verify(mla_site_verdict *out, mla_project *before, mla_project *after,
                     const mla_site *site, const mla_site_options *options)
{
	mla_trial t = {
		.before = before, .after = after, .site = site, .options = options, .out = out};

	*out = (mla_site_verdict){.bits = 4};
	mla_site_geometry(out, &site->latent);
	set_target(&t.target_before, site);
	if (!site->owner.node)
		mla_trial_say(&t, MLA_UNVERIFIED, "the class of this function is not known");
	else if (site->refusal == MLA_REFUSE_SYNTAX)
		mla_trial_say(&t, MLA_UNVERIFIED, "the source around it does not parse");
	else if (after && !mla_trial_find_after(&t))
		mla_trial_say(&t, MLA_UNVERIFIED, "the method is not found after the fix");
	else
		judge(&t);
	/* Where only one query gathers, several expand or attend to all rows under a mask. */
	if (out->outcome == MLA_VERIFIED && site->gathers)
		mla_trial_note(&t, "sparse: several queries gather their rows too, and nothing is "
		                   "gained above the top-k budget");
	if (!out->reason[0] && out->outcome != MLA_VERIFIED)
		mla_trial_say(&t, MLA_UNVERIFIED, "no fix to replay");
}

/*
 * One side of a comparison: a machine with the layer built in it, ready to be called at any width,
 * with its linked tests forced or free. Shared by the parts of a verdict.
 */
#ifndef MLA_ENGINE_SITE_SUBJECT_H
#define MLA_ENGINE_SITE_SUBJECT_H

#include "engine/replay/replay.h"
#include "engine/sites.h"

enum { MLA_SUBJECT_WATCHES = 8 };

typedef enum { MLA_FREE = -1, MLA_FORCE_MATERIALISED, MLA_FORCE_ABSORBED } mla_forcing;

typedef struct {
	mla_machine *m;
	mla_layer_object *layer;
	mla_watch watch[MLA_SUBJECT_WATCHES];
	bool small_when_true[MLA_SUBJECT_WATCHES];
	bool narrower[MLA_SUBJECT_WATCHES]; /* a test with a larger bound is in its condition */
	uint32_t watches;
} mla_subject;

typedef struct {
	mla_replay_mode mode;
	uint32_t heads;
	int64_t topk;
	uint32_t choices;
} mla_subject_mode;

/* What a verdict is made of. */
typedef struct {
	mla_project *before, *after;
	const mla_site *site;
	const mla_site_options *options;
	mla_site_verdict *out;
	mla_replay_target target_before, target_after;
	uint32_t choices; /* of the open booleans */
	bool assume_none; /* latent sizes that are None by default are assumed */
	bool gather;      /* the absorbed arm runs only where gather indices are given */
	bool brief;       /* looked at before under other choices */
} mla_trial;

/* The class and method of the site in the patched project; false: they are not there. */
bool mla_trial_find_after(mla_trial *t);

/* Builds the layer; negative: the fault is in s->m. Close it in either case. */
int mla_subject_open(mla_subject *s, const mla_trial *t, bool after, const mla_subject_mode *mode);
void mla_subject_close(mla_subject *s, mla_site_verdict *into); /* adds who computed */

/* Calls it; *out lives until the caller's tensor scope in this engine ends. */
int mla_subject_run(mla_tensor **out, mla_subject *s, mla_run *run, mla_forcing forcing);

/* Did some linked tests of the last run take the side for few queries, and others not? */
bool mla_subject_split(const mla_subject *s);

/* Which arm a run took, by where its operands came from. */
typedef enum { MLA_ARM_NONE, MLA_ARM_ABSORBED, MLA_ARM_MATERIALISED, MLA_ARM_BOTH } mla_arm_taken;
mla_arm_taken mla_run_arm(const mla_run *run);
const char *mla_arm_taken_name(mla_arm_taken a);

/* Does the method have an optional parameter of gather indices? */
bool mla_site_takes_gather(const mla_site *s);

/* Ends the verdict. The first word counts, but a rejection replaces a lack of knowledge. */
void mla_trial_say(mla_trial *t, mla_outcome o, const char *fmt, ...) MLA_PRINTF(3, 4);
void mla_trial_note(mla_trial *t, const char *fmt, ...) MLA_PRINTF(2, 3);
/* The same with a fault's text and line. */
void mla_trial_fault(mla_trial *t, mla_outcome o, const mla_subject *s, const char *what);
/* "width 2, 64 cached, batch 2 left-padded" */
const char *mla_run_text(char text[96], const mla_run *run);

/* site_arms.c: the widths at which each arm runs, and what they cost. False: the verdict is out. */
bool mla_trial_threshold(mla_trial *t);
bool mla_trial_counts(mla_trial *t);
/* site_cases.c: the numbers. */
bool mla_trial_cases(mla_trial *t);

#endif

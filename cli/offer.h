/* From the fixes of a scan to the changes that are made: verdicts, what is offered, what fits. */
#ifndef MLA_CLI_OFFER_H
#define MLA_CLI_OFFER_H

#include "cli/verify.h"

/* The fixes of one tree that are made together, in the order of the findings. */
typedef struct {
	const mla_fix **fix;
	uint32_t n;
	uint32_t waiting; /* offered too, but they overlap one of these: for the next pass */
	mla_changes changes;
} mla_offer;

/*
 * Asks the engine about every fix, unless --no-verify: only its verdict can make one safe. The
 * verdicts go to `out`, which may be empty then; mla_vec_free(&out->v) in the end.
 */
int mla_offer_judge(mla_verdicts *out, mla_scan *s);

/*
 * The changes of all fixes that the options offer, each checked to be a source still. The fixes of
 * a file that would not stay one are left out after a message, each as a whole, and the others
 * made without; s->fixes_left_out counts them.
 */
int mla_offer_make(mla_offer *out, mla_scan *s, const mla_scan_tree *t);

#endif

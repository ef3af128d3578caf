/* The commits of a patch: which fixes each makes, and what its files are after it. */
#ifndef MLA_CLI_PATCH_SERIES_H
#define MLA_CLI_PATCH_SERIES_H

#include "cli/offer.h"

#include <git2.h>

typedef struct {
	const char *key;           /* of --split: the code of a rule or a path; NULL: everything */
	const mla_fix *const *fix; /* those of this commit */
	uint32_t n;
	mla_changes changes; /* of the files of HEAD, by this commit and those before it */
	mla_str subject, body;
	git_oid id;
} mla_commit;

typedef struct {
	mla_scan *scan;
	mla_scan_tree *tree;
	mla_verdicts verdicts;
	uint32_t waiting; /* see mla_offer */
	MLA_VEC(mla_commit) commits;
} mla_series;

/*
 * The engine's verdicts, and the fixes that are offered as commits that apply in order, each a
 * whole on its own: what several fixes share goes into the first of them.
 */
int mla_series_make(mla_series *out, mla_scan *scan);
void mla_series_free(mla_series *s); /* not the scan */

/* The first finding that a fix is for. */
const mla_finding *mla_series_finding(const mla_series *s, const mla_fix *fix);

/* Does what is about this finding belong to the commit? */
bool mla_series_concerns(const mla_series *s, const mla_commit *c, const mla_finding *finding);

/* NULL when the engine was not asked. */
const mla_verdict *mla_series_verdict(const mla_series *s, const mla_fix *fix);

/* Subject and body of every commit; see patch_message.c. */
void mla_series_describe(mla_series *s);

#endif

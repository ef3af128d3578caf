/* What the engine says about each site of a scan, and the two ways to print it. */
#ifndef MLA_CLI_VERIFY_H
#define MLA_CLI_VERIFY_H

#include "cli/scan.h"
#include "engine/tail_check.h"

#include <stdio.h>

typedef enum { MLA_UNVERIFIED, MLA_VERIFIED, MLA_REJECTED } mla_verdict_kind;

typedef struct {
	const mla_scan_tree *tree;
	const mla_site *site;
	const mla_fix *fix;
	mla_geometry geometry;
	mla_source source;
	uint32_t threshold;
	mla_verdict_kind verdict;
	char reason[160];            /* empty when verified */
	const mla_tail_check *tails; /* the generic tails at this geometry, or NULL */
} mla_verdict;

typedef struct {
	mla_arena *arena;
	MLA_VEC(mla_verdict) v;
} mla_verdicts;

/* One verdict for every site of the scan. An engine that fails its own check is MLA_EBUG. */
int mla_verify_sites(mla_verdicts *out, const mla_scan *s);

const char *mla_verdict_name(mla_verdict_kind v);
void mla_verify_text(FILE *to, const mla_verdicts *v);
void mla_verify_json(FILE *to, const mla_verdicts *v);

#endif

/* The engine's verdicts on fixes: the project as it is, and as it is with one fix made. */
#ifndef MLA_CLI_REPLAY_H
#define MLA_CLI_REPLAY_H

#include "cli/scan.h"
#include "engine/pool_sites.h"
#include "engine/tail_check.h"

/* The length at which the cache-length form is looked at. */
enum { MLA_REPLAY_CACHE_LEN = 8192 };

typedef struct {
	const mla_scan_tree *tree;
	const mla_fix *fix;
	mla_site_verdict result; /* of a pool its outcome and reason alone */
	mla_pool_verdict pool;   /* of a fix that has one */
	bool whole_call;         /* the counts are of whole calls, not of a cached token */
	/* Beside a fix that stays unverified: not its code, but the two forms at its geometry. */
	bool has_tails;
	mla_tail_check tails;
} mla_verdict;

/* Who computed, but for the f64 oracle. */
typedef struct {
	char kind[16];  /* "cpu" */
	char label[64]; /* "cpu (avx512)" */
	char note[256]; /* why auto fell back, or "" */
} mla_replay_device;

/*
 * Fills in the results, on several threads; their order changes nothing. An error is one of ours:
 * whatever a source does is a verdict. MLA_ECONFIG or MLA_EIO for a backend that is not there.
 * Shows how far it is on a terminal once it takes a second.
 */
int mla_replay_all(mla_replay_device *device, const mla_scan *s, mla_verdict *v, uint32_t n);

#endif

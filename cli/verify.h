/* What the engine says about each site of a scan, and the two ways to print it. */
#ifndef MLA_CLI_VERIFY_H
#define MLA_CLI_VERIFY_H

#include "cli/replay.h"

#include <stdio.h>

typedef struct {
	mla_arena *arena;
	mla_replay_device device;
	MLA_VEC(mla_verdict) v;
} mla_verdicts;

/* One verdict for every site of the scan. */
int mla_verify_sites(mla_verdicts *out, const mla_scan *s);

void mla_verify_text(FILE *to, const mla_verdicts *v);
void mla_verify_json(FILE *to, const mla_verdicts *v);

#endif

/* Baseline files: findings that a project knows and accepts. */
#ifndef MLA_CLI_BASELINE_H
#define MLA_CLI_BASELINE_H

#include "cli/fingerprint.h"

#include <stdio.h>

typedef struct {
	mla_fingerprint *v; /* sorted */
	uint32_t n;
} mla_baseline;

/* Strings live in the arena. MLA_ECONFIG for what is no baseline of this version. */
int mla_baseline_read(mla_baseline *out, mla_arena *arena, const char *path);

/* NULL: it is not listed. */
const mla_fingerprint *mla_baseline_find(const mla_baseline *b, const mla_fingerprint *f);

/* Sorted, one finding to a line: a review shows what came and what went. */
void mla_baseline_print(FILE *to, mla_fingerprint *v, uint32_t n);

#endif

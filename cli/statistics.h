/* Counts of a scan: findings by rule, tests that stay by reason. */
#ifndef MLA_CLI_STATISTICS_H
#define MLA_CLI_STATISTICS_H

#include "cli/scan.h"

#include <stdio.h>

typedef struct {
	const char *code, *name; /* of a rule; of tests that stay "kept" and the reason */
	uint32_t count, fixable;
} mla_statistic;

enum { MLA_STATISTICS_MAX = MLA_RULES_MAX + MLA_KEPT_COUNT };

/* What there is any of, the most frequent first, rules before reasons. */
typedef struct {
	mla_statistic v[MLA_STATISTICS_MAX];
	uint32_t rules, n; /* the reasons are from `rules` to n */
} mla_statistics;

void mla_statistics_count(mla_statistics *out, const mla_scan *s);

/* A line for each, as a table. */
void mla_statistics_print(FILE *to, const mla_scan *s);

#endif

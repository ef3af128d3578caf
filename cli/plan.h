/* What the plan verb found out, for its two reports. */
#ifndef MLA_CLI_PLAN_H
#define MLA_CLI_PLAN_H

#include "analyzer/vec.h"
#include "cli/speculation.h"

#include <stdio.h>

/* One runtime at one cached length. */
typedef struct {
	const char *name; /* "stock", "patched" or "given" */
	uint32_t cached;  /* 0: not known */
	double decode, verify[MLA_DEPTH_MAX];
	mla_depth at[MLA_DEPTH_MAX];
	uint32_t best;
} mla_plan_costs;

typedef struct {
	double accept[MLA_DEPTH_MAX], draft;
	uint32_t depth;
	const char *bench; /* the report the costs are from, or NULL */
	char backend[64];  /* of that report */
	bool alone;        /* they are attention's, of one layer, and nothing else's */
	bool flat;         /* a verify step is taken to cost a step of plain decoding */
	bool unit;         /* and that one to take 1 ms */
	MLA_VEC(mla_plan_costs) costs;
} mla_plan;

typedef void mla_plan_printer(FILE *to, const mla_plan *p);
mla_plan_printer mla_plan_text, mla_plan_json;

#endif

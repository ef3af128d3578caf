/* Who calls whom in the C sources of a scan, and whether one run can pass two places. */
#ifndef MLA_ANALYZER_C_CALLS_H
#define MLA_ANALYZER_C_CALLS_H

#include "analyzer/c_flow.h"

typedef struct {
	const mla_node *callee, *call; /* FUNCTION, CALL */
} mla_c_edge;

typedef struct {
	MLA_VEC(mla_c_edge) edges;
} mla_c_calls;

/* Sorted by callee. Also marks the functions that are called. */
void mla_c_calls_build(mla_c_calls *out, mla_c_flow *f);

/*
 * How far apart two places are along calls, when one run can pass both: 0 in one function, 1 when
 * one is in a function that the function of the other calls, or in two that one function calls.
 * MLA_C_APART: too far, or in arms of which only one is taken.
 */
enum { MLA_C_APART = UINT32_MAX };
uint32_t mla_c_distance(const mla_c_calls *c, const mla_node *a, const mla_node *b);

#endif

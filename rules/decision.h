/* Words about an absorb decision that several rules share. */
#ifndef MLA_RULES_DECISION_H
#define MLA_RULES_DECISION_H

#include "rules/rule.h"

/* Fills site, pair, threshold and the reason for having no fix from the test. */
void mla_decision_describe(mla_finding *f, const mla_facts *facts, const mla_test *t,
                           mla_arena *arena);

/* "170 queries (r=512 n=128 v=128, file defaults)" or how it would be computed at run time. */
mla_str mla_decision_threshold(mla_arena *arena, const mla_finding *f);

#endif

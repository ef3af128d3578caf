/* Words about an absorb decision that several rules share. */
#ifndef MLA_RULES_DECISION_H
#define MLA_RULES_DECISION_H

#include "rules/rule.h"

/*
 * The test of the same decision that `t` disagrees with: for some number of queries one of them
 * takes the absorbed arm and the other does not. It selects the arm, and `t` comes later; of a
 * condition with several bounds only the widest counts. NULL: none, or nobody can tell.
 */
const mla_test *mla_decision_split(const mla_test *t);

/* Adds a finding for every test of a decision that `is_meant`, with the message for it. */
int mla_decision_report(const mla_rule *rule, const mla_facts *facts, mla_findings *out,
                        bool (*is_meant)(const mla_test *t),
                        mla_str (*message)(mla_arena *arena, const mla_finding *f));

/* "follow-up of the ... test in line N" */
mla_str mla_decision_followup(mla_arena *arena, const mla_finding *f, const char *kind);

/* Fills site, pair, threshold and the reason for having no fix from the test. */
void mla_decision_describe(mla_finding *f, const mla_facts *facts, const mla_test *t,
                           mla_arena *arena);

/* "170 queries (r=512 n=128 v=128, file defaults)" or how it would be computed at run time. */
mla_str mla_decision_threshold(mla_arena *arena, const mla_finding *f);

/* What a message adds about chosen rows: several queries gather too, so that both arms work on k
 * rows only, or the absorbed arm does. Else an empty string. */
const char *mla_decision_sparse(const mla_finding *f);

#endif

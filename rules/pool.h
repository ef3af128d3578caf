/* Words about pooled-key caches that two rules share. */
#ifndef MLA_RULES_POOL_H
#define MLA_RULES_POOL_H

#include "rules/rule.h"

/* Fills in place, role, pool and the reason for having no fix. */
void mla_pool_describe(mla_finding *f, const mla_facts *facts, const mla_pool *p, mla_span span,
                       mla_arena *arena);

#endif

/* Which tests of a scan are one decision. */
#ifndef MLA_ANALYZER_C_SITES_H
#define MLA_ANALYZER_C_SITES_H

#include "analyzer/c_calls.h"

/*
 * Sets the site of every classified test (in source order) that is part of a decision, and the
 * roles of mirrors. Follow-ups without a select lose theirs.
 */
void mla_c_sites_build(mla_arena *arena, const mla_c_calls *calls, mla_test **test, uint32_t n);

#endif

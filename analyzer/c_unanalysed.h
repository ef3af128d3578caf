/* Comparisons of a query count in code that the compiler could not make sense of. */
#ifndef MLA_ANALYZER_C_UNANALYSED_H
#define MLA_ANALYZER_C_UNANALYSED_H

#include "analyzer/c_facts.h"
#include "analyzer/c_flow.h"

/* Is nothing known of a test's arms because a header is missing that declares what they use? */
bool mla_c_is_lost(const mla_c_flow *f, const mla_test *t);

/* With the tests of `f` that are lost. */
void mla_unanalysed_find(const mla_unanalysed **out, uint32_t *n, mla_arena *arena,
                         mla_project *project, const mla_c_flow *f);

#endif

/* Comparisons of a query count in code that the compiler could not make sense of. */
#ifndef MLA_ANALYZER_C_UNANALYSED_H
#define MLA_ANALYZER_C_UNANALYSED_H

#include "analyzer/c_facts.h"

void mla_unanalysed_find(const mla_unanalysed **out, uint32_t *n, mla_arena *arena,
                         mla_project *project);

#endif

/* Comparisons of query counts in tokens alone, where there is no tree to ask. */
#ifndef MLA_ANALYZER_C_CANDIDATE_H
#define MLA_ANALYZER_C_CANDIDATE_H

#include "analyzer/c_tokens.h"
#include "analyzer/text.h"

/* Is token `i` an operator between a query count and a constant? */
bool mla_c_candidate(const mla_text *text, const mla_tokens *t, uint32_t i);

/* Is token `i` a query count that may be compared with something, and not only ends a loop? */
bool mla_c_may_compare(const mla_text *text, const mla_tokens *t, uint32_t i);

#endif

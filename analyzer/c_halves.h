/* Tests of one function that each have one arm of a decision. */
#ifndef MLA_ANALYZER_C_HALVES_H
#define MLA_ANALYZER_C_HALVES_H

#include "analyzer/facts.h"

/* Gives both halves of a decision both arms. */
void mla_c_join_halves(mla_test *const *test, uint32_t n);

#endif

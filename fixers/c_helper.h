/* The C function that computes the threshold: its text, its place, and reuse of one that exists. */
#ifndef MLA_FIXERS_C_HELPER_H
#define MLA_FIXERS_C_HELPER_H

#include "fixers/c_scope.h"

/*
 * Makes the helper visible at every test of the fix's site: before the first function that tests,
 * or behind the struct of the sizes where the tests are in several files. False: the fix's refusal
 * says why it cannot be done.
 */
bool mla_c_helper_require(mla_str *name, mla_fix *fix, mla_project *project,
                          const mla_record *sizes, mla_form form);

#endif

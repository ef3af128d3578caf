/* The C function that computes the threshold: its text, its place, and reuse of one that exists. */
#ifndef MLA_FIXERS_C_HELPER_H
#define MLA_FIXERS_C_HELPER_H

#include "fixers/fix.h"

/*
 * Makes the helper visible at every test of the fix's site (see c_home.h). False: the fix's refusal
 * says why it cannot be done.
 */
bool mla_c_helper_require(mla_str *name, mla_fix *fix, mla_project *project, mla_form form);

#endif

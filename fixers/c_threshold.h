/* The fix of an absorb decision in C, C++ and Objective-C. */
#ifndef MLA_FIXERS_C_THRESHOLD_H
#define MLA_FIXERS_C_THRESHOLD_H

#include "fixers/fix.h"

mla_fixer mla_fix_c_threshold;

#endif

/* Launches of CUDA kernels, for a parser of C++. */
#ifndef MLA_ANALYZER_CLANG_LAUNCH_H
#define MLA_ANALYZER_CLANG_LAUNCH_H

#include "analyzer/c_tokens.h"

/*
 * Overwrites the execution configuration of each kernel launch (CUDA C++ Programming Guide,
 * "Execution Configuration") with blanks: every other byte keeps its place. `t`: of these bytes.
 */
void mla_clang_hide_launches(char *bytes, uint32_t length, const mla_tokens *t);

#endif

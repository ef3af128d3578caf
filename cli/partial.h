/* Partial files: which of them give no verdict. */
#ifndef MLA_CLI_PARTIAL_H
#define MLA_CLI_PARTIAL_H

#include "analyzer/project.h"
#include "cli/prefilter.h"

/*
 * Where a decision may have been lost, or NULL. The part that was not understood is the function
 * (outside of one, the statement) that holds a syntax error or `limited` (may be NULL). It counts
 * when it has a comparison or a word of projections, and the class around it (without one, the
 * file) has both.
 */
const mla_node *mla_partial_doubt(mla_project *project, mla_module *m, const mla_prefilter *words,
                                  const mla_node *limited);

#endif

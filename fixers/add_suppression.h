/* Comments that suppress findings, for --add-ignore. */
#ifndef MLA_FIXERS_ADD_SUPPRESSION_H
#define MLA_FIXERS_ADD_SUPPRESSION_H

#include "fixers/edit.h"
#include "rules/rule.h"

/*
 * Adds to `out` a comment with `reason` on a line of its own above the statement of each finding,
 * one for all findings of a statement; a comment that the statement has already takes the codes.
 * The findings are of one module. Those about comments are left alone. `reason` is one line.
 * MLA_ECONFIG when a finding has no line to put a comment above.
 */
int mla_suppression_add(mla_edits *out, mla_arena *arena, const mla_finding *const *finding,
                        uint32_t n, mla_str reason);

#endif

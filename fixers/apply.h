/* Fixes to new texts. Pure: nothing is written. */
#ifndef MLA_FIXERS_APPLY_H
#define MLA_FIXERS_APPLY_H

#include "fixers/fix.h"

/* One file before and after. */
typedef struct {
	mla_module *module;
	mla_str after;
} mla_change;

typedef struct {
	mla_change *v; /* in the order of their paths */
	uint32_t n;
} mla_changes;

/*
 * Applies the fixes in order. One whose edits overlap those of an earlier one, or bind a name that
 * an earlier one binds in that module by another edit, is left out as a whole; edits that are the
 * same are applied once. applied[i] says what became of fix[i].
 */
void mla_apply(mla_changes *out, bool *applied, mla_arena *arena, const mla_fix *const *fix,
               uint32_t n);

/* MLA_EBUG when the new text has more syntax errors than the old one. */
int mla_change_check(const mla_change *c, mla_python *python);

#endif

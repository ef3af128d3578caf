/* Suppression comments as facts: what they say and what they cover. Judges nothing. */
#ifndef MLA_ANALYZER_SUPPRESS_H
#define MLA_ANALYZER_SUPPRESS_H

#include "analyzer/project.h"

/*
 * `# mlalint: ignore[CODES] reason` covers the whole statement it is attached to: the one on its
 * line, or the one below where it stands alone. `# mlalint: ignore-file[CODES] reason` covers the
 * file.
 */
typedef struct {
	mla_span comment;
	mla_span covers; /* what starts in here is covered */
	mla_str codes;   /* what is between the brackets; empty when there are none */
	mla_str reason;  /* what comes after them */
} mla_suppression;

typedef struct {
	const mla_suppression *v;
	uint32_t n;
} mla_suppressions;

void mla_suppressions_find(mla_suppressions *out, mla_arena *arena, const mla_module *m);

/* The i-th code of a list, trimmed; false after the last. */
bool mla_suppression_code(mla_str *code, const mla_suppression *s, uint32_t i);

#endif

/*
 * What identifies a finding from one version of a tree to the next: where it stands by name and
 * what it says, never a line number. Baselines and the comparison with a revision match by it, and
 * formats that want a stable identity of a finding can use its digest.
 */
#ifndef MLA_CLI_FINGERPRINT_H
#define MLA_CLI_FINGERPRINT_H

#include "rules/rule.h"

typedef struct {
	mla_str path; /* as reported */
	mla_str code;
	mla_str symbol;      /* the classes and functions around it, outermost first; empty: none */
	mla_str guard;       /* its text without comments, and without blanks but between words */
	uint32_t occurrence; /* from 1, among those equal in all of this, in order of position */
} mla_fingerprint;

/* Of findings that are sorted by path and position; all strings are valid UTF-8. */
mla_fingerprint *mla_fingerprints(mla_arena *arena, const mla_finding *const *finding, uint32_t n);

/* By path, code, symbol, guard, occurrence. */
int mla_fingerprint_cmp(const void *a, const void *b);

/* 40 hexadecimal digits and a NUL. */
enum { MLA_DIGEST_SIZE = 41 };
void mla_fingerprint_digest(char out[MLA_DIGEST_SIZE], const mla_fingerprint *f);

#endif

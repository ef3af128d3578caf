/* A fix: every edit that one decision needs, in every file, or none. */
#ifndef MLA_FIXERS_FIX_H
#define MLA_FIXERS_FIX_H

#include "fixers/edit.h"
#include "rules/rule.h"

/* The form of the inserted threshold. */
typedef enum { MLA_FORM_GEOMETRY, MLA_FORM_CACHE_LENGTH } mla_form;

/* How far a fix may be trusted; only the engine raises it (see cli). */
typedef enum {
	MLA_FIX_UNVERIFIED, /* the engine was not asked */
	MLA_FIX_UNSAFE,     /* offered, not verified */
	MLA_FIX_SAFE,       /* the engine ran the method before and after, and agreed */
	MLA_FIX_REJECTED,   /* never offered */
} mla_applicability;

typedef struct {
	const mla_site *site; /* NULL: not about an absorb decision */
	const mla_pool *pool; /* NULL: not about a pool */
	mla_edits edits;      /* none: there is no fix */
	mla_str refusal;      /* why there is none */
	mla_form form;        /* of the threshold that the decision compares with after it */
	const char *title;
	mla_applicability applicability;
	mla_str reason; /* for the applicability; may be empty */
} mla_fix;

/*
 * Makes the fix of a finding's decision; findings of one decision get equal fixes. 0 also when
 * there is none: refusal says why then.
 */
int mla_fix_make(mla_fix *out, mla_arena *arena, mla_project *project, const mla_finding *finding,
                 mla_form form);

/* There is no fix: this is why, unless a reason was given before. False, for the caller to return.
 */
bool mla_fix_refuse(mla_fix *fix, const char *fmt, ...) MLA_PRINTF(2, 3);

/* What stands before a comparison that is written for the test: a case pattern becomes a guard. */
const char *mla_fix_lead(const mla_test *t);

/* One per fixable rule, found through fixers.def. */
typedef int mla_fixer(mla_fix *out, mla_arena *arena, mla_project *project,
                      const mla_finding *finding, mla_form form);

#define MLA_FIXER(code, x) mla_fixer mla_fix_##x;
#include "fixers/fixers.def"
#undef MLA_FIXER

#endif

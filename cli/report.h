/* Reports of a scan. Each prints what the scan holds and decides nothing. */
#ifndef MLA_CLI_REPORT_H
#define MLA_CLI_REPORT_H

#include "cli/scan.h"

#include <stdio.h>

typedef struct {
	FILE *to;
	const mla_scan *scan;
	int status; /* the exit status that the scan asks for */
} mla_report;

/* One per output format, each in its own file; formats.def is the list. */
typedef void mla_reporter(const mla_report *r);

#define MLA_FORMAT(id, name, check, ...) mla_reporter check;
#include "cli/formats.def"
#undef MLA_FORMAT

/* One line: files, findings, fixes, and every file that was not checked, with its reason. */
void mla_report_summary(FILE *to, const mla_scan *s);

/* For -v: the settings, and what was done with every file. */
void mla_report_verbose(FILE *to, const mla_scan *s);

/* What a person has to know besides; also without a summary. */
void mla_report_notes(FILE *to, const mla_scan *s);

/* Walking a scan in the order of reports. Starts zeroed. */
typedef struct {
	uint32_t tree, at;
} mla_cursor;

/* NULL after the last. Until the next call the tree is that of what was returned. */
const mla_result *mla_next_result(mla_cursor *c, const mla_scan *s);
const mla_finding *const *mla_next_suppressed(mla_cursor *c, const mla_scan *s);
const mla_kept_test *mla_next_kept(mla_cursor *c, const mla_scan *s);
const mla_unanalysed *mla_next_unanalysed(mla_cursor *c, const mla_scan *s);
const mla_file *mla_next_file(mla_cursor *c, const mla_scan *s);

/* "checked", "partial", "skipped", "failed" */
const char *mla_file_state_name(mla_file_state state);

/* Does this file alone make the exit status 2? */
bool mla_file_without_verdict(const mla_file *f);

/* Of the message about a file that is not plainly checked. */
mla_severity mla_file_severity(const mla_file *f);

const char *mla_applicability_name(mla_applicability a);

/* What the engine said: "verified", "rejected", "unverified"; NULL: it was not asked. */
const char *mla_verdict_name(const mla_fix *f);

/* On one line, with control characters escaped. */
mla_str mla_joined(mla_arena *arena, mla_str s);

/* "suppressed MLA001 (REASON): TEST" of a suppressed finding, on one line. */
mla_str mla_suppressed_text(mla_arena *arena, const mla_finding *f);

/* "fix (safe): TITLE, 2 files", without a verdict "fix: ...", or "no fix: REASON", on one line. */
mla_str mla_fix_text(mla_arena *arena, const mla_fix *f);

/* "Attention.__call__" */
mla_str mla_test_symbol(mla_arena *arena, const mla_test *t);

/* May this fix be offered under the options? */
bool mla_fix_offered(const mla_fix *f, const mla_options *o);

#endif

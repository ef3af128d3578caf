/* Reports of a scan. Each prints what the scan holds and decides nothing. */
#ifndef MLA_CLI_REPORT_H
#define MLA_CLI_REPORT_H

#include "cli/scan.h"

#include <stdio.h>

void mla_report_text(FILE *to, const mla_scan *s, bool color);
void mla_report_json(FILE *to, const mla_scan *s);

/* One line: files, findings, fixes, and every file that was not checked, with its reason. */
void mla_report_summary(FILE *to, const mla_scan *s);

/* What a person has to know besides; also without a summary. */
void mla_report_notes(FILE *to, const mla_scan *s);

const char *mla_applicability_name(mla_applicability a);

/* May this fix be offered under the options? */
bool mla_fix_offered(const mla_fix *f, const mla_options *o);

#endif

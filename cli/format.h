/* The table of output formats. */
#ifndef MLA_CLI_FORMAT_H
#define MLA_CLI_FORMAT_H

#include "cli/bench.h"
#include "cli/plan.h"
#include "cli/report.h"
#include "cli/verify.h"

/* Several rules, or one alone when `list` is not set. */
typedef void mla_rule_printer(FILE *to, const mla_rule *const *rules, uint32_t n, bool list);

typedef struct {
	const char *name;
	mla_reporter *check;
	void (*verify)(FILE *to, const mla_verdicts *v);
	mla_rule_printer *rule;
	mla_bench_printer *bench;
	mla_plan_printer *plan;
	bool statistics; /* does it have them? */
} mla_format_row;

extern const mla_format_row mla_formats[MLA_FORMATS];

mla_rule_printer mla_rule_text, mla_rule_json;

/* Does the verb have a report in this format? MLA_ECONFIG, with those that it has, when not. */
int mla_format_check(mla_verb verb, mla_format f);

/* "text, json": those that it has, the default first. */
const char *mla_format_list(char *out, size_t size, mla_verb verb);

#endif

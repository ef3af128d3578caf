/* The rule verb: a rule's own documentation. */
#include "analyzer/str.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "cli/verbs.h"

#include <jansson.h>

static void print_text(FILE *to, const mla_rule *r)
{
	fprintf(to, "# %s (%s)\n\n%s.\n\nSeverity: %s. Fix: %s.%s\n\n%s", r->code, r->name,
	        r->summary, mla_severity_name(r->severity),
	        r->fix == MLA_FIX_NEVER ? "none" : "where the decision can be changed as a whole",
	        r->opt_in ? " Runs only when it is selected." : "", r->doc);
}

static json_t *to_json(const mla_rule *r)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "code", r->code, "name", r->name,
	                 "summary", r->summary, "severity", mla_severity_name(r->severity), "fix",
	                 r->fix != MLA_FIX_NEVER, "default", !r->opt_in, "doc", r->doc);
}

void mla_rule_text(FILE *to, const mla_rule *const *rules, uint32_t n, bool list)
{
	(void)list;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc('\n', to);
		print_text(to, rules[i]);
	}
}

void mla_rule_json(FILE *to, const mla_rule *const *rules, uint32_t n, bool list)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(all, to_json(rules[i]));
	json_dumpf(list ? all : json_array_get(all, 0), to, JSON_INDENT(1));
	fputc('\n', to);
	json_decref(all);
}

int mla_verb_rule(const mla_options *o)
{
	const mla_rule *one;
	uint32_t n = 0;

	if (o->all == (o->arg_count != 0) || o->arg_count > 1) {
		mla_error(MLA_ECONFIG, "rule takes one code, or --all");
		return mla_fail();
	}
	if (o->all) {
		while (mla_rules[n])
			n++;
		mla_formats[o->format].rule(stdout, mla_rules, n, true);
		return mla_stdout_close(MLA_EXIT_CLEAN);
	}
	one = mla_rule_find(mla_str_c(o->args[0]));
	if (!one) {
		mla_rule_refuse("", mla_str_c(o->args[0]));
		return mla_fail();
	}
	mla_formats[o->format].rule(stdout, &one, 1, false);
	return mla_stdout_close(MLA_EXIT_CLEAN);
}

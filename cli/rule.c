/* The rule verb: a rule's own documentation. */
#include "analyzer/str.h"
#include "cli/verbs.h"

#include <jansson.h>

static void print_text(const mla_rule *r)
{
	printf("# %s (%s)\n\n%s.\n\nSeverity: %s. Fix: %s.%s\n\n%s", r->code, r->name, r->summary,
	       mla_severity_name(r->severity),
	       r->fix == MLA_FIX_NEVER ? "none" : "where the decision can be changed as a whole",
	       r->opt_in ? " Runs only when it is selected." : "", r->doc);
}

static json_t *to_json(const mla_rule *r)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "code", r->code, "name", r->name,
	                 "summary", r->summary, "severity", mla_severity_name(r->severity), "fix",
	                 r->fix != MLA_FIX_NEVER, "default", !r->opt_in, "doc", r->doc);
}

static void print(const mla_options *o, const mla_rule *const *rules, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++) {
		if (o->format == MLA_FORMAT_TEXT) {
			if (i)
				putchar('\n');
			print_text(rules[i]);
		} else {
			json_array_append_new(list, to_json(rules[i]));
		}
	}
	if (o->format == MLA_FORMAT_JSON) {
		json_dumpf(o->all ? list : json_array_get(list, 0), stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(list);
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
		print(o, mla_rules, n);
		return mla_output_close(o, stdout, MLA_EXIT_CLEAN);
	}
	one = mla_rule_find(mla_str_c(o->args[0]));
	if (!one) {
		mla_error(MLA_ECONFIG, "there is no rule '%s'; mlalint rule --all lists them",
		          o->args[0]);
		return mla_fail();
	}
	print(o, &one, 1);
	return mla_output_close(o, stdout, MLA_EXIT_CLEAN);
}

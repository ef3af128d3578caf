/* The table of rules, made from rules.def. */
#include "rules/rule.h"

#include "analyzer/str.h"

#define MLA_RULE(x) extern const mla_rule mla_rule_##x;
#include "rules/rules.def"
#undef MLA_RULE

const mla_rule *const mla_rules[] = {
#define MLA_RULE(x) &mla_rule_##x,
#include "rules/rules.def"
#undef MLA_RULE
	NULL,
};

_Static_assert(sizeof(mla_rules) / sizeof(*mla_rules) <= MLA_RULES_MAX, "MLA_RULES_MAX");

const mla_rule *mla_rule_find(mla_str code_or_name)
{
	for (const mla_rule *const *r = mla_rules; *r; r++)
		if (mla_str_is(code_or_name, (*r)->code) || mla_str_is(code_or_name, (*r)->name))
			return *r;
	return NULL;
}

const char *mla_severity_name(mla_severity s)
{
	return s == MLA_ERROR ? "error" : s == MLA_WARNING ? "warning" : "note";
}

mla_finding *mla_finding_add(mla_findings *out, const mla_rule *rule)
{
	mla_finding *f;

	if (out->n == out->cap) {
		mla_finding *more;

		out->cap = out->cap ? 2 * out->cap : 8;
		more = mla_arena_array(out->arena, out->cap, sizeof(*more));
		if (out->n)
			memcpy(more, out->v, out->n * sizeof(*more));
		out->v = more;
	}
	f = &out->v[out->n++];
	*f = (mla_finding){
		.rule = rule,
		.severity = rule->severity}; /* the place may have held one that was taken out */
	return f;
}

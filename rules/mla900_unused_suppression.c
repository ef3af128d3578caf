/* MLA900: a suppression comment that suppresses nothing. */
#include "analyzer/str.h"
#include "rules/suppression.h"

static const char doc[] =
	"## What it does\n"
	"Finds `# mlalint: ignore[...]` and `ignore-file[...]` comments that suppress nothing, or "
	"that\n"
	"name no rule.\n"
	"\n"
	"## Why is this bad?\n"
	"A suppression that outlived its finding hides the next one.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if L <= self._max_absorbed:  # mlalint: ignore[MLA001] drafts are short\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"```python\n"
	"if L <= self._max_absorbed:\n"
	"```\n"
	"\n"
	"## Fix safety\n"
	"Safe: only the comment, or the unused code in it, is removed.\n";

static uint32_t index_of(const mla_rule *rule)
{
	uint32_t i = 0;

	while (mla_rules[i] != rule)
		i++;
	return i;
}

/* Codes that were of use, and those of rules that did not run: nobody knows about these. */
static uint64_t codes_to_keep(const mla_findings *out, uint32_t index)
{
	mla_str code;
	uint64_t keep = 0;

	for (uint32_t k = 0; mla_suppression_code(&code, &out->suppressions.v[index], k); k++) {
		const mla_rule *rule = mla_rule_find(code);

		if (k < 64 && rule &&
		    (!out->on[index_of(rule)] || mla_suppression_used(out, index, k)))
			keep |= (uint64_t)1 << k;
	}
	return keep;
}

static void report(const mla_rule *self, const mla_facts *facts, mla_findings *out, uint32_t index,
                   mla_str message)
{
	const mla_suppression *s = &out->suppressions.v[index];
	mla_finding *f = mla_finding_add(out, self);

	f->suppression = s;
	f->used_codes = codes_to_keep(out, index);

	f->module = facts->module;
	f->span = s->comment;
	f->message = message;
}

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	for (uint32_t i = 0; i < out->suppressions.n; i++) {
		const mla_suppression *s = &out->suppressions.v[i];
		mla_str code;

		if (!s->codes.len)
			report(self, facts, out, i,
			       mla_str_c("suppression names no rule: write ignore[CODE]"));
		for (uint32_t k = 0; mla_suppression_code(&code, s, k); k++) {
			const mla_rule *rule = mla_rule_find(code);

			if (!rule)
				report(self, facts, out, i,
				       mla_arena_format(out->arena,
				                        "suppression of an unknown rule `%.*s`",
				                        MLA_ARG(code)));
			else if (out->on[index_of(rule)] && !mla_suppression_used(out, i, k))
				report(self, facts, out, i,
				       mla_arena_format(
					       out->arena,
					       "unused suppression: nothing of %s is found here",
					       rule->code));
		}
	}
	return 0;
}

const mla_rule mla_rule_mla900_unused_suppression = {
	.code = "MLA900",
	.name = "unused-suppression",
	.summary = "A suppression comment suppresses nothing or names an unknown rule",
	.doc = doc,
	.commit_subject = "Remove mlalint suppressions that suppress nothing",
	.commit_reason = "A suppression that suppresses nothing, or names a rule that does not "
			 "exist, would hide the next finding. Only comments change.",
	.severity = MLA_WARNING,
	.fix = MLA_FIX_SOMETIMES,
	.about_suppressions = true,
	.check = check,
};

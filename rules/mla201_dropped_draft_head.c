/* MLA201: a loader that throws the draft head away. */
#include "analyzer/str.h"
#include "rules/rule.h"

static const char doc[] =
	"## What it finds\n"
	"Conditions in a `sanitize()` function that leave out the weights of multi-token "
	"prediction "
	"or\n"
	"next-n layers: by a prefix such as `model.mtp.`, or as layers behind the last one, which "
	"is\n"
	"where checkpoints keep them. It runs only when it is selected.\n"
	"\n"
	"## Why it matters\n"
	"These weights are the draft head that the model was trained with. Without them there is\n"
	"nothing to speculate with, and the verify steps that MLA001 is about never happen.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"def sanitize(self, weights):\n"
	"    return {k: v for k, v in weights.items() if not k.startswith(\"model.mtp.\")}\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"Keep the weights where the runtime has a module for them, and load that module on "
	"request.\n"
	"\n"
	"## What is left alone\n"
	"Weights that are renamed or stored elsewhere in the same condition.\n"
	"\n"
	"## Fix safety\n"
	"There is no fix: what a runtime does with a draft head is its design.\n";

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	for (uint32_t i = 0; i < facts->dropped.n; i++) {
		const mla_dropped *d = &facts->dropped.v[i];
		mla_finding *f = mla_finding_add(out, self);

		f->module = facts->module;
		f->span = d->test->span;
		f->role = MLA_ROLE_DROP;
		f->symbol = d->symbol;
		f->no_fix = mla_str_c("keeping a draft head needs a module that holds it");
		f->message = mla_arena_format(out->arena,
		                              "%.*s drops the weights of a multi-token-prediction "
		                              "head (`%.*s`): there is "
		                              "no draft head left to speculate with",
		                              MLA_ARG(d->symbol), MLA_ARG(d->prefix));
	}
	return 0;
}

const mla_rule mla_rule_mla201_dropped_draft_head = {
	.code = "MLA201",
	.name = "dropped-draft-head",
	.summary = "A loader drops the weights of the multi-token-prediction head",
	.doc = doc,
	.severity = MLA_WARNING,
	.fix = MLA_FIX_NEVER,
	.opt_in = true,
	.about_loading = true,
	.check = check,
};

/* MLA004: two tests of one absorb decision that draw the line at different numbers of queries. */
#include "analyzer/str.h"
#include "rules/decision.h"

static const char doc[] =
	"## What it finds\n"
	"The test that selects absorbed or materialised attention and a later test of the same\n"
	"decision disagree for some number of queries: the select was widened and the follow-up\n"
	"forgotten, or one is off by one.\n"
	"\n"
	"## Why it matters\n"
	"For those numbers of queries the result is wrong. The output of the absorbed arm lacks "
	"the\n"
	"r -> v projection, or the output of the materialised arm gets it: a shape error where r "
	"and v\n"
	"differ, silently wrong values where they are equal. One query, as in plain decoding, is "
	"right\n"
	"in most such code, so that it goes unnoticed until a draft is verified.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if L <= self._max_absorbed:\n"
	"    q_nope = self.embed_q(q_nope)\n"
	"    k = v = kv_latent\n"
	"...\n"
	"if L == 1:\n"
	"    output = self.unembed_out(output)\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"```python\n"
	"if L <= self._max_absorbed:\n"
	"    output = self.unembed_out(output)\n"
	"```\n"
	"\n"
	"## Fix safety\n"
	"Where the select already follows the latent sizes, the later test takes its condition. "
	"Else\n"
	"both get the threshold, as in MLA001. Safe only when the engine executed the method after "
	"the\n"
	"fix and both arms agreed.\n";

static mla_str message(mla_arena *arena, const mla_finding *f)
{
	const mla_test *other = mla_decision_split(f->test);
	bool elsewhere = other->module != f->module;

	return mla_arena_format(
		arena,
		"`%.*s` disagrees with `%.*s` in %s%sline %u, which selects absorbed or "
		"materialised attention: for the numbers of queries between them the result is "
		"wrong",
		MLA_ARG(mla_text_slice(f->module->text, f->span)),
		MLA_ARG(mla_node_text(other->module->text, other->node)),
		elsewhere ? other->module->path : "", elsewhere ? ", " : "",
		mla_text_line(other->module->text, other->node->span.start));
}

static bool is_meant(const mla_test *t)
{
	return mla_decision_split(t) != NULL;
}

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	return mla_decision_report(self, facts, out, is_meant, message);
}

const mla_rule mla_rule_mla004_split_absorb_guards = {
	.code = "MLA004",
	.name = "split-absorb-guards",
	.summary = "The tests of one absorb decision disagree: wrong results",
	.doc = doc,
	.commit_subject = "Make the guards of MLA absorption agree",
	.commit_reason = "One test chooses the path, and another one whether its output is "
			 "projected from the "
			 "latent to values. For some numbers of queries the two disagree: the "
			 "output is then "
			 "projected twice or not at all, and wrong.",
	.severity = MLA_ERROR,
	.fix = MLA_FIX_SOMETIMES,
	.check = check,
};

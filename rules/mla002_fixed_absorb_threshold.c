/* MLA002: the absorb decision compares with a fixed number, or with one that has no part in it. */
#include "analyzer/str.h"
#include "rules/decision.h"

static const char doc[] =
	"## What it finds\n"
	"The test that decides whether multi-head latent attention is computed absorbed or\n"
	"materialised compares the number of queries with a constant other than 1, or with a\n"
	"quantity that has no part in the cost, such as the number of heads; and the follow-up "
	"tests\n"
	"of that decision. Constants are followed through names, class bodies, attributes that "
	"the\n"
	"constructor sets and imports.\n"
	"\n"
	"## Why it matters\n"
	"Both arms cost every head the same, so the number of queries at which they break even "
	"does\n"
	"not depend on the number of heads. It depends on the latent sizes: with r the rank and d "
	"the\n"
	"sum of n and v, absorbing takes no more multiply-adds per head up to r d / (2 r - d) "
	"queries\n"
	"on a long cache: 170 for 512/128/128, 398 for 512/192/256. A smaller number re-expands "
	"the\n"
	"whole cache for queries that could be absorbed; a larger one absorbs where expanding is\n"
	"cheaper.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if L <= 8:\n"
	"    q_nope = self.embed_q(q_nope)\n"
	"    k = v = kv_latent\n"
	"else:\n"
	"    k = self.embed_q(kv_latent, transpose=False)\n"
	"    v = self.unembed_out(kv_latent)\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"```python\n"
	"# in __init__, after the three sizes are set\n"
	"self._max_absorbed = max_absorbed_queries(\n"
	"    self.kv_lora_rank, self.qk_nope_head_dim, self.v_head_dim\n"
	")\n"
	"...\n"
	"if L <= self._max_absorbed:\n"
	"```\n"
	"\n"
	"## What is left alone\n"
	"A limit of a kernel (`kernel-capability`), bounds made of the latent sizes, and bounds "
	"that\n"
	"cannot be followed, such as one read from the environment (`already-widened`).\n"
	"`--show-kept` lists them.\n"
	"\n"
	"## Fix safety\n"
	"As MLA001: one atomic fix of guards, constructor, import and helper, safe only when the\n"
	"engine executed the method before and after and agreed. A constant that nothing else "
	"uses\n"
	"afterwards is left where it is.\n";

static mla_str message(mla_arena *arena, const mla_finding *f)
{
	mla_str guard = mla_text_slice(f->module->text, f->span);
	mla_str limit = mla_decision_threshold(arena, f);

	if (f->role != MLA_ROLE_SELECT)
		return mla_decision_followup(arena, f, "fixed-threshold");
	if (f->test->bound == MLA_BOUND_QUANTITY)
		return mla_arena_format(
			arena,
			"`%.*s` decides absorbed or materialised attention, but has no part in the "
			"cost per head: on a long cache absorbing costs no more up to %.*s%s",
			MLA_ARG(guard), MLA_ARG(limit), mla_decision_sparse(f));
	return mla_arena_format(
		arena,
		"absorbed attention up to a fixed number of queries (`%.*s`), whatever the latent "
		"sizes: on a long cache absorbing costs no more up to %.*s%s",
		MLA_ARG(guard), MLA_ARG(limit), mla_decision_sparse(f));
}

static bool is_meant(const mla_test *t)
{
	bool fixed =
		t->bound == MLA_BOUND_QUANTITY || (t->bound == MLA_BOUND_CONSTANT && t->limit != 1);

	return fixed && !t->wider && !mla_decision_split(t);
}

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	return mla_decision_report(self, facts, out, is_meant, message);
}

const mla_rule mla_rule_mla002_fixed_absorb_threshold = {
	.code = "MLA002",
	.name = "fixed-absorb-threshold",
	.summary =
		"A fixed number, or one outside the latent sizes, decides absorbed or materialised",
	.doc = doc,
	.commit_subject = "Derive the MLA absorb limit from the layer's sizes",
	.commit_reason = "Up to which number of queries absorbing is the cheaper path follows from "
			 "the sizes of "
			 "the latent. The code compares with a fixed number, or with one that does "
			 "not depend "
			 "on them: with it some steps take the path that needs more multiply-adds.",
	.severity = MLA_WARNING,
	.fix = MLA_FIX_SOMETIMES,
	.check = check,
};

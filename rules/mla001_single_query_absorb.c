/* MLA001: the absorbed path is taken for exactly one query. */
#include "analyzer/str.h"
#include "rules/decision.h"

static const char doc[] =
	"## What it does\n"
	"Finds tests for exactly one query position (`L == 1` in any spelling) that decide between "
	"the\n"
	"absorbed and the materialised form of multi-head latent attention, and the follow-up "
	"tests\n"
	"that belong to them.\n"
	"\n"
	"## Why is this bad?\n"
	"The materialised form expands the whole latent cache to keys and values at every step. "
	"With\n"
	"one query the absorbed form avoids that; with two or more, as in every verify step of\n"
	"speculative decoding and every short follow-up turn on a warm cache, `L == 1` falls back "
	"to\n"
	"expanding all cached positions, and the cost of a step grows with the context. Per head "
	"the\n"
	"absorbed form does no more multiply-adds up to r d / (2 r - d) queries, d = n + v: 170 "
	"for\n"
	"512/128/128, 398 for 512/192/256.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if L == 1:\n"
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
	"Where a condition beside the test lets several queries materialise only while the cache "
	"is\n"
	"short (`L > 1 and total <= most`), the loss ends there, and the message says so.\n"
	"\n"
	"## What is left alone\n"
	"A top-k gather at one query (`sparse-gather`), kernels that take one query only\n"
	"(`kernel-capability`), caches of expanded keys and values (`expanded-cache`), tests that "
	"are\n"
	"widened already, and everything that has nothing to do with absorption. `--show-kept` "
	"lists\n"
	"them with the reason.\n"
	"\n"
	"## Fix safety\n"
	"Both guards, the constructor statement, the import and the helper are one atomic fix. It "
	"is\n"
	"safe only when the engine executed the method before and after and agreed. The two forms "
	"are\n"
	"the same function in exact arithmetic but not bit-identical in bf16. The geometry form "
	"ignores\n"
	"the cached length: on a cold cache a prefill chunk up to the threshold absorbs too and "
	"does\n"
	"more work than before; `--threshold cache-length` avoids that. No fix is offered where "
	"the\n"
	"arms treat the mask differently, where only the absorbed arm needs the mask to be an "
	"array and\n"
	"the other one would take a string (`\"causal\"`) too, where the absorbed arm reads one "
	"query's\n"
	"row, where one test also gathers by top-k, where the threshold is 1, or where a comment "
	"inside\n"
	"the test would be lost.\n";

static mla_str message(mla_arena *arena, const mla_finding *f)
{
	mla_str guard = mla_text_slice(f->module->text, f->span);
	mla_str limit = mla_decision_threshold(arena, f);

	if (f->role != MLA_ROLE_SELECT)
		return mla_decision_followup(arena, f, "single-query");
	if (f->test->short_cache)
		return mla_arena_format(
			arena,
			"absorbed attention only for a single query (`%.*s`): with two or more, "
			"and as long as `%.*s`, every step re-expands the whole latent cache, "
			"although absorbing costs no more up to %.*s where the cache is long, "
			"and up to fewer where that keeps it short",
			MLA_ARG(guard),
			MLA_ARG(mla_node_text(f->test->module->text, f->test->short_cache)),
			MLA_ARG(limit));
	return mla_arena_format(
		arena,
		"absorbed attention only for a single query (`%.*s`): with two or more, "
		"every step re-expands the whole latent cache, although on a long cache "
		"absorbing costs no more up to %.*s%s",
		MLA_ARG(guard), MLA_ARG(limit), mla_decision_sparse(f));
}

static bool is_meant(const mla_test *t)
{
	return t->bound == MLA_BOUND_CONSTANT && t->limit == 1 && !t->wider &&
	       !mla_decision_split(t);
}

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	return mla_decision_report(self, facts, out, is_meant, message);
}

const mla_rule mla_rule_mla001_single_query_absorb = {
	.code = "MLA001",
	.name = "single-query-absorb",
	.summary = "A test for exactly one query decides absorbed or materialised attention",
	.doc = doc,
	.commit_subject = "Absorb short multi-token MLA steps",
	.commit_reason =
		"The absorbed path is taken for exactly one query. A speculative verify step (k "
		"drafts and one more token) and a short follow-up turn have two or more, so they "
		"take the materialised path, which expands keys and values of every cached "
		"position again in each layer: T r (n + v) multiply-adds a head, a cost that grows "
		"with the context.",
	.severity = MLA_WARNING,
	.fix = MLA_FIX_SOMETIMES,
	.check = check,
};

/* MLA101: pooled keys are extended only when one token is new. */
#include "analyzer/str.h"
#include "rules/pool.h"

static const char doc[] =
	"## What it does\n"
	"Finds tests for exactly one new token that guard the incremental path of pooled indexer "
	"keys:\n"
	"the path that keeps the windows that are complete and pools only the suffix.\n"
	"\n"
	"## Why is this bad?\n"
	"A sparse indexer pools cached keys in windows before it scores them. Tokens are only "
	"appended,\n"
	"so a window that is complete cannot change: only the suffix has to be pooled again. "
	"Behind a\n"
	"test for one new token every verify step of speculative decoding, and every short "
	"follow-up\n"
	"turn, pools the whole cache again, and its cost grows with the context. Nothing in the "
	"path\n"
	"needs one token; what it needs is that the cache is exactly as long as the pool "
	"remembers.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if S == 1 and memo is not None and memo[1] == T - 1:\n"
	"    old, seen = memo\n"
	"    stable = seen // self.window\n"
	"    tail = self.pool(keys[:, stable * self.window :])\n"
	"    pooled = mx.concatenate([old[:, :stable], tail], axis=1)\n"
	"else:\n"
	"    pooled = self.pool(keys)\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"```python\n"
	"if memo is not None and memo[1] == T - S:\n"
	"```\n"
	"\n"
	"## What is left alone\n"
	"Gathers by top-k indices, masks and top-k code that test the number of queries, states "
	"of\n"
	"convolutions, and caches of pooled keys that take any number of tokens.\n"
	"\n"
	"## Fix safety\n"
	"The test is dropped, every other operand stays, and the recorded length has to equal the\n"
	"cached one less the new tokens: in place of a comparison with one token less, or as a "
	"new\n"
	"operand. A flag that only the full path sets, saying that nothing is padded, gets a test "
	"of\n"
	"the new tokens beside it, `S == 1 or ...`: a step of one token never looked at its token, "
	"and\n"
	"does not wait for the device to do so now. It is safe only when the engine executed the\n"
	"method before and after, trimmed the cache, and agreed. Where the path assumes one token\n"
	"elsewhere (an index, a slice, a length plus one) there is no fix; the line is named.\n"
	"\n"
	"The lengths are compared for equality, so the step after a trim, as of rejected drafts, "
	"pools\n"
	"all keys again, unless trimming the cache also takes the pool back.\n";

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	for (uint32_t i = 0; i < facts->pools.n; i++) {
		const mla_pool *p = facts->pools.v[i];
		mla_finding *f;

		if (!p->single)
			continue;
		f = mla_finding_add(out, self);
		mla_pool_describe(f, facts, p, p->single->span, out->arena);
		f->message = mla_arena_format(
			out->arena,
			"pooled keys are extended only for one new token (`%.*s`): with two or "
			"more, every step pools the whole cache again, although windows that are "
			"complete cannot change",
			MLA_ARG(mla_text_slice(p->module->text, f->span)));
	}
	return 0;
}

const mla_rule mla_rule_mla101_single_step_pool = {
	.code = "MLA101",
	.name = "single-step-pool",
	.summary = "Pooled indexer keys are extended only for one new token",
	.doc = doc,
	.commit_subject = "Extend pooled indexer keys by any number of tokens",
	.commit_reason =
		"Windows of pooled keys that are complete cannot change, so only the suffix has to "
		"be "
		"pooled again. That path is taken for exactly one new token: a speculative verify "
		"step and a short follow-up turn pool the whole cache, at a cost that grows with "
		"the "
		"context. What the path needs is that the cache is as long as the pool remembers "
		"plus the new tokens.",
	.severity = MLA_WARNING,
	.fix = MLA_FIX_SOMETIMES,
	.check = check,
};

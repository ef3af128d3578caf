/* MLA102: pooled keys are extended without a look at the length they were pooled at. */
#include "analyzer/str.h"
#include "rules/pool.h"

static const char doc[] =
	"## What it does\n"
	"Finds incremental paths of pooled indexer keys that do not require the cache to be "
	"exactly as\n"
	"long as the pool remembers: the recorded length equal to the cached one less the new "
	"tokens.\n"
	"\n"
	"## Why is this bad?\n"
	"The windows that are kept stand for tokens of an earlier call. After a trim, as when "
	"drafts\n"
	"are rejected, or after steps that did not update the pool, they stand for tokens that are "
	"no\n"
	"longer there. The path then pools an empty suffix and fails, or it keeps wrong windows "
	"and\n"
	"selects wrong rows without a word. The smaller of both lengths is no such test: the pool "
	"may\n"
	"be stale below it.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if memo is not None and memo[0].shape[0] == B:\n"
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
	"if memo is not None and memo[0].shape[0] == B and memo[1] == T - S:\n"
	"```\n"
	"\n"
	"## What is left alone\n"
	"Paths that compare the lengths, in whatever spelling; `memo[1] == T - 1` where one token "
	"is\n"
	"required besides; caches of pooled keys that keep their own remainder and have no full "
	"path;\n"
	"pools that the method which trims the cache clears or cuts as well.\n"
	"\n"
	"## Fix safety\n"
	"One operand is added. It is safe only when the engine executed the method before and "
	"after,\n"
	"trimmed the cache, and agreed. Where the recorded length is not kept there is no fix.\n";

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	for (uint32_t i = 0; i < facts->pools.n; i++) {
		const mla_pool *p = facts->pools.v[i];
		mla_finding *f;

		if (p->length)
			continue;
		f = mla_finding_add(out, self);
		mla_pool_describe(f, facts, p, p->gate->span, out->arena);
		f->message = mla_arena_format(
			out->arena,
			"pooled keys are extended without the check that the cache is exactly as "
			"long as the pool remembers: after a trim the kept windows are stale%s",
			p->recorded.len && p->total.len && p->fresh.len
				? mla_arena_format(out->arena, " (`%.*s == %.*s - %.*s`)",
		                                   MLA_ARG(p->recorded), MLA_ARG(p->total),
		                                   MLA_ARG(p->fresh))
					  .ptr
				: "");
	}
	return 0;
}

const mla_rule mla_rule_mla102_stale_pool = {
	.code = "MLA102",
	.name = "stale-pool",
	.summary = "Pooled indexer keys are extended without a check of their length",
	.doc = doc,
	.commit_subject = "Extend pooled indexer keys only while they are current",
	.commit_reason =
		"Pooled keys are extended without a look at the length they were pooled at. After "
		"the "
		"cache was trimmed, as a speculative step does with drafts that were not accepted, "
		"windows with keys that are no longer there stay in the pool: wrong scores.",
	.severity = MLA_ERROR,
	.fix = MLA_FIX_SOMETIMES,
	.check = check,
};

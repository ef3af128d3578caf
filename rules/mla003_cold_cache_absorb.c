/* MLA003: the absorb decision follows the latent sizes, but not the cached length. */
#include "analyzer/str.h"
#include "rules/decision.h"

static const char doc[] =
	"## What it finds\n"
	"The test that decides whether multi-head latent attention is computed absorbed or\n"
	"materialised follows the latent sizes, but not the cached length. It runs only when it "
	"is\n"
	"selected.\n"
	"\n"
	"## Why it matters\n"
	"r d / (2 r - d) queries, d = n + v, is where the two arms break even on a long cache. "
	"With T\n"
	"cached positions the limit is r d T / (r d + (2 r - d) T), which is below it: for "
	"512/128/128\n"
	"128 at T = 512 and 167 at T = 8192, against 170. On a cold cache, where all positions are "
	"new\n"
	"(T = L), a chunk of a prefill of up to that limit absorbs although expanding would take "
	"less\n"
	"work: up to 1.5 times as much for 512/256/256 at 512 queries.\n"
	"\n"
	"## Example\n"
	"```python\n"
	"if L <= self._max_absorbed:\n"
	"```\n"
	"\n"
	"## Use instead\n"
	"```python\n"
	"absorbed = L <= max_absorbed_queries(\n"
	"    self.kv_lora_rank, self.qk_nope_head_dim, self.v_head_dim, kv_latent.shape[-2]\n"
	")\n"
	"if absorbed:\n"
	"```\n"
	"\n"
	"## Fix safety\n"
	"As MLA001, in the form of `--threshold cache-length`, which is also the form of every "
	"other\n"
	"fix while this rule is selected. There is none where the cached latent is a quantised "
	"tuple\n"
	"or not at hand before the test. What computed the former threshold is left where it is.\n";

static mla_str message(mla_arena *arena, const mla_finding *f)
{
	if (f->role != MLA_ROLE_SELECT)
		return mla_decision_followup(arena, f, "cold-cache");
	return mla_arena_format(
		arena,
		"`%.*s` ignores the cached length: on a cold or short cache it absorbs where "
		"expanding takes less work",
		MLA_ARG(mla_text_slice(f->module->text, f->span)));
}

static bool is_meant(const mla_test *t)
{
	return t->bound == MLA_BOUND_GEOMETRY && !t->wider && !mla_decision_split(t);
}

static int check(const mla_rule *self, const mla_facts *facts, mla_findings *out)
{
	return mla_decision_report(self, facts, out, is_meant, message);
}

const mla_rule mla_rule_mla003_cold_cache_absorb = {
	.code = "MLA003",
	.name = "cold-cache-absorb",
	.summary = "The absorb threshold ignores the cached length",
	.doc = doc,
	.commit_subject = "Let the MLA absorb limit follow the cached length",
	.commit_reason =
		"The limit in the code is that of a long cache. On a short one the paths cross at "
		"fewer queries, so that a chunk of a prefill on a cold cache takes the absorbed "
		"path "
		"although the materialised one needs fewer multiply-adds.",
	.severity = MLA_WARNING,
	.fix = MLA_FIX_SOMETIMES,
	.opt_in = true,
	.cached_form = true,
	.check = check,
};

/* Shared wording and completeness of pool findings. */
#include "rules/pool.h"

#include "analyzer/str.h"

static mla_str refusal_text(mla_arena *arena, const mla_pool *p)
{
	static const char *const why[] = {
		[MLA_POOL_FIXABLE] = "",
		[MLA_POOL_ONE_TOKEN] = "one new token is assumed here too",
		[MLA_POOL_NO_LENGTH] = "the length that the pool remembers is not at hand",
		[MLA_POOL_NO_TOTAL] = "the cached length is not at hand where the test is made",
		[MLA_POOL_NO_COUNT] =
			"the number of new tokens is not at hand where the test is made",
		[MLA_POOL_ALONE] = "nothing beside the test says that there is a pool",
		[MLA_POOL_MIXED] = "the test cannot be taken out of its condition",
		[MLA_POOL_PADDING] = "the flag says that nothing was padded, and whether the new "
				     "tokens are is not at hand",
		[MLA_POOL_SYNTAX] = "the method does not parse",
	};
	const mla_module *m = p->refusal_module ? p->refusal_module : p->module;
	mla_str assumed = {"", 0};

	if (p->refusal == MLA_POOL_FIXABLE)
		return (mla_str){"", 0};
	if (p->refusal == MLA_POOL_ONE_TOKEN)
		assumed = mla_arena_format(arena, ": `%.*s`",
		                           MLA_ARG(mla_node_text(m->text, p->refusal_at)));
	return mla_arena_format(arena, "%s%.*s (%s%sline %u)", why[p->refusal], MLA_ARG(assumed),
	                        m == p->module ? "" : m->path, m == p->module ? "" : ", ",
	                        mla_text_line(m->text, p->refusal_at->span.start));
}

void mla_pool_describe(mla_finding *f, const mla_facts *facts, const mla_pool *p, mla_span span,
                       mla_arena *arena)
{
	f->module = facts->module;
	f->span = span;
	f->role = p->selects ? MLA_ROLE_SELECT : MLA_ROLE_GATE;
	f->pool = p;
	f->symbol = p->symbol;
	f->no_fix = refusal_text(arena, p);
}

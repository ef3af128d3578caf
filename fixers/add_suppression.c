/* Where a suppression comment goes, and which codes it names. */
#include "fixers/add_suppression.h"

#include "analyzer/str.h"

/* The statement that holds the finding and begins a line; `at` is where that line begins. */
static const mla_node *anchor(uint32_t *at, const mla_finding *f)
{
	const mla_node *n = mla_node_at(f->module->syntax.root, f->span);

	for (n = mla_node_statement(n); n; n = n->parent ? mla_node_statement(n->parent) : NULL)
		if (mla_insert_before(at, f->module, n))
			return n;
	return NULL;
}

/* The comment that covers just this statement, if it has a list of codes. */
static const mla_suppression *present(const mla_suppressions *s, const mla_node *statement)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].codes.len && s->v[i].covers.start == statement->outer.start &&
		    s->v[i].covers.end == statement->outer.end)
			return &s->v[i];
	return NULL;
}

/* A finding with its statement, and where the line of that begins. */
typedef struct {
	const mla_finding *finding;
	const mla_node *statement;
	uint32_t at;
} place;

/* "MLA101, MLA102": the codes of all findings from `from` on that have this statement. */
static mla_str codes(mla_arena *arena, const place *p, uint32_t from, uint32_t n)
{
	const mla_rule *last = NULL;
	mla_str list = {"", 0};

	for (const mla_rule *const *r = mla_rules; *r; r++)
		for (uint32_t i = from; i < n; i++) {
			if (p[i].finding->rule != *r || (*r)->about_suppressions || last == *r ||
			    p[i].statement != p[from].statement)
				continue;
			list = mla_arena_format(arena, "%.*s%s%s", MLA_ARG(list),
			                        list.len ? ", " : "", (*r)->code);
			last = *r;
		}
	return list;
}

static bool is_first(const place *p, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!p[k].finding->rule->about_suppressions && p[k].statement == p[i].statement)
			return false;
	return true;
}

int mla_suppression_add(mla_edits *out, mla_arena *arena, const mla_finding *const *finding,
                        uint32_t n, mla_str reason)
{
	place *p = mla_arena_array(arena, n, sizeof(*p));
	mla_suppressions all;

	if (n)
		mla_suppressions_find(&all, arena, finding[0]->module);
	for (uint32_t i = 0; i < n; i++) {
		p[i].finding = finding[i];
		p[i].statement = anchor(&p[i].at, finding[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const mla_finding *f = finding[i];
		uint32_t at = p[i].at;
		const mla_node *statement = p[i].statement;
		const mla_suppression *have;
		mla_writer w;

		if (f->rule->about_suppressions)
			continue;
		if (!statement)
			return mla_error(
				MLA_ECONFIG, "%s:%u: there is no line to put a comment above",
				f->module->path, mla_text_line(f->module->text, f->span.start));
		if (!is_first(p, i))
			continue;
		if ((have = present(&all, statement))) {
			uint32_t end = (uint32_t)(have->codes.ptr + have->codes.len -
			                          mla_text_bytes(f->module->text).ptr);
			mla_str list = codes(arena, p, i, n);

			mla_edits_add(out, f->module, (mla_span){end, end},
			              mla_arena_format(arena, ", %.*s", MLA_ARG(list)));
			continue;
		}
		w = mla_writer_for(arena, f->module, statement);
		mla_write_line(&w, 0, "%s mlalint: ignore[%.*s] %.*s", f->module->c ? "//" : "#",
		               MLA_ARG(codes(arena, p, i, n)), MLA_ARG(reason));
		mla_edits_add(out, f->module, (mla_span){at, at}, mla_writer_text(&w));
	}
	return mla_edits_finish(out);
}

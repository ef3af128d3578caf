/* The table of fixers, made from fixers.def. */
#include "fixers/fix.h"

#include "fixers/c_threshold.h"

#include "analyzer/str.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *code;
	mla_fixer *fixer;
} table[] = {
#define MLA_FIXER(code, x) {code, mla_fix_##x},
#include "fixers/fixers.def"
#undef MLA_FIXER
};

/* The first comment in a span that is not in the text that takes its place; NULL: none. */
static const mla_span *lost_comment(mla_arena *arena, const mla_module *m, const mla_edit *e)
{
	const mla_syntax *x = &m->syntax;

	for (uint32_t i = mla_syntax_comment(x, e->span.start);
	     i < x->comment_count && x->comments[i].end <= e->span.end; i++) {
		mla_str text = mla_text_slice(m->text, x->comments[i]);

		if (!mla_str_contains(e->text, mla_arena_dup(arena, text).ptr))
			return &x->comments[i];
	}
	return NULL;
}

/* A person's comment is worth more than our fix: who wrote it can move it and ask again. */
static void keep_comments(mla_fix *fix, const mla_module *home)
{
	for (uint32_t i = 0; i < fix->edits.n; i++)
		for (uint32_t k = 0; k < fix->edits.file[i].n; k++) {
			const mla_file_edits *f = &fix->edits.file[i];
			const mla_span *lost = lost_comment(fix->edits.arena, f->module, &f->v[k]);

			if (!lost)
				continue;
			mla_fix_refuse(fix, "the comment in line %u%s%s would be lost",
			               mla_text_line(f->module->text, lost->start),
			               f->module == home ? "" : " of ",
			               f->module == home ? "" : f->module->path);
			fix->edits.n = 0;
			return;
		}
}

static int make(mla_fix *out, mla_arena *arena, mla_project *project, const mla_finding *finding,
                mla_form form)
{
	*out = (mla_fix){.site = finding->site, .pool = finding->pool, .edits = {.arena = arena}};
	out->refusal = finding->no_fix;
	if (out->refusal.len)
		return 0;
	if (finding->site && finding->site->module->c)
		return mla_fix_c_threshold(out, arena, project, finding,
		                           finding->rule->cached_form ? MLA_FORM_CACHE_LENGTH
		                                                      : form);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcmp(table[i].code, finding->rule->code) == 0)
			return table[i].fixer(out, arena, project, finding, form);
	out->refusal = mla_str_c("this rule has no fix");
	return 0;
}

int mla_fix_make(mla_fix *out, mla_arena *arena, mla_project *project, const mla_finding *finding,
                 mla_form form)
{
	int error = make(out, arena, project, finding, form);

	if (error == 0 && !finding->rule->about_suppressions)
		keep_comments(out, finding->module);
	return error;
}

bool mla_fix_refuse(mla_fix *fix, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!fix->refusal.len)
		fix->refusal = mla_arena_format(fix->edits.arena, "%s", text);
	return false;
}

const char *mla_fix_lead(const mla_test *t)
{
	const mla_node *above = t->node->parent;

	return above && above->kind == MLA_N_CASE && t->node->index == 0 ? "_ if " : "";
}

/* The fix of MLA900: takes a code out of a suppression comment, or the whole comment. */
#include "fixers/fix.h"

#include "analyzer/str.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The comment with the blanks before it; its whole line where it stands alone. */
static mla_span removal(const mla_module *m, mla_span comment)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t line = mla_text_line(m->text, comment.start);
	uint32_t begin = mla_text_line_span(m->text, line).start;

	if (begin == 0 && mla_text_has_bom(m->text))
		begin = 3;
	while (comment.start > begin && is_blank(b.ptr[comment.start - 1]))
		comment.start--;
	if (comment.start == begin)
		comment.end = mla_text_line_next(m->text, line);
	return comment;
}

int mla_fix_remove_suppression(mla_fix *out, mla_arena *arena, mla_project *project,
                               const mla_finding *finding, mla_form form)
{
	mla_str kept = {"", 0}, code;

	(void)project;
	(void)form;
	for (uint32_t k = 0; mla_suppression_code(&code, finding->suppression, k); k++)
		if (finding->used_codes >> k & 1)
			kept = mla_arena_format(arena, "%.*s%s%.*s", MLA_ARG(kept),
			                        kept.len ? ", " : "", MLA_ARG(code));
	if (kept.len) {
		uint32_t start = (uint32_t)(finding->suppression->codes.ptr -
		                            mla_text_bytes(finding->module->text).ptr);

		mla_edits_add(&out->edits, finding->module,
		              (mla_span){start, start + finding->suppression->codes.len}, kept);
		out->title = "Remove the codes that suppress nothing";
	} else {
		mla_edits_add(&out->edits, finding->module, removal(finding->module, finding->span),
		              (mla_str){"", 0});
		out->title = "Remove the comment";
	}
	out->applicability = MLA_FIX_SAFE;
	out->reason = mla_str_c("only a comment changes");
	return mla_edits_finish(&out->edits);
}

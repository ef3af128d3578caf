/* Lines of a C file where a declaration can be put. */
#include "fixers/c_place.h"

#include "analyzer/c_info.h"
#include "analyzer/c_source.h"
#include "analyzer/str.h"

static bool is_directive(const mla_tokens *t, const mla_text *text, uint32_t i, const char *word)
{
	return i + 1 < t->n && t->v[i].directive && t->v[i + 1].directive &&
	       mla_str_is(mla_text_slice(text, t->v[i].span), "#") &&
	       mla_str_starts(mla_text_slice(text, t->v[i + 1].span), word);
}

/* The line of the innermost `#if` around token `i` that is closed or left before `end`. */
static bool leaves_condition(uint32_t *start, const mla_module *m, uint32_t i, uint32_t end)
{
	const mla_tokens *t = &m->c->tokens;
	int depth = 0;
	bool leaves = false;

	for (uint32_t k = i; k < t->n && t->v[k].span.start < end && !leaves; k++) {
		if (is_directive(t, m->text, k, "if"))
			depth++;
		else if (is_directive(t, m->text, k, "endif"))
			leaves = --depth < 0;
		else if (is_directive(t, m->text, k, "el"))
			leaves = depth == 0;
	}
	if (!leaves)
		return false;
	depth = 0;
	for (uint32_t k = i; k-- > 0;) {
		if (is_directive(t, m->text, k, "endif"))
			depth++;
		else if (is_directive(t, m->text, k, "if") && depth-- == 0) {
			*start = t->v[k].span.start;
			return true;
		}
	}
	return false;
}

/* Above the comments that end on the line before. */
static uint32_t above_comments(const mla_module *m, uint32_t at)
{
	const mla_tokens *t = &m->c->tokens;

	for (uint32_t i = t->comment_count; i-- > 0;) {
		mla_span c = t->comment[i];
		uint32_t line = mla_text_line(m->text, at);

		if (c.start >= at || line < 2)
			continue;
		if (mla_text_line(m->text, c.end ? c.end - 1 : 0) != line - 1 ||
		    mla_text_line_span(m->text, mla_text_line(m->text, c.start)).start +
		                    mla_text_indent_at(m->text, c.start).len !=
		            c.start)
			break;
		at = mla_text_line_span(m->text, mla_text_line(m->text, c.start)).start;
	}
	return at;
}

bool mla_c_place_before(uint32_t *out, const mla_module *m, uint32_t first, uint32_t last)
{
	const mla_tokens *t = &m->c->tokens;
	const mla_node *root = m->syntax.root;
	uint32_t at = first, i;

	for (uint32_t k = 0; k < root->n; k++)
		if (root->kid[k]->span.start <= first && first < root->kid[k]->span.end)
			at = root->kid[k]->span.start;
	i = mla_tokens_at(t, at);
	while (i > 0 && i < t->n && !t->v[i - 1].directive) {
		mla_str before = mla_text_slice(m->text, t->v[i - 1].span);

		if (mla_str_is(before, ";") || mla_str_is(before, "}") || mla_str_is(before, "{"))
			break;
		i--;
	}
	at = i < t->n ? t->v[i].span.start : at;
	while (leaves_condition(&at, m, i, last))
		i = mla_tokens_at(t, at);
	*out = mla_text_line_span(m->text, mla_text_line(m->text, at)).start;
	if (*out + mla_text_indent_at(m->text, at).len != at)
		return false;
	*out = above_comments(m, *out);
	return true;
}

/* At file level, or in an extern "C" there. */
static bool is_outermost(const mla_node *n, const mla_node *root)
{
	const mla_node *block = n->parent, *around = block == root ? NULL : block->parent;

	if (!around)
		return true;
	if (around->kind != MLA_N_CLASS || around->name.len || around->parent != root)
		return false;
	for (uint32_t i = 0; i < block->n; i++)
		if (mla_decl_of(block->kid[i]) == MLA_DECL_FIELD)
			return false;
	return true;
}

const mla_node *mla_c_definition(const mla_module *m, const mla_record *r)
{
	const mla_node *root = m->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION)) {
		const mla_node *block = mla_kid(n, 1);
		uint32_t same = 0, fields = 0;

		if (n->kind != MLA_N_CLASS || !block || !is_outermost(n, root))
			continue;
		for (uint32_t i = 0; i < block->n; i++)
			if (mla_decl_of(block->kid[i]) == MLA_DECL_FIELD) {
				same += fields < r->n &&
				        mla_str_eq(block->kid[i]->name, r->field[fields].name);
				fields++;
			}
		if (fields && same == fields && fields == r->n)
			return n;
	}
	return NULL;
}

bool mla_c_place_after(uint32_t *out, const mla_module *m, const mla_node *definition)
{
	const mla_tokens *t = &m->c->tokens;
	uint32_t i = mla_tokens_at(t, definition->span.end - 1), line;

	while (i < t->n && !mla_str_is(mla_text_slice(m->text, t->v[i].span), ";"))
		i++;
	if (i == t->n)
		return false;
	line = mla_text_line(m->text, t->v[i].span.start);
	if (line == mla_text_line_count(m->text))
		return false;
	*out = mla_text_line_next(m->text, line);
	return true;
}

/* The emitted function needs no header, and compiles as C99, C++ and Objective-C. */
#include "fixers/c_helper.h"

#include "analyzer/c_info.h"
#include "analyzer/c_source.h"
#include "analyzer/str.h"

/*
 * Sizes beyond 31 bits are an unsigned difference that went below zero, not a model. Below that
 * r d is under 2^63: d < 2 r where it is used. With a cached length T the quotient is
 * r d T / (r d + m T), m = 2 r - d; where r d T leaves 63 bits, r d / (r d / T + m) stands for it.
 */
static const char *const comment_lines[] = {
	"/*",
	" * The largest number of queries for which absorbed attention takes no more multiply-adds",
	NULL, /* by form */
	" */",
};

static const char *const floor_lines[] = {
	"0static inline long long mla_max_absorbed_queries(long long rank, long long nope, long "
	"long "
	"v)",
	"0{",
	"1const long long limit = 2147483647;",
	"1long long d, saved, queries;",
	"0",
	"1/* An unsigned difference below zero is beyond the limit. */",
	"1if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)",
	"2return 1;",
	"1d = nope + v;",
	"1saved = 2 * rank - d;",
	"1if (saved <= 0)",
	"2return 1;",
	"1queries = rank * d / saved;",
	"1return queries < 1 ? 1 : queries;",
	"0}",
	NULL,
};

static const char *const cached_lines[] = {
	"0static inline long long mla_max_absorbed_queries_at(long long rank, long long nope, long "
	"long v,",
	"0                                                    long long cached)",
	"0{",
	"1const long long limit = 2147483647, most = 9223372036854775807LL;",
	"1long long d, saved, once, queries;",
	"0",
	"1/* An unsigned difference below zero is beyond the limit. */",
	"1if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)",
	"2return 1;",
	"1d = nope + v;",
	"1saved = 2 * rank - d;",
	"1if (saved <= 0 || d == 0 || cached < 1)",
	"2return 1;",
	"1once = rank * d;",
	"1if (cached <= most / once && cached <= (most - once) / saved)",
	"2queries = once * cached / (once + saved * cached);",
	"1else",
	"2queries = once / (once / cached + saved);",
	"1return queries < 1 ? 1 : queries;",
	"0}",
	NULL,
};

/* One step of indentation of a C file: the first indented line after an opening brace. */
static mla_str indent_unit(const mla_text *t)
{
	uint32_t lines = mla_text_line_count(t);

	for (uint32_t i = 1; i < lines; i++) {
		mla_str line = mla_text_slice(t, mla_text_line_span(t, i)), next;

		if (!line.len || line.ptr[line.len - 1] != '{' || line.ptr[0] == ' ' ||
		    line.ptr[0] == '\t')
			continue;
		next = mla_text_indent_at(t, mla_text_line_span(t, i + 1).start);
		if (next.len)
			return next;
	}
	return mla_str_c("    ");
}

static const char *helper_name(mla_form form)
{
	return form == MLA_FORM_GEOMETRY ? "mla_max_absorbed_queries"
	                                 : "mla_max_absorbed_queries_at";
}

static void write_helper(mla_writer *w, mla_form form)
{
	const char *const *line = form == MLA_FORM_GEOMETRY ? floor_lines : cached_lines;

	for (size_t i = 0; i < sizeof(comment_lines) / sizeof(*comment_lines); i++) {
		const char *text = comment_lines[i];

		if (!text)
			text = form == MLA_FORM_GEOMETRY
			               ? " * than expanding a long cache: r d / (2 r - d), d = "
			                 "nope + v; at least 1."
			               : " * than expanding `cached` rows: r d T / (r d + (2 r - "
			                 "d) T), d = nope + v; at least 1.";
		mla_write_line(w, 0, "%s", text);
	}
	for (; *line; line++)
		mla_write_line(w, (uint32_t)(**line - '0'), "%s", *line + 1);
}

static mla_writer writer_of(mla_arena *arena, const mla_module *m, uint32_t at)
{
	mla_writer w = mla_writer_at(arena, m, at);

	w.indent = (mla_str){"", 0};
	w.unit = indent_unit(m->text);
	return w;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Same text but for blanks? */
static bool reads_the_same(mla_str a, mla_str b)
{
	uint32_t i = 0, k = 0;

	for (;;) {
		while (i < a.len && is_blank(a.ptr[i]))
			i++;
		while (k < b.len && is_blank(b.ptr[k]))
			k++;
		if (i == a.len || k == b.len)
			return i == a.len && k == b.len;
		if (a.ptr[i++] != b.ptr[k++])
			return false;
	}
}

/* The text of the function alone, without the comment above it. */
static mla_str function_text(mla_arena *arena, const mla_module *m, mla_form form)
{
	mla_writer w = writer_of(arena, m, 0);
	mla_str all;
	uint32_t start = 0;

	write_helper(&w, form);
	all = mla_writer_text(&w);
	for (uint32_t i = 0; i + 6 < all.len; i++)
		if (memcmp(all.ptr + i, "static", 6) == 0) {
			start = i;
			break;
		}
	return (mla_str){all.ptr + start, all.len - start};
}

static const mla_node *function_named(const mla_module *m, const char *name)
{
	const mla_node *root = m->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION))
		if (n->kind == MLA_N_FUNCTION && mla_kid(n, 1) && mla_str_is(n->name, name))
			return n;
	return NULL;
}

/* Is `#include ".../name of header"` in the file? */
static bool includes(const mla_module *m, const mla_module *header)
{
	const char *slash = strrchr(header->path, '/');
	mla_str base = mla_str_c(slash ? slash + 1 : header->path);
	const mla_tokens *t = &m->c->tokens;

	for (uint32_t i = 0; i < t->n; i++) {
		mla_str s = mla_text_slice(m->text, t->v[i].span);

		if (!t->v[i].directive || t->v[i].kind != MLA_TOKEN_STRING || s.len < base.len + 2)
			continue;
		s = (mla_str){s.ptr + 1, s.len - 2};
		if (s.len >= base.len &&
		    memcmp(s.ptr + s.len - base.len, base.ptr, base.len) == 0 &&
		    (s.len == base.len || s.ptr[s.len - base.len - 1] == '/'))
			return true;
	}
	return false;
}

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

/* Where a function can stand before the outermost declaration around `first`, so that everything
 * up to `last` sees it. */
static bool place_before(uint32_t *out, const mla_module *m, uint32_t first, uint32_t last)
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

/* The struct with these members, at file level. */
static const mla_node *definition_of(const mla_module *m, const mla_record *r)
{
	const mla_node *root = m->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION)) {
		const mla_node *block = mla_kid(n, 1);
		uint32_t same = 0, fields = 0;

		if (n->kind != MLA_N_CLASS || !block || n->parent != root)
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

static bool place_after(uint32_t *out, const mla_module *m, const mla_node *definition)
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

typedef struct {
	mla_fix *fix;
	mla_project *project;
	mla_form form;
} request;

static bool insert(const request *q, mla_module *m, uint32_t at, bool below)
{
	mla_writer w = writer_of(q->fix->edits.arena, m, at);

	if (below)
		mla_write_blank(&w);
	write_helper(&w, q->form);
	if (!below)
		mla_write_blank(&w);
	mla_edits_bind(&q->fix->edits, m, (mla_span){at, at}, mla_writer_text(&w),
	               mla_str_c(helper_name(q->form)));
	return true;
}

/* An existing one of that name: *found, and false when it is something else. */
static bool reuse(const request *q, bool *found, mla_module *m, uint32_t before)
{
	const char *name = helper_name(q->form);
	uint32_t index = 0;
	mla_module *other;

	*found = false;
	while ((other = mla_project_next(q->project, &index))) {
		const mla_node *f = other->c ? function_named(other, name) : NULL;

		if (!f || (other != m && !includes(m, other)))
			continue;
		if (!reads_the_same(mla_node_text(other->text, f),
		                    function_text(q->fix->edits.arena, other, q->form)))
			return mla_fix_refuse(q->fix, "%s is another function in %s", name,
			                      other->path);
		if (other == m && f->span.start > before)
			return mla_fix_refuse(q->fix, "%s is defined after the test", name);
		*found = true;
	}
	return true;
}

/* First and last test of the site in the file. */
static void range_in(uint32_t *first, uint32_t *last, const mla_site *s, const mla_module *m)
{
	*first = UINT32_MAX;
	*last = 0;
	for (uint32_t i = 0; i < s->test_count; i++) {
		if (s->test[i]->module != m)
			continue;
		if (s->test[i]->node->span.start < *first)
			*first = s->test[i]->node->span.start;
		if (s->test[i]->node->span.end > *last)
			*last = s->test[i]->node->span.end;
	}
}

static bool in_shared_header(const request *q, const mla_record *sizes)
{
	const mla_site *s = q->fix->site;
	uint32_t index = 0, at;
	mla_module *m;

	while (sizes && (m = mla_project_next(q->project, &index))) {
		const mla_node *definition = m->c ? definition_of(m, sizes) : NULL;
		bool found, everywhere = true;

		for (uint32_t i = 0; definition && i < s->test_count; i++)
			everywhere &= s->test[i]->module != m;
		if (!definition || !everywhere || !place_after(&at, m, definition))
			continue;
		if (!reuse(q, &found, m, UINT32_MAX))
			return false;
		return found || insert(q, m, at, true);
	}
	return mla_fix_refuse(q->fix, "the tests are in several files, and no header with the "
	                              "struct of the sizes is among the sources");
}

bool mla_c_helper_require(mla_str *name, mla_fix *fix, mla_project *project,
                          const mla_record *sizes, mla_form form)
{
	const request q = {fix, project, form};
	const mla_site *s = fix->site;
	mla_module *m = s->test[0]->module;
	uint32_t first, last, at;
	bool found;

	*name = mla_str_c(helper_name(form));
	for (uint32_t i = 1; i < s->test_count; i++)
		if (s->test[i]->module != m)
			return in_shared_header(&q, sizes);
	range_in(&first, &last, s, m);
	if (!reuse(&q, &found, m, first))
		return false;
	if (found)
		return true;
	if (!place_before(&at, m, first, last))
		return mla_fix_refuse(fix, "there is no line of its own before the function");
	return insert(&q, m, at, false);
}

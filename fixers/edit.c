/* Edit lists, and text that fits the file it goes into. */
#include "fixers/edit.h"

#include "analyzer/str.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_WIDTH = 88 };

static mla_file_edits *edits_of(mla_edits *e, mla_module *m)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->file[i].module == m)
			return &e->file[i];
	if (e->n == e->cap) {
		mla_file_edits *more;

		e->cap = e->cap ? 2 * e->cap : 4;
		more = mla_arena_array(e->arena, e->cap, sizeof(*more));
		if (e->n)
			memcpy(more, e->file, e->n * sizeof(*more));
		e->file = more;
	}
	e->file[e->n] = (mla_file_edits){.module = m};
	return &e->file[e->n++];
}

void mla_edits_bind(mla_edits *e, mla_module *m, mla_span span, mla_str text, mla_str name)
{
	mla_file_edits *f = edits_of(e, m);

	for (uint32_t i = 0; i < f->n; i++)
		if (f->v[i].span.start == span.start && f->v[i].span.end == span.end &&
		    mla_str_eq(f->v[i].text, text))
			return;
	if (f->n == f->cap) {
		mla_edit *more;

		f->cap = f->cap ? 2 * f->cap : 8;
		more = mla_arena_array(e->arena, f->cap, sizeof(*more));
		if (f->n)
			memcpy(more, f->v, f->n * sizeof(*more));
		f->v = more;
	}
	f->v[f->n++] = (mla_edit){span, text, name};
}

void mla_edits_add(mla_edits *e, mla_module *m, mla_span span, mla_str text)
{
	mla_edits_bind(e, m, span, text, (mla_str){"", 0});
}

int mla_edits_finish(mla_edits *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		mla_edit *v = e->file[i].v;

		/* Insertion sort: a handful of edits, and equal positions keep their order. */
		for (uint32_t k = 1; k < e->file[i].n; k++)
			for (uint32_t j = k; j > 0 && v[j].span.start < v[j - 1].span.start; j--) {
				mla_edit swap = v[j];

				v[j] = v[j - 1];
				v[j - 1] = swap;
			}
		for (uint32_t k = 1; k < e->file[i].n; k++)
			if (v[k].span.start < v[k - 1].span.end)
				return mla_error(MLA_EBUG, "%s: two edits of one fix overlap",
				                 e->file[i].module->path);
	}
	return 0;
}

mla_writer mla_writer_at(mla_arena *arena, const mla_module *m, uint32_t offset)
{
	return (mla_writer){
		.arena = arena,
		.eol = mla_text_eol_at(m->text, offset),
		.indent = mla_text_indent_at(m->text, offset),
		.unit = mla_text_indent_unit(m->text),
	};
}

static void put(mla_writer *w, mla_str s)
{
	if (w->len + s.len > w->cap) {
		char *more;

		w->cap = 2 * (w->len + s.len) + 64;
		more = mla_arena_alloc(w->arena, w->cap);
		if (w->len)
			memcpy(more, w->ptr, w->len);
		w->ptr = more;
	}
	if (s.len)
		memcpy(w->ptr + w->len, s.ptr, s.len);
	w->len += s.len;
}

static void put_format(mla_writer *w, const char *fmt, va_list ap)
{
	va_list copy;
	char *text;
	int n;

	va_copy(copy, ap);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	text = mla_arena_alloc(w->arena, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	put(w, (mla_str){text, (uint32_t)n});
}

void mla_write(mla_writer *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_format(w, fmt, ap);
	va_end(ap);
}

void mla_write_line(mla_writer *w, uint32_t level, const char *fmt, ...)
{
	va_list ap;

	put(w, w->indent);
	while (level--)
		put(w, w->unit);
	va_start(ap, fmt);
	put_format(w, fmt, ap);
	va_end(ap);
	put(w, w->eol);
}

void mla_write_blank(mla_writer *w)
{
	put(w, w->eol);
}

mla_str mla_writer_text(const mla_writer *w)
{
	return (mla_str){w->len ? w->ptr : "", w->len};
}

static uint32_t joined_width(const mla_str *arguments, uint32_t n)
{
	uint32_t width = 0;

	for (uint32_t i = 0; i < n; i++)
		width += mla_text_width(arguments[i]) + (i ? 2 : 0);
	return width;
}

static void put_joined(mla_writer *w, const mla_str *arguments, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			put(w, mla_str_c(", "));
		put(w, arguments[i]);
	}
}

static void new_line(mla_writer *w, bool deeper)
{
	put(w, w->eol);
	put(w, w->indent);
	if (deeper)
		put(w, w->unit);
}

void mla_write_call(mla_writer *w, uint32_t column, mla_str head, const mla_str *arguments,
                    uint32_t n, mla_str tail)
{
	uint32_t inner = joined_width(arguments, n);
	uint32_t deeper = mla_text_width(w->indent) + mla_text_width(w->unit);

	put(w, head);
	put(w, mla_str_c("("));
	if (column + mla_text_width(head) + 1 + inner + 1 + mla_text_width(tail) <= LINE_WIDTH) {
		put_joined(w, arguments, n);
	} else if (deeper + inner <= LINE_WIDTH) {
		new_line(w, true);
		put_joined(w, arguments, n);
		new_line(w, false);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			new_line(w, true);
			put(w, arguments[i]);
			put(w, mla_str_c(","));
		}
		new_line(w, false);
	}
	put(w, mla_str_c(")"));
	put(w, tail);
}

bool mla_comment_at(uint32_t *end, const mla_module *m, uint32_t offset)
{
	const mla_syntax *x = &m->syntax;
	uint32_t i = mla_syntax_comment(x, offset);

	if (i == x->comment_count || x->comments[i].start != offset)
		return false;
	*end = x->comments[i].end;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

/* The offset behind the line end at `at`, or `at` itself when there is none. */
static uint32_t past_eol(mla_str b, uint32_t at)
{
	if (at < b.len && b.ptr[at] == '\r')
		return at + 1 < b.len && b.ptr[at + 1] == '\n' ? at + 2 : at + 1;
	return at < b.len && b.ptr[at] == '\n' ? at + 1 : at;
}

/* Does the line before the one that starts at `start` end in a backslash? */
static bool is_continued(const mla_module *m, uint32_t start)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t line = mla_text_line(m->text, start), end, comment;
	mla_span above;

	if (line == 1)
		return false;
	above = mla_text_line_span(m->text, line - 1);
	if (above.end == above.start || b.ptr[above.end - 1] != '\\')
		return false;
	for (comment = above.start; comment < above.end; comment++)
		if (mla_comment_at(&end, m, comment))
			return false;
	return true;
}

bool mla_insert_before(uint32_t *offset, const mla_module *m, const mla_node *n)
{
	uint32_t start = n->outer.start < n->span.start ? n->outer.start : n->span.start;
	mla_span line = mla_text_line_span(m->text, mla_text_line(m->text, start));
	mla_str indent = mla_text_indent_at(m->text, start);

	*offset = line.start;
	if (line.start == 0 && mla_text_has_bom(m->text))
		*offset = 3;
	return *offset + indent.len == start && !is_continued(m, line.start);
}

/* Behind the simple statements that follow `n` on its logical line, comment and line end. */
static bool past_line(uint32_t *offset, const mla_module *m, const mla_node *n)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t at = n->span.end, next;

	for (;;) {
		const mla_node *after = mla_kid(n->parent, n->index + 1);

		if (n->has_error)
			return false;
		/* A block may end behind its last line end. */
		if (at > n->span.start && (b.ptr[at - 1] == '\n' || b.ptr[at - 1] == '\r'))
			break;
		while (at < b.len && (is_blank(b.ptr[at]) || b.ptr[at] == ';'))
			at++;
		if (mla_comment_at(&next, m, at))
			at = next;
		if (at == b.len || past_eol(b, at) > at) {
			at = past_eol(b, at);
			break;
		}
		if (b.ptr[at] == '\\' && past_eol(b, at + 1) > at + 1) {
			at = past_eol(b, at + 1);
			while (at < b.len && is_blank(b.ptr[at]))
				at++;
		}
		if (!after || (after->span.start != at && after->outer.start != at) ||
		    after->kind == MLA_N_RETURN || after->kind == MLA_N_RAISE)
			return false;
		n = after;
		at = n->outer.end > n->span.end ? n->outer.end : n->span.end;
	}
	*offset = at;
	return true;
}

bool mla_insert_after(uint32_t *offset, mla_str *lead, const mla_module *m, const mla_node *n)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t start;

	*lead = (mla_str){"", 0};
	if (!n->parent || (n->parent->kind != MLA_N_BLOCK && n->parent->kind != MLA_N_MODULE))
		return false;
	if (n->parent->kind == MLA_N_BLOCK && !mla_insert_before(&start, m, n->parent->kid[0]))
		return false;
	if (!past_line(offset, m, n))
		return false;
	if (*offset == b.len && b.ptr[b.len - 1] != '\n' && b.ptr[b.len - 1] != '\r')
		*lead = mla_text_eol_at(m->text, b.len - 1);
	return true;
}

mla_writer mla_writer_for(mla_arena *arena, const mla_module *m, const mla_node *n)
{
	mla_writer w = mla_writer_at(arena, m, n->parent->kid[0]->span.start);

	w.eol = mla_text_eol_at(m->text, n->span.start);
	if (n->parent->kind == MLA_N_MODULE)
		w.indent.len = 0;
	return w;
}

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

void mla_edits_add(mla_edits *e, mla_module *m, mla_span span, mla_str text)
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
	f->v[f->n++] = (mla_edit){span, text};
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

uint32_t mla_insert_after(const mla_module *m, const mla_node *n, mla_str *lead)
{
	uint32_t end = n->span.end > n->span.start ? n->span.end - 1 : n->span.end;
	uint32_t line = mla_text_line(m->text, end);
	uint32_t next = mla_text_line_next(m->text, line);

	/* The last line of a file may have no line end to put anything after. */
	*lead = mla_text_line_span(m->text, line).end == next ? mla_text_eol_at(m->text, end)
	                                                      : (mla_str){"", 0};
	return next;
}

bool mla_insert_before(uint32_t *offset, const mla_module *m, const mla_node *n)
{
	mla_span line = mla_text_line_span(m->text, mla_text_line(m->text, n->span.start));
	mla_str indent = mla_text_indent_at(m->text, n->span.start);

	*offset = line.start;
	if (line.start == 0 && mla_text_has_bom(m->text))
		*offset = 3;
	return *offset + indent.len == n->span.start;
}

/* Reading suppression comments and attaching them to statements. */
#include "analyzer/suppress.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"

static mla_str trimmed(mla_str s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
		s.ptr++;
		s.len--;
	}
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool take(mla_str *s, const char *word)
{
	if (!mla_str_starts(*s, word))
		return false;
	s->ptr += strlen(word);
	s->len -= (uint32_t)strlen(word);
	*s = trimmed(*s);
	return true;
}

/* Is it one of ours? Then its codes and reason, and whether it is for the file. */
static bool read_comment(mla_str s, mla_suppression *out, bool *file)
{
	bool block = mla_str_starts(s, "/*");

	out->codes = out->reason = (mla_str){"", 0};
	while (s.len && strchr("#/*", s.ptr[0])) /* of Python and of C */
		s = (mla_str){s.ptr + 1, s.len - 1};
	s = trimmed(s);
	if (!take(&s, "mlalint:"))
		return false;
	*file = mla_str_starts(s, "ignore-file");
	if (!take(&s, *file ? "ignore-file" : "ignore"))
		return false;
	if (s.len && s.ptr[0] == '[') {
		uint32_t end = 1;

		while (end < s.len && s.ptr[end] != ']')
			end++;
		if (end < s.len) {
			out->codes = (mla_str){s.ptr + 1, end - 1};
			out->reason = trimmed((mla_str){s.ptr + end + 1, s.len - end - 1});
			if (block && mla_str_ends(out->reason, "*/"))
				out->reason.len -= 2;
			out->reason = trimmed(out->reason);
		}
	}
	return true;
}

/* The innermost statement that the line from `offset` on is part of. */
static const mla_node *statement_at(const mla_module *m, uint32_t offset)
{
	const mla_span point = {offset, offset + 1};

	return mla_node_statement(mla_node_at(m->syntax.root, point));
}

/* The line of the first statement below a comment that stands alone. */
static uint32_t next_code(const mla_module *m, uint32_t line)
{
	uint32_t count = mla_text_line_count(m->text);

	while (++line <= count) {
		mla_span span = mla_text_line_span(m->text, line);
		mla_str s = trimmed(mla_text_slice(m->text, span));

		if (s.len && s.ptr[0] != '#' && !mla_str_starts(s, "//"))
			return (uint32_t)(s.ptr - mla_text_bytes(m->text).ptr);
	}
	return UINT32_MAX;
}

static mla_span covered(const mla_module *m, mla_span comment)
{
	uint32_t line = mla_text_line(m->text, comment.start);
	mla_span whole = mla_text_line_span(m->text, line);
	mla_str before = trimmed(mla_text_slice(m->text, (mla_span){whole.start, comment.start}));
	uint32_t offset = before.len ? (uint32_t)(before.ptr - mla_text_bytes(m->text).ptr)
	                             : next_code(m, line);
	const mla_node *n = offset == UINT32_MAX ? NULL : statement_at(m, offset);

	return n ? n->outer : (mla_span){comment.start, comment.start};
}

void mla_suppressions_find(mla_suppressions *out, mla_arena *arena, const mla_module *m)
{
	MLA_VEC(mla_suppression) list = {0};
	mla_suppression *copy;

	for (uint32_t i = 0; i < m->syntax.comment_count; i++) {
		mla_suppression s = {.comment = m->syntax.comments[i]};
		bool file;

		if (!read_comment(mla_text_slice(m->text, s.comment), &s, &file))
			continue;
		s.covers =
			file ? (mla_span){0, mla_text_bytes(m->text).len} : covered(m, s.comment);
		mla_vec_push(&list, s);
	}
	copy = mla_arena_array(arena, list.n, sizeof(*copy));
	if (list.n)
		memcpy(copy, list.v, list.n * sizeof(*copy));
	*out = (mla_suppressions){copy, list.n};
	mla_vec_free(&list);
}

bool mla_suppression_code(mla_str *code, const mla_suppression *s, uint32_t i)
{
	mla_str rest = s->codes;

	for (;; i--) {
		uint32_t n = 0;

		if (!rest.len)
			return false;
		while (n < rest.len && rest.ptr[n] != ',')
			n++;
		if (i == 0) {
			*code = trimmed((mla_str){rest.ptr, n});
			return true;
		}
		rest.ptr += n + (n < rest.len);
		rest.len -= n + (n < rest.len);
	}
}

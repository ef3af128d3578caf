/* Laying out plain text. */
#include "cli/patch_text.h"

#include "analyzer/str.h"
#include "analyzer/text.h"
#include "cli/json.h"
#include "cli/verbs.h"

#include <stdarg.h>

enum { COLUMNS = 72 };

mla_str mla_patch_line(mla_arena *arena, mla_str s)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&bytes, &size);
	mla_str out = s;
	json_t *valid;

	if (!f)
		return mla_str_c("");
	mla_put_joined(f, s);
	fclose(f);
	valid = mla_json_text((mla_str){bytes, (uint32_t)size});
	if (json_is_string(valid))
		out = (mla_str){json_string_value(valid), (uint32_t)json_string_length(valid)};
	else
		out = mla_str_c("");
	out = mla_arena_dup(arena, out);
	json_decref(valid);
	free(bytes);
	return out;
}

void mla_patch_fill(FILE *to, uint32_t hang, mla_str text)
{
	uint32_t column = hang; /* what stands there before the text is as wide */
	bool first = true;

	for (uint32_t i = 0; i < text.len; first = false) {
		mla_str word;
		uint32_t end = i, width;

		while (end < text.len && text.ptr[end] != ' ')
			end++;
		word = (mla_str){text.ptr + i, end - i};
		width = mla_text_width(word);
		if (!first && column + 1 + width > COLUMNS) {
			fprintf(to, "\n%*s", (int)hang, "");
			column = hang;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fwrite(word.ptr, 1, word.len, to);
		column += width;
		i = end + (end < text.len);
	}
	fputc('\n', to);
}

void mla_patch_cell(mla_patch_table *t, const char *fmt, ...)
{
	char text[8192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	mla_vec_push(&t->cell, mla_arena_dup(t->arena, mla_str_c(text)));
}

void mla_patch_table_put(FILE *to, mla_patch_table *t)
{
	uint32_t columns = (uint32_t)strlen(t->align);
	uint32_t *width = mla_arena_array(t->arena, columns, sizeof(*width));

	for (uint32_t i = 0; i < t->cell.n; i++) {
		uint32_t w = mla_text_width(t->cell.v[i]);

		if (w > width[i % columns])
			width[i % columns] = w;
	}
	for (uint32_t i = 0; i < t->cell.n; i++) {
		uint32_t c = i % columns, pad = width[c] - mla_text_width(t->cell.v[i]);
		bool right = t->align[c] == 'r', last = c + 1 == columns;

		fprintf(to, "%s%*s%.*s%*s", c ? "  " : "    ", right ? (int)pad : 0, "",
		        MLA_ARG(t->cell.v[i]), right || last ? 0 : (int)pad, "");
		if (last)
			fputc('\n', to);
	}
	mla_vec_free(&t->cell);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

mla_str mla_patch_ranges(mla_arena *arena, const uint32_t *v, uint32_t n)
{
	uint32_t *sorted = mla_arena_array(arena, n, sizeof(*sorted));
	mla_str out = {"", 0};

	if (!n)
		return mla_str_c("-");
	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t last = sorted[i];

		for (end = i + 1; end < n && sorted[end] <= last + 1; end++)
			last = sorted[end];
		out = mla_arena_format(arena, "%.*s%s%u", MLA_ARG(out), out.len ? "," : "",
		                       sorted[i]);
		if (last != sorted[i])
			out = mla_arena_format(arena, "%.*s%s%u", MLA_ARG(out),
			                       last == sorted[i] + 1 ? "," : "-", last);
	}
	return out;
}

/* See patchbreak(), is_from_line() and check_inbody_header() of git. */
static bool is_misread(mla_str line)
{
	static const char *const starts[] = {
		"diff -", "Index: ", "From ", "From:", "Date:", "---", "[PATCH", "Subject:", NULL};
	mla_str s = line;

	while (s.len && s.ptr[0] == '>') {
		s.ptr++;
		s.len--;
	}
	if (s.len != line.len && mla_str_starts(s, "From "))
		return true;
	for (int i = 0; starts[i]; i++)
		if (mla_str_starts(line, starts[i]))
			return true;
	return false;
}

mla_str mla_patch_message_clean(mla_arena *arena, mla_str text)
{
	/* One more byte for each line, which has one itself, and for a last line without its end.
	 */
	char *out = mla_arena_alloc(arena, 2 * (size_t)text.len + 2);
	uint32_t len = 0;
	bool empty = true; /* the line before; at the start none may follow either */

	for (uint32_t i = 0; i < text.len;) {
		mla_str line = {text.ptr + i, 0};

		while (i + line.len < text.len && line.ptr[line.len] != '\n')
			line.len++;
		i += line.len + 1;
		while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
			line.len--;
		if (!line.len && empty)
			continue;
		empty = !line.len;
		if (is_misread(line))
			out[len++] = ' ';
		memcpy(out + len, line.ptr, line.len);
		len += line.len;
		out[len++] = '\n';
	}
	while (len > 1 && out[len - 1] == '\n' && out[len - 2] == '\n')
		len--;
	return (mla_str){out, len};
}

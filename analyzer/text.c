/* Lines, columns, line ends and indentation of one file. Parses no language. */
#include "analyzer/text.h"

#include "analyzer/str.h"
#include "analyzer/utf8.h"
#include "analyzer/vec.h"

struct mla_text {
	char *path;
	mla_str bytes;
	MLA_VEC(uint32_t) starts; /* offset of each line's first byte */
};

static char *copy(const char *ptr, size_t len)
{
	char *p = mla_alloc(len + 1);

	if (len)
		memcpy(p, ptr, len);
	return p;
}

/* "\r\n", "\n" and a lone "\r" end a line, as they do for Python. */
static uint32_t eol_length(mla_str b, uint32_t at)
{
	if (at >= b.len)
		return 0;
	if (b.ptr[at] == '\n')
		return 1;
	if (b.ptr[at] != '\r')
		return 0;
	return at + 1 < b.len && b.ptr[at + 1] == '\n' ? 2 : 1;
}

int mla_text_new(mla_text **out, const char *path, mla_str bytes)
{
	mla_text *t;

	if (bytes.len > MLA_TEXT_MAX)
		return mla_error(MLA_ELIMIT, "larger than %d MB", MLA_TEXT_MAX >> 20);
	t = mla_alloc(sizeof(*t));
	t->path = copy(path, strlen(path));
	t->bytes = (mla_str){copy(bytes.ptr, bytes.len), bytes.len};
	mla_vec_push(&t->starts, 0);
	for (uint32_t i = 0; i < bytes.len;) {
		uint32_t n = eol_length(bytes, i);

		i += n ? n : 1;
		if (n)
			mla_vec_push(&t->starts, i);
	}
	*out = t;
	return 0;
}

void mla_text_free(mla_text *t)
{
	if (!t)
		return;
	free(t->path);
	free((char *)t->bytes.ptr);
	mla_vec_free(&t->starts);
	free(t);
}

const char *mla_text_path(const mla_text *t)
{
	return t->path;
}

mla_str mla_text_bytes(const mla_text *t)
{
	return t->bytes;
}

mla_str mla_text_slice(const mla_text *t, mla_span s)
{
	if (s.end > t->bytes.len)
		s.end = t->bytes.len;
	if (s.start > s.end)
		s.start = s.end;
	return (mla_str){t->bytes.ptr + s.start, s.end - s.start};
}

uint32_t mla_text_line(const mla_text *t, uint32_t offset)
{
	uint32_t low = 0, high = t->starts.n;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (t->starts.v[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return low + 1;
}

uint32_t mla_text_line_count(const mla_text *t)
{
	return t->starts.n;
}

mla_span mla_text_line_span(const mla_text *t, uint32_t line)
{
	uint32_t start = t->starts.v[line - 1];
	uint32_t end = line < t->starts.n ? t->starts.v[line] : t->bytes.len;

	/* A line holds no line end but its own, so this trims exactly that one. */
	while (end > start && (t->bytes.ptr[end - 1] == '\n' || t->bytes.ptr[end - 1] == '\r'))
		end--;
	return (mla_span){start, end};
}

uint32_t mla_text_line_next(const mla_text *t, uint32_t line)
{
	return line < t->starts.n ? t->starts.v[line] : t->bytes.len;
}

/* Bytes of the code point at `i`; 1 for a byte that starts no well-formed sequence. */
static uint32_t point_length(mla_str s, uint32_t i)
{
	uint32_t code;
	int n = mla_utf8_next(&code, s, i);

	return n > 0 ? (uint32_t)n : 1;
}

static mla_pos position(const mla_text *t, uint32_t offset, bool utf16)
{
	uint32_t line = mla_text_line(t, offset);
	uint32_t i = t->starts.v[line - 1];
	uint32_t column = 1;

	if (line == 1 && mla_text_has_bom(t))
		i = 3;
	for (; i < offset && i < t->bytes.len; column++) {
		uint32_t n = point_length(t->bytes, i);

		column += utf16 && n == 4; /* a surrogate pair */
		i += n;
	}
	return (mla_pos){line, column};
}

mla_pos mla_text_pos(const mla_text *t, uint32_t offset)
{
	return position(t, offset, false);
}

mla_pos mla_text_pos_utf16(const mla_text *t, uint32_t offset)
{
	return position(t, offset, true);
}

mla_str mla_text_eol_at(const mla_text *t, uint32_t offset)
{
	uint32_t line = mla_text_line(t, offset);

	if (line == t->starts.n)
		line = 1;
	if (line < t->starts.n) {
		const char *next = t->bytes.ptr + t->starts.v[line];
		uint32_t n = t->starts.v[line] >= 2 && next[-1] == '\n' && next[-2] == '\r' ? 2 : 1;

		return (mla_str){next - n, n};
	}
	return mla_str_c("\n");
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

mla_str mla_text_indent_at(const mla_text *t, uint32_t offset)
{
	mla_span s = mla_text_line_span(t, mla_text_line(t, offset));
	uint32_t end;

	if (s.start == 0 && mla_text_has_bom(t))
		s.start = 3;
	for (end = s.start; end < s.end && blank(t->bytes.ptr[end]); end++)
		;
	return (mla_str){t->bytes.ptr + s.start, end - s.start};
}

mla_str mla_text_indent_unit(const mla_text *t)
{
	bool opened = false;
	uint32_t outer = 0;

	for (uint32_t line = 1; line <= t->starts.n; line++) {
		mla_span s = mla_text_line_span(t, line);
		mla_str indent;

		if (s.start == s.end)
			continue;
		indent = mla_text_indent_at(t, s.start);
		if (indent.len == s.end - s.start)
			continue;
		if (opened && indent.len > outer)
			return (mla_str){indent.ptr + outer, indent.len - outer};
		opened = t->bytes.ptr[s.end - 1] == ':';
		outer = indent.len;
	}
	return mla_str_c("    ");
}

uint32_t mla_text_width(mla_str s)
{
	uint32_t width = 0;

	for (uint32_t i = 0; i < s.len; i += point_length(s, i))
		width += s.ptr[i] == '\t' ? 8 - width % 8 : 1;
	return width;
}

bool mla_text_has_bom(const mla_text *t)
{
	return t->bytes.len >= 3 && memcmp(t->bytes.ptr, "\xEF\xBB\xBF", 3) == 0;
}

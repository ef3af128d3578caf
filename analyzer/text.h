/* The bytes of one file, never changed after loading, with their lines and line ends. */
#ifndef MLA_ANALYZER_TEXT_H
#define MLA_ANALYZER_TEXT_H

#include "analyzer/base.h"

/* Larger sources are refused: no model file comes near, and offsets stay far from 32 bits. */
enum { MLA_TEXT_MAX = 4 << 20 };

typedef struct mla_text mla_text;

/* Both from 1; the column counts code points, and each byte that is not UTF-8 as one. */
typedef struct {
	uint32_t line, column;
} mla_pos;

/* Copies bytes and path. MLA_ELIMIT when there are more than MLA_TEXT_MAX bytes. */
int mla_text_new(mla_text **out, const char *path, mla_str bytes);
void mla_text_free(mla_text *t); /* NULL is fine */

const char *mla_text_path(const mla_text *t); /* as it is reported */
mla_str mla_text_bytes(const mla_text *t);
mla_str mla_text_slice(const mla_text *t, mla_span s);

mla_pos mla_text_pos(const mla_text *t, uint32_t offset);
mla_pos mla_text_pos_utf16(const mla_text *t, uint32_t offset); /* columns in UTF-16 units */
uint32_t mla_text_line(const mla_text *t, uint32_t offset);     /* from 1 */
uint32_t mla_text_line_count(const mla_text *t);
mla_span mla_text_line_span(const mla_text *t, uint32_t line); /* without its line end */
uint32_t mla_text_line_next(const mla_text *t, uint32_t line); /* offset after its line end */

/* The line end after the line that holds `offset`; for a last line without one, the file's first
 * line end, and "\n" in a file that has none. */
mla_str mla_text_eol_at(const mla_text *t, uint32_t offset);

/* The blanks at the start of the line that holds `offset`. */
mla_str mla_text_indent_at(const mla_text *t, uint32_t offset);

/* One step of indentation: that of the first indented line after a line ending in ':', or four
 * spaces when nothing is indented. */
mla_str mla_text_indent_unit(const mla_text *t);

/* Display width of `s` as a formatter counts it: code points, a tab as 8. */
uint32_t mla_text_width(mla_str s);

bool mla_text_has_bom(const mla_text *t);

#endif

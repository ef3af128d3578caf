/* Plain text as commit messages have it: paragraphs, tables, and nothing that git would misread. */
#ifndef MLA_CLI_PATCH_TEXT_H
#define MLA_CLI_PATCH_TEXT_H

#include "analyzer/vec.h"

#include <stdio.h>

/* One line of valid UTF-8, whatever the bytes: line ends become blanks, control characters are
 * escaped. */
mla_str mla_patch_line(mla_arena *arena, mla_str s);

/* Filled to 72 columns. Every line but the first is indented by `hang` blanks; before the first, so
 * many columns are taken already. */
void mla_patch_fill(FILE *to, uint32_t hang, mla_str text);

/* Cells row by row, the heading first. */
typedef struct {
	mla_arena *arena;
	const char *align; /* 'l' or 'r' for each column */
	MLA_VEC(mla_str) cell;
} mla_patch_table;

void mla_patch_cell(mla_patch_table *t, const char *fmt, ...) MLA_PRINTF(2, 3);

/* Indented by four blanks, as literal text is in mail and in Markdown. Empties the table. */
void mla_patch_table_put(FILE *to, mla_patch_table *t);

/* "1-4, 8" from numbers in any order. */
mla_str mla_patch_ranges(mla_arena *arena, const uint32_t *v, uint32_t n);

/*
 * The text as `git am` leaves a message: no blanks at the ends of lines, no two empty lines in a
 * row, one line end at the end. A line that git would take for the start of a patch or of another
 * mail, or for a header, is indented by one blank.
 */
mla_str mla_patch_message_clean(mla_arena *arena, mla_str text);

#endif

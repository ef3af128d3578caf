/*
 * Edits of one fix, file by file, and the text they insert: line ends and indentation are made to
 * fit the file here and nowhere else. Pure: reads modules, writes nothing.
 */
#ifndef MLA_FIXERS_EDIT_H
#define MLA_FIXERS_EDIT_H

#include "analyzer/project.h"

typedef struct {
	mla_span span; /* start == end inserts */
	mla_str text;
	mla_str binds; /* the name it binds at module level; empty: none */
} mla_edit;

typedef struct {
	mla_module *module;
	mla_edit *v; /* sorted by position once mla_edits_finish() has run */
	uint32_t n, cap;
} mla_file_edits;

typedef struct {
	mla_arena *arena;
	mla_file_edits *file;
	uint32_t n, cap;
} mla_edits;

/* Adds an edit. The same edit twice counts once. */
void mla_edits_add(mla_edits *e, mla_module *m, mla_span span, mla_str text);

/* An edit that binds `name` in the module: a file takes one such edit of a name, not two that
 * differ (see apply.h). */
void mla_edits_bind(mla_edits *e, mla_module *m, mla_span span, mla_str text, mla_str name);

/* Sorts; MLA_EBUG when two edits of one file overlap. */
int mla_edits_finish(mla_edits *e);

/* Text under construction for one place in one file. */
typedef struct {
	mla_arena *arena;
	mla_str eol;    /* line end in force at the place */
	mla_str indent; /* of the place */
	mla_str unit;   /* one step more */
	char *ptr;
	uint32_t len, cap;
} mla_writer;

mla_writer mla_writer_at(mla_arena *arena, const mla_module *m, uint32_t offset);
void mla_write(mla_writer *w, const char *fmt, ...) MLA_PRINTF(2, 3);

void mla_write_blank(mla_writer *w); /* an empty line */

/* A whole line: indentation of the place and `level` steps more, the text, a line end. */
void mla_write_line(mla_writer *w, uint32_t level, const char *fmt, ...) MLA_PRINTF(3, 4);
mla_str mla_writer_text(const mla_writer *w);

/*
 * `head(arguments)tail` as black would lay it out from `column` on, in 88 columns: on one line;
 * else the arguments indented on a line of their own; else one to a line with a trailing comma.
 * No line end after it.
 */
void mla_write_call(mla_writer *w, uint32_t column, mla_str head, const mla_str *arguments,
                    uint32_t n, mla_str tail);

/* Does a comment start at `offset`? *end gets its end. */
bool mla_comment_at(uint32_t *end, const mla_module *m, uint32_t offset);

/*
 * Where a line can be inserted after statement `n` of a block or of the module: behind everything
 * that starts on its logical line, however many lines that takes. *lead gets the line end that
 * must come first when the file ends without one. False: there is no such place (the block shares
 * the line of its header, the line leaves the block, or it does not parse).
 */
bool mla_insert_after(uint32_t *offset, mla_str *lead, const mla_module *m, const mla_node *n);

/* Indented as the block that holds statement `n`, wherever on a line `n` starts. */
mla_writer mla_writer_for(mla_arena *arena, const mla_module *m, const mla_node *n);

/* Start of the line of statement `n`, if a line can be inserted there: nothing but blanks before
 * `n`, and the line before is not continued. */
bool mla_insert_before(uint32_t *offset, const mla_module *m, const mla_node *n);

#endif

/*
 * What every other file builds on: spans, borrowed strings, error codes, the arena.
 *
 * Ownership, said once:
 *   - what comes back through an `**out` parameter is the caller's: free it with its `_free`;
 *   - a pointer that is returned is a loan from the object it was asked from;
 *   - an mla_str is always a loan;
 *   - everything made while one file is analysed lives in that file's arena and dies with it.
 */
#ifndef MLA_ANALYZER_BASE_H
#define MLA_ANALYZER_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MLA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Half-open range of byte offsets in the original file: BOM, CR and bad UTF-8 included. */
typedef struct {
	uint32_t start, end;
} mla_span;

/* Borrowed bytes, not NUL-terminated. */
typedef struct {
	const char *ptr;
	uint32_t len;
} mla_str;

/* 0 is success; a failure is one of these, with its text in mla_error_last(). */
enum {
	MLA_EIO = -1,     /* cannot read or write */
	MLA_EPARSE = -2,  /* not parsable in its language */
	MLA_ECONFIG = -3, /* the user's command line, configuration or numbers */
	MLA_EGIT = -4,    /* libgit2 refused */
	MLA_ELIMIT = -5,  /* a size, time or memory limit */
	MLA_EBUG = -6,    /* our own mistake, such as a fix that broke a file */
	MLA_ERAISE = -7,  /* the evaluated program fails there, as its framework would */
};

/* Records a message for this thread and returns `code`. One line, no trailing full stop. */
int mla_error(int code, const char *fmt, ...) MLA_PRINTF(2, 3);

/* The last message of this thread; never NULL. Valid until the next mla_error() here. */
const char *mla_error_last(void);

#endif

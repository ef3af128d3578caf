/*
 * Arena: many small objects with one lifetime. There is no way to free one of them; syntax, facts
 * and findings of a file refer to each other, so they could not be freed one by one anyway.
 */
#ifndef MLA_ANALYZER_ARENA_H
#define MLA_ANALYZER_ARENA_H

#include "analyzer/base.h"

typedef struct mla_arena mla_arena;

mla_arena *mla_arena_new(void);
void mla_arena_free(mla_arena *a); /* NULL is fine */

/* Zeroed, aligned for any object. Never NULL: out of memory, or a size that overflows, aborts. */
void *mla_arena_alloc(mla_arena *a, size_t size);
void *mla_arena_array(mla_arena *a, size_t count, size_t size);

/* A copy that is also NUL-terminated (the NUL is not counted in len). */
mla_str mla_arena_dup(mla_arena *a, mla_str s);
mla_str mla_arena_format(mla_arena *a, const char *fmt, ...) MLA_PRINTF(2, 3);

/* The same abort for memory that does not live in an arena. */
void *mla_alloc(size_t size);                          /* zeroed */
void *mla_realloc(void *p, size_t count, size_t size); /* contents as realloc; size checked */

#endif

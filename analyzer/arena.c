/* Arena blocks and the checked allocators. Owns the policy "out of memory aborts", nothing else. */
#include "analyzer/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First block: enough for the syntax of a small model file; later ones double up to the cap, so
 * that a large file costs few mallocs and a small one little memory. */
enum { FIRST_BLOCK = 16 << 10, LARGEST_BLOCK = 1 << 20 };

typedef struct block {
	struct block *prev;
	size_t used, size;
	max_align_t data[];
} block;

struct mla_arena {
	block *top;
	size_t next_size;
};

static void die(void)
{
	fputs("mlalint: out of memory\n", stderr);
	abort();
}

void *mla_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		die();
	return p;
}

void *mla_realloc(void *p, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		die();
	p = realloc(p, count && size ? count * size : 1);
	if (!p)
		die();
	return p;
}

mla_arena *mla_arena_new(void)
{
	mla_arena *a = mla_alloc(sizeof(*a));

	a->next_size = FIRST_BLOCK;
	return a;
}

void mla_arena_free(mla_arena *a)
{
	if (!a)
		return;
	for (block *b = a->top; b;) {
		block *prev = b->prev;

		free(b);
		b = prev;
	}
	free(a);
}

static block *grow(mla_arena *a, size_t need)
{
	size_t size = need > a->next_size ? need : a->next_size;
	block *b;

	if (size > SIZE_MAX - sizeof(*b))
		die();
	b = mla_alloc(sizeof(*b) + size);
	b->size = size;
	b->prev = a->top;
	a->top = b;
	if (a->next_size < LARGEST_BLOCK)
		a->next_size *= 2;
	return b;
}

void *mla_arena_alloc(mla_arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	block *b = a->top;
	void *p;

	if (size > SIZE_MAX - align)
		die();
	size = (size + align - 1) / align * align;
	if (!b || b->size - b->used < size)
		b = grow(a, size);
	p = (char *)b->data + b->used;
	b->used += size;
	return p;
}

void *mla_arena_array(mla_arena *a, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		die();
	return mla_arena_alloc(a, count * size);
}

mla_str mla_arena_dup(mla_arena *a, mla_str s)
{
	char *p = mla_arena_alloc(a, (size_t)s.len + 1);

	if (s.len)
		memcpy(p, s.ptr, s.len);
	return (mla_str){p, s.len};
}

mla_str mla_arena_format(mla_arena *a, const char *fmt, ...)
{
	va_list ap;
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return (mla_str){"", 0};
	p = mla_arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return (mla_str){p, (uint32_t)n};
}

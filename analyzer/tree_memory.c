/*
 * Versions of tree-sitter before 0.22 count the children of a node in 16 bits. A node with more, as
 * the recovery from an error makes, is given back by an address in the middle of its block. Every
 * block begins with a seal of its own, and what does not is not given back: the file is reported as
 * one with an error, a block is lost, and the heap stays whole.
 */
#include "analyzer/tree_memory.h"

#include "analyzer/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

typedef union {
	uintptr_t seal;
	max_align_t align;
} header;

static uintptr_t seal_of(const header *h)
{
	return (uintptr_t)h ^ (uintptr_t)0x6d6c616c696e7421;
}

static header *of_block(void *p)
{
	header *h = p ? (header *)p - 1 : NULL;

	return h && h->seal == seal_of(h) ? h : NULL;
}

/* In units of the header, so that no sum overflows. */
static void *sealed(header *old, size_t size)
{
	header *h = mla_realloc(old, size / sizeof(*h) + 2, sizeof(*h));

	h->seal = seal_of(h);
	return h + 1;
}

static void *allocate(size_t size)
{
	return sealed(NULL, size);
}

static void *allocate_zeroed(size_t n, size_t size)
{
	void *p = allocate(size && n > SIZE_MAX / size ? SIZE_MAX : n * size);

	return memset(p, 0, n * size);
}

static void *resize(void *p, size_t size)
{
	return sealed(of_block(p), size);
}

static void give_back(void *p)
{
	header *h = of_block(p);

	if (!h)
		return;
	h->seal = 0;
	free(h);
}

static void set_allocator(void)
{
	ts_set_allocator(allocate, allocate_zeroed, resize, give_back);
}

void mla_tree_memory_guard(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_allocator);
}

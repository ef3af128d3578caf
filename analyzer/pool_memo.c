/* Open addressing over pairs of pointers. */
#include "analyzer/pool_memo.h"

#include "analyzer/arena.h"

#include <stdlib.h>

static mla_pool_fact *place(mla_pool_fact *v, uint32_t cap, const void *frame, const void *node)
{
	uint64_t h = ((uint64_t)(uintptr_t)frame >> 4) * UINT64_C(0x9e3779b97f4a7c15) ^
	             ((uint64_t)(uintptr_t)node >> 4) * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint32_t at = (uint32_t)(h >> 32) & (cap - 1);

	while (v[at].node && (v[at].node != node || v[at].frame != frame))
		at = (at + 1) & (cap - 1);
	return &v[at];
}

static void grow(mla_pool_memo *m)
{
	uint32_t cap = m->cap ? 2 * m->cap : 256;
	mla_pool_fact *v = mla_alloc(cap * sizeof(*v));

	for (uint32_t i = 0; i < m->cap; i++)
		if (m->v[i].node)
			*place(v, cap, m->v[i].frame, m->v[i].node) = m->v[i];
	free(m->v);
	m->v = v;
	m->cap = cap;
}

mla_pool_fact *mla_pool_memo_at(mla_pool_memo *m, const struct mla_trace_frame *frame,
                                const mla_node *node, bool *known)
{
	mla_pool_fact *f;

	if (2 * m->n >= m->cap)
		grow(m);
	f = place(m->v, m->cap, frame, node);
	*known = f->node != NULL;
	if (!*known) {
		*f = (mla_pool_fact){.frame = frame, .node = node};
		m->n++;
	}
	return f;
}

void mla_pool_memo_free(mla_pool_memo *m)
{
	free(m->v);
	*m = (mla_pool_memo){0};
}

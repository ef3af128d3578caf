/* What was found out about an expression in a frame, so that it is asked once. Private to pool*.c.
 */
#ifndef MLA_ANALYZER_POOL_MEMO_H
#define MLA_ANALYZER_POOL_MEMO_H

#include "analyzer/syntax.h"

struct mla_trace_frame;

typedef struct {
	const struct mla_trace_frame *frame;
	const mla_node *node; /* NULL: a free place */
	uint32_t tags;
	const mla_node *suffix;
	const struct mla_trace_frame *suffix_frame;
	struct mla_trace_frame *entered; /* by this call; NULL: not asked */
} mla_pool_fact;

typedef struct {
	mla_pool_fact *v;
	uint32_t n, cap; /* cap is a power of two */
} mla_pool_memo;

/* The fact of a pair, made when it is not there (*known false then). Valid until the next one. */
mla_pool_fact *mla_pool_memo_at(mla_pool_memo *m, const struct mla_trace_frame *frame,
                                const mla_node *node, bool *known);
void mla_pool_memo_free(mla_pool_memo *m);

#endif

/*
 * The verdict of a pool site: the method that pools keys, replayed call after call on one cache,
 * after the fix against pooling from scratch before it. Prints nothing.
 *
 *   verified    with S = 1, 2, 3, 4, 8 new tokens at aligned and misaligned lengths, after a trim,
 *               after steps that pool nothing and after a change of the batch, everything that is
 *               kept and what is returned are the same, and few windows were pooled
 *   rejected    something differs, the program fails after the fix, or all windows are pooled again
 *   unverified  nothing can be said
 */
#ifndef MLA_ENGINE_POOL_SITES_H
#define MLA_ENGINE_POOL_SITES_H

#include "analyzer/pool.h"
#include "engine/sites.h"

typedef struct {
	uint32_t width, cached;
	uint32_t trimmed; /* rows taken off before, since the last call */
	uint32_t batch;
	uint32_t invalid; /* of the new tokens, padding */
	uint32_t windows,
		window;   /* pooled by this call, and how long they are; 0: nothing pooled */
	uint32_t scratch; /* windows of pooling from scratch */
	double ulp;       /* of pooled keys, f32 at the largest magnitude of a row */
} mla_pool_case;

enum { MLA_POOL_CASES = 160 };

typedef struct {
	mla_outcome outcome;
	char reason[MLA_SITE_TEXT]; /* empty when verified */
	mla_pool_case cases[MLA_POOL_CASES];
	uint32_t case_count;
} mla_pool_verdict;

/* `after` NULL: there is no fix, and nothing is verified. */
void mla_pool_verify(mla_pool_verdict *out, mla_project *before, mla_project *after,
                     const mla_pool *pool, const mla_site_options *options);

#endif

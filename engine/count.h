/*
 * Multiply-adds of the two tails, counted from the operations they issue.
 *
 * The tails run in shape-only mode with one head and the engine's counter is read; nothing here
 * knows the formula of analyzer/geometry.h, so that agreeing with it means something. The rotary
 * scores, L T rope in either arm, are part of both counts.
 */
#ifndef MLA_ENGINE_COUNT_H
#define MLA_ENGINE_COUNT_H

#include "engine/tails.h"

/* Per head. */
typedef struct {
	uint64_t absorbed, materialised;
} mla_counts;

/* The whole call: L queries, T cached positions after the update. Errors of mla_tail_spec_check. */
int mla_count_call(mla_counts *out, const mla_geometry *g, int64_t queries, int64_t cache_len);

/*
 * Per additional cached token: (count at 2 T - count at T) / T, with T the smallest power of two
 * that holds the queries. The counts are linear in T, which is checked: MLA_EBUG if not.
 */
int mla_count_per_token(mla_counts *out, const mla_geometry *g, int64_t queries);

/*
 * The largest number of queries at which absorbed does not count more than materialised: per token
 * for cache_len 0, else the whole call at that length (at most cache_len). 0 when it is not even so
 * at one query, MLA_DIM_MAX / 4 when no number of queries up to there ends it.
 */
int mla_count_crossover(uint32_t *out, const mla_geometry *g, int64_t cache_len);

/* What the threshold compares: per token for cache_len 0, else the whole call. */
int mla_count_at(mla_counts *out, const mla_geometry *g, int64_t queries, int64_t cache_len);

#endif

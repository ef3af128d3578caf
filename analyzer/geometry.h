/*
 * The sizes of one latent attention layer and the two thresholds that follow from them.
 *
 * With r = kv_lora_rank, n = qk_nope_head_dim, v = v_head_dim, d = n + v, L new queries and T
 * cached positions (counted after the update), the multiply-adds of one head are
 *     absorbed      L r d + 2 L T r         (fold the query and the output, attend in the latent)
 *     materialised  T r d + L T d           (expand every cached position, attend in n and v)
 * and absorbed is not the dearer one while L <= r d / (r d / T + 2 r - d).
 */
#ifndef MLA_ANALYZER_GEOMETRY_H
#define MLA_ANALYZER_GEOMETRY_H

#include "analyzer/base.h"

/* No model comes near this; it keeps every product below in 64 bits. */
enum { MLA_DIM_MAX = 1 << 20 };
#define MLA_CACHE_LEN_MAX ((int64_t)1 << 20)

typedef struct {
	uint32_t rank;  /* kv_lora_rank, r >= 1 */
	uint32_t nope;  /* qk_nope_head_dim, n >= 1 */
	uint32_t rope;  /* qk_rope_head_dim, 0 for a layer without positions */
	uint32_t value; /* v_head_dim, v >= 1 */
} mla_geometry;

/* 0, or MLA_ECONFIG with a message that names the size that is out of range. */
int mla_geometry_check(const mla_geometry *g);

/*
 * The largest number of queries for which the absorbed form is chosen, never below 1.
 * cache_len 0 is the long-cache limit floor(r d / (2 r - d)); otherwise
 * floor(r d T / (r d + (2 r - d) T)). Returns 1 when 2 r <= d, where absorbed never loses on a warm
 * cache but the convention is to leave the behaviour as it was. Sizes must have passed the check.
 */
uint32_t mla_geometry_threshold(const mla_geometry *g, int64_t cache_len);

#endif

/*
 * Scaled dot-product attention from the plain operations, one store after each of them.
 */
#ifndef MLA_ENGINE_ATTENTION_H
#define MLA_ENGINE_ATTENTION_H

#include "engine/tensor.h"

/*
 * softmax(scale q k^T + mask) v, in the order of MLX's unfused form: the scale, as a number of q's
 * format, goes into q; scores are stored; a boolean mask puts the lowest finite number where it is
 * false and any other mask is added; the softmax is computed in f32.
 *
 * The kernel of an engine with a backend keeps scores and weights in f32 and is not stored between
 * its products, as a framework's fused kernel.
 *
 * q [batch, heads, queries, d], k [batch, kv, keys, d], v [batch, kv, keys, dv] with heads a
 * multiple of kv; mask NULL or broadcastable to [batch, heads, queries, keys].
 */
int mla_attention(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                  const mla_tensor *v, double scale, const mla_tensor *mask);

/*
 * The same with attention sinks, as MLX's `sinks=`: one number a head, [heads], that takes part in
 * the softmax of every row as if it were the score of one position more, whose value is 0. NULL:
 * none. No kernel does this: it is computed by the plain operations.
 */
int mla_attention_sinks(mla_tensor **out, mla_engine *e, const mla_tensor *q, const mla_tensor *k,
                        const mla_tensor *v, double scale, const mla_tensor *mask,
                        const mla_tensor *sinks);

/* bool [queries, keys]: the queries are the last of the keys, and none sees a later one. */
int mla_causal_mask(mla_tensor **out, mla_engine *e, int64_t queries, int64_t keys);

#endif

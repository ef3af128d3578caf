// Without a build, nothing says where its headers are: there is one of the name.
#include "sizes.h"
#include "layers/weights.h"

/*
 * The largest number of queries for which absorbed attention takes no more multiply-adds
 * than expanding a long cache: r d / (2 r - d), d = nope + v; at least 1.
 */
static inline long long mla_max_absorbed_queries(long long rank, long long nope, long long v)
{
    const long long limit = 2147483647;
    long long d, saved, queries;

    /* An unsigned difference below zero is beyond the limit. */
    if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)
        return 1;
    d = nope + v;
    saved = 2 * rank - d;
    if (saved <= 0)
        return 1;
    queries = rank * d / saved;
    return queries < 1 ? 1 : queries;
}

tensor * attention(const sizes & s, const weights & w, tensor * q_nope, tensor * kv_cache, int n_tokens) {
    if (n_tokens <= mla_max_absorbed_queries(s.rank, s.nope, s.vdim)) {  // expect: MLA002 select
        tensor * q = mul_mat(w.wk_b, q_nope);
        return mul_mat(w.wv_b, attend(q, kv_cache, kv_cache));
    }
    tensor * kv = mul_mat(w.wkv_b, kv_cache);
    return attend(q_nope, keys(kv, s), values(kv, s));
}

// A limit of the cached length goes with the decision: it is told, and stays as it is.
struct tensor;
struct sizes { int rank, nope, vdim, mla; };
struct layer { tensor * wkv_b, * wk_b, * wv_b; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);

static tensor * attention(const layer & l, tensor * kv_cache, tensor * q_nope, int n_kv, bool pp) {
    constexpr int enough = 1024;
    const bool expand = pp && n_kv >= enough && l.wkv_b;
    if (expand) {
        tensor * kv = mul_mat(l.wkv_b, kv_cache);
        return flash_attention(q_nope, kv, kv);
    }
    tensor * folded = mul_mat(l.wk_b, q_nope);
    return mul_mat(l.wv_b, flash_attention(folded, kv_cache, kv_cache));
}

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

tensor * build(const sizes & s, const layer & l, tensor * kv_cache, tensor * q_nope, int n_kv, int n_tokens) {
    bool pp = n_tokens > mla_max_absorbed_queries(s.rank, s.nope, s.vdim) && s.mla > 1;  // expect: MLA002 select
    return attention(l, kv_cache, q_nope, n_kv, pp);
}

int nodes(const sizes & s, int n_tokens) {
    int n = 16;
    if (n_tokens > mla_max_absorbed_queries(s.rank, s.nope, s.vdim) && s.mla > 1)  // expect: MLA002 mirror
        n += 4;
    return n;
}

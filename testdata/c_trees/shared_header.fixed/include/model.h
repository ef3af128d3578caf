#ifndef MODEL_H
#define MODEL_H

/* What a checkpoint says of its layers. */
struct model_sizes {
    int n_head;
    int kv_rank, nope, vdim;
};

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

struct settings {
    int mla_mode;
};

#endif

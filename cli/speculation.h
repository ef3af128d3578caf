/*
 * What speculative decoding gains.
 *
 * At depth k a step drafts k tokens and verifies them, with a bonus token, in one call of k + 1
 * queries. Draft i counts only when all before it were accepted; a_i is its acceptance then
 * (conditional). So a step yields
 *     tokens(k) = 1 + a_1 + a_1 a_2 + ... + a_1 a_2 ... a_k
 * (the bonus token, and draft i with probability a_1 ... a_i), and takes
 *     step(k) = verify(k) + k draft.
 * Plain decoding yields one token in `decode`. The gain is the ratio of tokens per time:
 *     speed-up(k) = tokens(k) decode / step(k).
 * The unit of time cancels.
 */
#ifndef MLA_CLI_SPECULATION_H
#define MLA_CLI_SPECULATION_H

#include <stdint.h>

enum { MLA_DEPTH_MAX = 32 };

typedef struct {
	double tokens, verify, step, speedup;
} mla_depth;

/* out[i], accept[i] and verify[i] are of depth i + 1. */
void mla_speculate(mla_depth *out, const double *accept, const double *verify, uint32_t depth,
                   double decode, double draft);

/* The depth with the largest speed-up, the smallest of equal ones; 0 when none is above 1. */
uint32_t mla_best_depth(const mla_depth *v, uint32_t n);

#endif

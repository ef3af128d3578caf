/*
 * What one replay may use, in one place. Sources come from anybody: a loop without end, a tensor of
 * 10^9 elements, a recursion or a list of 10^6 names must end the replay, not the machine. Going
 * beyond is reported as such and makes a site unverified.
 */
#ifndef MLA_ENGINE_REPLAY_LIMITS_H
#define MLA_ENGINE_REPLAY_LIMITS_H

#include <stdint.h>

/* Evaluated nodes of one call from outside. A real attention layer needs a few hundred. */
#define MLA_REPLAY_STEPS ((uint64_t)400000)

/* Bytes of the replay's own objects (lists, names, frames), tensors apart. */
#define MLA_REPLAY_BYTES ((size_t)64 << 20)

/* Tensors alive at once, scratch included. */
#define MLA_REPLAY_TENSOR_BYTES ((size_t)640 << 20)

/* Cost of the tensor operations of one call from outside, see mla_engine_options. */
#define MLA_REPLAY_OPERATIONS ((uint64_t)1 << 33)

/* Nested evaluations: of expressions and statements together, and of calls of the program. */
enum { MLA_REPLAY_DEPTH = 1000, MLA_REPLAY_CALLS = 48 };

/* Elements of one list, characters of one string. */
enum { MLA_REPLAY_LENGTH = 1 << 16 };

/* Names of one function, parameters and arguments of one call. */
enum { MLA_REPLAY_NAMES = 512, MLA_REPLAY_ARGUMENTS = 40 };

#endif

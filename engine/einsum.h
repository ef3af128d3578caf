/*
 * Einstein's summation of one or two tensors: "bhld,bhsd->bhls". Two are multiplied as matrices, so
 * the work is counted as such. Letters only: an ellipsis, a diagonal ("ii") or a third operand is
 * MLA_EPARSE, sizes that do not fit are MLA_ERAISE.
 */
#ifndef MLA_ENGINE_EINSUM_H
#define MLA_ENGINE_EINSUM_H

#include "analyzer/base.h"
#include "engine/tensor.h"

int mla_einsum(mla_tensor **out, mla_engine *e, mla_str equation, const mla_tensor *const *tensors,
               uint32_t n);

#endif

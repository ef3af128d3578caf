/*
 * Order along an axis: sorting, sorting positions, the k largest. NaNs come last, as in NumPy.
 */
#ifndef MLA_ENGINE_SORT_H
#define MLA_ENGINE_SORT_H

#include "engine/tensor.h"

int mla_sort(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);

/* int32 positions, ascending, equals in their order. */
int mla_argsort(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t axis);

/*
 * int32 positions such that the one at `kth` is where a sort would put it, smaller ones are before
 * and larger ones behind it. What is before and behind is in no promised order, so it is given in
 * descending order here: code that leans on a sorted result must not pass by luck. kth counts from
 * either end and must exist, else MLA_ERAISE.
 */
int mla_argpartition(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t kth,
                     int64_t axis);

/*
 * Do two int32 tensors of positions hold the same set along their last axis, whatever the order?
 * MLA_ERAISE when the shapes differ.
 */
int mla_same_sets(bool *out, mla_engine *e, const mla_tensor *a, const mla_tensor *b);

#endif

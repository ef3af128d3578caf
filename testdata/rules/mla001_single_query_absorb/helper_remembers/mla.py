"""Stands in for the runtime's module of per-head projections."""

from functools import lru_cache

import mlx.core as mx
import mlx.nn as nn


@lru_cache(maxsize=None)
def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim):
    d = qk_nope_head_dim + v_head_dim
    if 2 * kv_lora_rank <= d:
        return 1
    return max(1, kv_lora_rank * d // (2 * kv_lora_rank - d))


class MultiLinear(nn.Module):
    """A separate matrix for every head; transpose=False maps back."""

    def __init__(self, in_dims: int, out_dims: int, heads: int):
        super().__init__()
        bound = in_dims**-0.5
        self.weight = mx.random.uniform(-bound, bound, (heads, out_dims, in_dims))

    def __call__(self, x: mx.array, transpose: bool = True) -> mx.array:
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)

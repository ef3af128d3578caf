"""Stands in for the runtime's module of per-head projections."""

import mlx.core as mx
import mlx.nn as nn


def max_absorbed_queries(
    kv_lora_rank: int, qk_nope_head_dim: int, v_head_dim: int
) -> int:
    """Most new queries for which absorbed attention costs no more on a long cache.

    With r = kv_lora_rank and d = qk_nope_head_dim + v_head_dim, L queries need 2 L r
    multiply-adds per head and cached token when absorbed, r d + L d when materialized.
    """
    d = qk_nope_head_dim + v_head_dim
    denom = 2 * kv_lora_rank - d
    if denom <= 0:
        return 1  # absorbing never costs more here; only one query does, as before
    return max(1, kv_lora_rank * d // denom)


class MultiLinear(nn.Module):
    """A separate matrix for every head; transpose=False maps back."""

    def __init__(self, in_dims: int, out_dims: int, heads: int):
        super().__init__()
        bound = in_dims**-0.5
        self.weight = mx.random.uniform(-bound, bound, (heads, out_dims, in_dims))

    def __call__(self, x: mx.array, transpose: bool = True) -> mx.array:
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)

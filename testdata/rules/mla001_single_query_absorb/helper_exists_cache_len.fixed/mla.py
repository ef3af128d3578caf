"""Has the helper already, of that name and meaning."""

import mlx.core as mx
import mlx.nn as nn


def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim, cache_len=None):
    """The largest number of queries for which the absorbed path is the cheaper one."""
    d = qk_nope_head_dim + v_head_dim
    if 2 * kv_lora_rank <= d:
        return 1
    rd, denom = kv_lora_rank * d, 2 * kv_lora_rank - d
    if cache_len:
        return max(1, rd * cache_len // (rd + denom * cache_len))
    return max(1, rd // denom)


class MultiLinear(nn.Module):
    """A separate matrix for every head; transpose=False maps back."""

    def __init__(self, in_dims: int, out_dims: int, heads: int):
        super().__init__()
        bound = in_dims**-0.5
        self.weight = mx.random.uniform(-bound, bound, (heads, out_dims, in_dims))

    def __call__(self, x: mx.array, transpose: bool = True) -> mx.array:
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)

"""Stands in for the runtime's module of per-head projections."""

import mlx.core as mx
import mlx.nn as nn


class MultiLinear(nn.Module):
    """A separate matrix for every head; transpose=False maps back."""

    def __init__(self, in_dims: int, out_dims: int, heads: int):
        super().__init__()
        bound = in_dims**-0.5
        self.weight = mx.random.uniform(-bound, bound, (heads, out_dims, in_dims))

    def __call__(self, x: mx.array, transpose: bool = True) -> mx.array:
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)

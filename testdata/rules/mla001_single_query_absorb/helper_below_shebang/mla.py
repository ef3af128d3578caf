#!/usr/bin/env python3
# -*- coding: utf-8 -*-
class MultiLinear:
    """A separate matrix for every head; transpose=False maps back."""

    def __init__(self, in_dims: int, out_dims: int, heads: int):
        import mlx.core as mx

        bound = in_dims**-0.5
        self.weight = mx.random.uniform(-bound, bound, (heads, out_dims, in_dims))

    def __call__(self, x, transpose: bool = True):
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)

"""Tests for one new token that have nothing to do with the latent."""

import mlx.core as mx
import mlx.nn as nn

from .mla import MultiLinear  # a word of the idiom, so that the file is looked at


class TokenShift(nn.Module):
    def __call__(self, x, state):
        B, L, D = x.shape
        if L == 1:  # expect: kept unrelated
            return state
        return mx.concatenate([state, x[:, :-1]], axis=1)


class ShortConvolution(nn.Module):
    def __init__(self, dims: int, taps: int = 4):
        super().__init__()
        self.taps = mx.zeros((taps, dims))

    def __call__(self, x, state):
        B, L, D = x.shape
        window = mx.concatenate([state, x], axis=1)
        if L == 1:  # expect: kept unrelated
            return (window * self.taps).sum(axis=1, keepdims=True)
        steps = [window[:, i : i + L] * tap for i, tap in enumerate(self.taps)]
        return sum(steps)


class Rotation(nn.Module):
    def __init__(self, dims: int):
        super().__init__()
        self.rope = nn.RoPE(dims)

    def __call__(self, x, cache):
        if x.shape[1] == 1:  # expect: kept unrelated
            return self.rope(x, offset=cache.offset)
        return self.rope(x)


class Experts(nn.Module):
    def __init__(self, dims: int, count: int):
        super().__init__()
        self.router = nn.Linear(dims, count, bias=False)

    def __call__(self, x, top: int):
        gates = mx.softmax(self.router(x), axis=-1)
        order = mx.argpartition(-gates, kth=top - 1, axis=-1)[..., :top]
        weights = mx.take_along_axis(gates, order, axis=-1)
        if x.shape[1] == 1:  # expect: kept unrelated
            order, weights = order[:, 0], weights[:, 0]
        return order, weights


def causal_mask(x):
    B, L, _ = x.shape
    if L > 1:  # expect: kept unrelated
        return mx.arange(L)[:, None] >= mx.arange(L)[None]
    return None


def last_logits(head, x):
    if x.shape[1] != 1:  # expect: kept unrelated
        x = x[:, -1:]
    return head(x)

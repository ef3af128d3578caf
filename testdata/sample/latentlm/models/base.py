"""What every model file shares."""

from typing import Any, Optional

import mlx.core as mx
import mlx.nn as nn


def attention_mask(x: mx.array, cache: Optional[Any] = None) -> Optional[mx.array]:
    """True where a new token may look; None when there is nothing to hide."""
    new = x.shape[1]
    if new == 1:
        return None
    past = cache.offset if cache is not None else 0
    rows = mx.arange(past, past + new)[:, None]
    return rows >= mx.arange(past + new)[None]


def scaled_dot_product_attention(q, k, v, cache=None, scale: float = 1.0, mask=None):
    """softmax(scale q k^T + mask) v; a boolean mask hides, a number is added."""
    scores = (q * scale) @ k.swapaxes(-1, -2)
    if mask is not None:
        if mask.dtype == mx.bool_:
            scores = mx.where(mask, scores, mx.finfo(scores.dtype).min)
        else:
            scores = scores + mask
    return mx.softmax(scores, axis=-1, precise=True) @ v


class FeedForward(nn.Module):
    def __init__(self, dims: int, hidden_dims: int):
        super().__init__()
        self.gate = nn.Linear(dims, hidden_dims, bias=False)
        self.up = nn.Linear(dims, hidden_dims, bias=False)
        self.down = nn.Linear(hidden_dims, dims, bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        return self.down(nn.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    """Attention, then a feed-forward part, each behind a norm and a skip."""

    def __init__(self, attention: nn.Module, dims: int, hidden_dims: int):
        super().__init__()
        self.attention = attention
        self.mlp = FeedForward(dims, hidden_dims)
        self.attention_norm = nn.RMSNorm(dims)
        self.mlp_norm = nn.RMSNorm(dims)

    def __call__(self, x: mx.array, mask=None, cache=None) -> mx.array:
        x = x + self.attention(self.attention_norm(x), mask, cache)
        return x + self.mlp(self.mlp_norm(x))


class Stack(nn.Module):
    """Token embedding, layers, output head."""

    def __init__(self, layers, vocab_size: int, dims: int):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dims)
        self.layers = layers
        self.norm = nn.RMSNorm(dims)
        self.head = nn.Linear(dims, vocab_size, bias=False)

    def __call__(self, tokens: mx.array, caches=None) -> mx.array:
        x = self.embed(tokens)
        caches = caches or [None] * len(self.layers)
        mask = attention_mask(x, caches[0])
        for layer, cache in zip(self.layers, caches):
            x = layer(x, mask, cache)
        return self.head(self.norm(x))

"""A recurrent model that mixes each token with the one before it. No attention."""

from dataclasses import dataclass
from typing import Optional

import mlx.core as mx
import mlx.nn as nn

from .base import FeedForward


@dataclass
class ModelArgs:
    model_type: str = "token_shift"
    vocab_size: int = 32000
    hidden_size: int = 1024
    intermediate_size: int = 4096
    num_hidden_layers: int = 4


class TokenShift(nn.Module):
    """The tokens, each replaced by the one before it; the first by the state."""

    def __call__(self, x: mx.array, state: Optional[mx.array] = None) -> mx.array:
        B, L, D = x.shape
        if state is None:
            state = mx.zeros((B, 1, D), x.dtype)
        if L == 1:
            return state
        return mx.concatenate([state, x[:, :-1]], axis=1)


class TimeMix(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        dims = args.hidden_size
        self.shift = TokenShift()
        self.blend = mx.full((dims,), 0.5)
        self.decay = mx.full((dims,), 0.9)
        self.key = nn.Linear(dims, dims, bias=False)
        self.receptance = nn.Linear(dims, dims, bias=False)
        self.output = nn.Linear(dims, dims, bias=False)

    def __call__(self, x: mx.array, cache: Optional[list] = None) -> mx.array:
        last, state = cache if cache is not None else (None, None)
        mixed = x + (self.shift(x, last) - x) * self.blend
        if state is None:
            state = mx.zeros((x.shape[0], x.shape[2]), x.dtype)
        steps = []
        for step in range(x.shape[1]):
            state = self.decay * state + self.key(mixed[:, step])
            steps.append(state)
        if cache is not None:
            cache[:] = [x[:, -1:], state]
        out = mx.stack(steps, axis=1) * mx.sigmoid(self.receptance(mixed))
        return self.output(out)


class Model(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.embed = nn.Embedding(args.vocab_size, args.hidden_size)
        self.mixers = [TimeMix(args) for _ in range(args.num_hidden_layers)]
        self.mlp = FeedForward(args.hidden_size, args.intermediate_size)
        self.norm = nn.RMSNorm(args.hidden_size)

    def __call__(self, tokens: mx.array, caches=None) -> mx.array:
        x = self.embed(tokens)
        for mixer, cache in zip(self.mixers, caches or [None] * len(self.mixers)):
            x = x + mixer(self.norm(x), cache)
        return x + self.mlp(self.norm(x))

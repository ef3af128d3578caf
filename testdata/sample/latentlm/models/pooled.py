"""An indexer that scores windows of cached tokens, and keeps their pooled keys between calls."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn


@dataclass
class ModelArgs:
    model_type: str = "pooled"
    hidden_size: int = 2048
    index_head_dim: int = 64
    index_topk: int = 512
    index_kpool: int = 4


class WindowIndexer(nn.Module):
    """Picks the best index_topk windows for every token; the gate weighs the tokens of a window."""

    def __init__(self, args: ModelArgs):
        super().__init__()
        self.window = args.index_kpool
        self.topk = args.index_topk
        self.q_proj = nn.Linear(args.hidden_size, args.index_head_dim, bias=False)
        self.k_proj = nn.Linear(args.hidden_size, args.index_head_dim, bias=False)
        self.gate = nn.Linear(args.index_head_dim, 1, bias=False)

    def pool(self, keys: mx.array, valid=None) -> mx.array:
        B, T, D = keys.shape
        spare = -T % self.window
        keys = mx.pad(keys, [(0, 0), (0, spare), (0, 0)])
        keys = keys.reshape(B, -1, self.window, D)
        if valid is None:
            valid = mx.ones((B, T), dtype=mx.bool_)
        valid = mx.pad(valid, [(0, 0), (0, spare)]).reshape(B, -1, self.window)
        weights = mx.where(valid[..., None], self.gate(keys), -1e9)
        weights = mx.softmax(weights, axis=2)
        return (weights * keys).sum(axis=2)

    def __call__(self, x: mx.array, valid=None, cache=None):
        B, S, _ = x.shape
        keys = self.k_proj(x)
        if cache is not None:
            keys = cache.append(keys)
        T = keys.shape[1]
        if T <= self.topk * self.window:
            return None  # a short context is attended to as a whole

        memo = getattr(cache, "pooled", None)
        if (
            S == 1
            and memo is not None
            and memo[0].shape[0] == B
            and memo[1] == T - 1
            and memo[2]  # nothing in it is padding
        ):
            kept, seen, clean = memo
            done = seen // self.window
            tail = self.pool(keys[:, done * self.window :])
            pooled = mx.concatenate([kept[:, :done], tail], axis=1)
        else:
            pooled = self.pool(keys, valid)
            clean = valid is None or bool(mx.all(valid).item())
        if cache is not None:
            cache.pooled = (pooled, T, clean)

        scores = self.q_proj(x) @ pooled.swapaxes(-1, -2)
        return mx.argpartition(-scores, kth=self.topk - 1, axis=-1)[..., : self.topk]

"""An array of positions is no length, and a second input goes into a layer of its own."""

import mlx.core as mx
import mlx.nn as nn


class MyrtlePool(nn.Module):
    def __init__(self, dims: int, window: int):
        super().__init__()
        self.window = window
        self.wk = nn.Linear(dims, 32, bias=False)
        self.wq = nn.Linear(48, 32, bias=False)

    def pool(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def __call__(self, x, latent_query, cache=None):
        B, S, _ = x.shape
        keys = self.wk(x)
        if cache is not None:
            keys = cache.append(keys)
        T = keys.shape[1]

        places = mx.arange(T)
        memo = getattr(cache, "pooled_keys", None)
        if S == 1 and memo is not None and memo[0].shape[0] == B:  # expect: MLA101 gate; MLA102 gate
            old, seen = memo
            stable = seen // self.window
            tail = self.pool(keys[:, stable * self.window :])
            pooled = mx.concatenate([old[:, :stable], tail], axis=1)
        else:
            pooled = self.pool(keys)
        if cache is not None:
            cache.pooled_keys = (pooled, T)
        scores = self.wq(latent_query) @ pooled.swapaxes(-1, -2)
        return mx.where(places[None, None, :: self.window] < T, scores, -1e30)

import mlx.core as mx
import mlx.nn as nn


class SedgeCache:
    def __init__(self):
        self.keys = None
        self.offset = 0
        self.pooled_keys = None

    def append(self, keys):
        if self.keys is not None:
            keys = mx.concatenate([self.keys, keys], axis=1)
        self.keys = keys
        self.offset = keys.shape[1]
        return keys

    def forget_pool(self):
        self.pooled_keys = None

    def trim(self, n):
        self.keys = self.keys[:, : self.offset - n]
        self.offset -= n


class SedgePool(nn.Module):
    def __init__(self, dims: int, window: int):
        super().__init__()
        self.window = window
        self.wk = nn.Linear(dims, 32, bias=False)
        self.wq = nn.Linear(dims, 32, bias=False)

    def pool(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def __call__(self, x, cache=None):
        B, S, _ = x.shape
        keys = self.wk(x)
        if cache is not None:
            keys = cache.append(keys)

        memo = getattr(cache, "pooled_keys", None)
        if memo is not None and memo.shape[0] == B:  # expect: MLA102 gate nofix
            stable = memo.shape[1] - 1
            tail = self.pool(keys[:, stable * self.window :])
            pooled = mx.concatenate([memo[:, :stable], tail], axis=1)
        else:
            pooled = self.pool(keys)
        if cache is not None:
            cache.pooled_keys = pooled
        return self.wq(x) @ pooled.swapaxes(-1, -2)

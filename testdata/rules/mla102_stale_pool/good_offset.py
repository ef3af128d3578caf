# expect: none
import mlx.core as mx
import mlx.nn as nn


class OffsetPool(nn.Module):
    def __init__(self, dims: int, window: int):
        super().__init__()
        self.window = window
        self.wk = nn.Linear(dims, 32, bias=False)
        self.wq = nn.Linear(dims, 32, bias=False)

    def pool(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def __call__(self, x, cache):
        before = cache.offset
        keys = cache.append(self.wk(x))
        memo = cache.memo
        if memo is not None and memo[1] == before:
            old, seen = memo
            stable = seen // self.window
            tail = self.pool(keys[:, stable * self.window :])
            pooled = mx.concatenate([old[:, :stable], tail], axis=1)
        else:
            pooled = self.pool(keys)
        cache.memo = (pooled, keys.shape[1])
        return pooled

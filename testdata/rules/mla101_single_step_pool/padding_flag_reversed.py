import mlx.core as mx
import mlx.nn as nn


class TeaselPool(nn.Module):
    def __init__(self, dims: int, window: int):
        super().__init__()
        self.window = window
        self.wk = nn.Linear(dims, 32, bias=False)
        self.wq = nn.Linear(dims, 32, bias=False)

    def pool(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def __call__(self, x, valid=None, cache=None):
        B, S, _ = x.shape
        keys = self.wk(x)
        if cache is not None:
            keys = cache.append(keys)
        T = keys.shape[1]

        memo = getattr(cache, "pooled_keys", None)
        if memo is None or S != 1 or not memo[2]:  # expect: MLA101 gate; MLA102 gate
            pooled = self.pool(keys)
            clean = valid is None or bool(mx.all(valid))
        else:
            old, seen, clean = memo
            stable = seen // self.window
            tail = self.pool(keys[:, stable * self.window :])
            pooled = mx.concatenate([old[:, :stable], tail], axis=1)
        if cache is not None:
            cache.pooled_keys = (pooled, T, clean)
        return self.wq(x) @ pooled.swapaxes(-1, -2)

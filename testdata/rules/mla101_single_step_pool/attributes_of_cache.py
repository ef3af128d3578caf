import mlx.core as mx
import mlx.nn as nn

ONE = 1


class ThymeIndexer(nn.Module):
    def __init__(self, dims: int):
        super().__init__()
        self.wk = nn.Linear(dims, 32, bias=False)
        self.span = 4

    def windows(self, keys):
        spare = -keys.shape[1] % self.span
        keys = mx.pad(keys, [(0, 0), (0, spare), (0, 0)])
        return mx.max(mx.unflatten(keys, 1, (-1, self.span)), axis=2)

    def __call__(self, x, cache):
        n = x.shape[1]
        keys = mx.concatenate([cache.raw, self.wk(x)], axis=1)
        cache.raw = keys
        total = keys.shape[1]
        if n == ONE and cache.pool_length == total - n and cache.pool is not None:  # expect: MLA101 gate
            first = cache.pool_length // self.span
            cache.pool = mx.concatenate(
                [cache.pool[:, :first], self.windows(keys[:, first * self.span :])], axis=1
            )
        else:
            cache.pool = self.windows(keys)
        cache.pool_length = total
        return cache.pool

import mlx.core as mx
import mlx.nn as nn


class ShortConv(nn.Module):
    def __init__(self, dims, width):
        super().__init__()
        self.width = width
        self.weight = mx.zeros((width, dims))

    def __call__(self, x, cache=None):
        B, S, D = x.shape
        state = cache.state if cache.state is not None else mx.zeros((B, self.width - 1, D))
        rows = mx.concatenate([state, x], axis=1)
        cache.state = rows[:, S:]
        if S == 1:  # expect: kept unrelated
            return (rows * self.weight).sum(axis=1, keepdims=True)
        parts = [rows[:, i : i + S] * self.weight[i] for i in range(self.width)]
        return sum(parts)


class Vision(nn.Module):
    def __init__(self, dims, merge):
        super().__init__()
        self.merge = merge
        self.proj = nn.Linear(dims, dims)

    def __call__(self, x, cached=None):
        B, L, D = x.shape
        merged = x.reshape(B, L // self.merge, self.merge, D).mean(axis=2)
        if L == 1:  # expect: kept unrelated
            return self.proj(x)
        return mx.concatenate([self.proj(merged), merged[:, L // 8 :]], axis=1)


class WindowAttention(nn.Module):
    def __init__(self, dims, window):
        super().__init__()
        self.window = window
        self.wk = nn.Linear(dims, dims)

    def __call__(self, x, cache):
        S = x.shape[1]
        keys = mx.concatenate([cache.rows, self.wk(x)], axis=1)
        if S == 1:  # expect: kept unrelated
            keys = keys[:, -self.window :]
        cache.rows = keys[:, keys.shape[1] // 2 :]
        return x @ keys.swapaxes(-1, -2)

import mlx.core as mx


class StreamingPool:
    """Keeps the remainder of a window itself and takes any number of tokens."""

    def __init__(self, ratio: int):
        self.ratio = ratio
        self.rest = None
        self.pooled = None

    def update(self, keys):
        if self.rest is not None:
            keys = mx.concatenate([self.rest, keys], axis=1)
        b, t, d = keys.shape
        usable = t // self.ratio * self.ratio
        self.rest = keys[:, usable:]
        ready = keys[:, :usable].reshape(b, -1, self.ratio, d).mean(axis=2)
        if self.pooled is None:
            self.pooled = ready
        else:
            self.pooled = mx.concatenate([self.pooled, ready], axis=1)
        return self.pooled

    def make_mask(self, L, offset):
        if L == 1:  # expect: kept unrelated
            return None
        return mx.arange(self.pooled.shape[1]) < (mx.arange(L) + offset)[:, None] // self.ratio

import mlx.core as mx


class PooledKeys:
    """Raw keys and the windows pooled from them."""

    def __init__(self, window: int):
        self.window = window
        self.keys = None
        self.pooled = None
        self.pooled_at = 0

    def _mean(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def update(self, keys, new: int):
        if self.keys is not None:
            keys = mx.concatenate([self.keys, keys], axis=1)
        self.keys = keys
        total = keys.shape[1]
        if new == 1 and self.pooled is not None and self.pooled_at == total - new:  # expect: MLA101 gate
            done = self.pooled_at // self.window
            tail = self._mean(keys[:, done * self.window :])
            self.pooled = mx.concatenate([self.pooled[:, :done], tail], axis=1)
        else:
            self.pooled = self._mean(keys)
        self.pooled_at = total
        return self.pooled

    def trim(self, n: int):
        self.keys = self.keys[:, : self.keys.shape[1] - n]

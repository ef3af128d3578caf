"""The cache of one layer: the latent of every token seen, and its rotary key."""

import mlx.core as mx


class LatentCache:
    def __init__(self):
        self.latent = None
        self.rope_key = None
        self.offset = 0

    def update_and_fetch(self, latent: mx.array, rope_key: mx.array):
        """Append the new tokens and return all of them, (batch, 1, tokens, width)."""
        if self.latent is not None:
            latent = mx.concatenate([self.latent, latent], axis=2)
            rope_key = mx.concatenate([self.rope_key, rope_key], axis=2)
        self.latent, self.rope_key = latent, rope_key
        self.offset = latent.shape[2]
        return latent, rope_key

    def trim(self, count: int) -> int:
        """Forget the newest tokens, as after rejected drafts."""
        count = min(count, self.offset)
        self.offset -= count
        if self.latent is not None:
            self.latent = self.latent[:, :, : self.offset]
            self.rope_key = self.rope_key[:, :, : self.offset]
        return count

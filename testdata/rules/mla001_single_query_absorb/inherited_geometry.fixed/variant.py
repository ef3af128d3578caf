"""Inherits constructor and dimensions from a class in another file."""

import mlx.core as mx

from .base import scaled_dot_product_attention
from .parent import BoxwoodAttention


class BoxwoodVariant(BoxwoodAttention):
    def __call__(self, x, mask=None, cache=None):
        B, L, _ = x.shape
        q = self.q_proj(x).reshape(B, L, self.num_heads, -1).swapaxes(1, 2)
        q_nope, q_rope = mx.split(q, [self.qk_nope_head_dim], axis=-1)
        latent, k_rope = mx.split(self.kv_down(x), [self.kv_lora_rank], axis=-1)
        latent, k_rope = self.kv_norm(latent)[:, None], k_rope[:, None]
        offset = cache.offset if cache is not None else 0
        q_rope = self.rope(q_rope, offset=offset)
        k_rope = self.rope(k_rope, offset=offset)
        if cache is not None:
            latent, k_rope = cache.update_and_fetch(latent, k_rope)
        bias = (q_rope * self.scale) @ k_rope.swapaxes(-1, -2)
        if mask is not None:
            bias = mx.where(mask, bias, mx.finfo(bias.dtype).min)

        if L <= self._max_absorbed:  # expect: MLA001 select t=170
            q_nope = self.embed_q(q_nope)
            k = v = latent
        else:
            k = self.embed_q(latent, transpose=False)
            v = self.unembed_out(latent)

        out = scaled_dot_product_attention(
            q_nope, k, v, cache=cache, scale=self.scale, mask=bias
        )
        if L <= self._max_absorbed:  # expect: MLA001 followup t=170
            out = self.unembed_out(out)
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

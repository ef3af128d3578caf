"""Short names, tuple assignments; the statement fits on one line."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class BalsaArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class BalsaAttention(nn.Module):
    def __init__(self, args: BalsaArgs):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.rank, self.rope_dim = args.kv_lora_rank, args.qk_rope_head_dim
        self.nope, self.value = args.qk_nope_head_dim, args.v_head_dim
        self.scale = (self.nope + self.rope_dim) ** -0.5
        width = self.num_heads * (self.nope + self.rope_dim)
        self.q_proj = nn.Linear(args.hidden_size, width)
        self.kv_down = nn.Linear(args.hidden_size, self.rank + self.rope_dim)
        self.kv_norm = nn.RMSNorm(self.rank)
        self.key_up = MultiLinear(self.nope, self.rank, self.num_heads)
        self.value_up = MultiLinear(self.rank, self.value, self.num_heads)
        self.o_proj = nn.Linear(self.num_heads * self.value, args.hidden_size)
        self.rope = nn.RoPE(self.rope_dim, traditional=True)

    def __call__(self, x, mask=None, cache=None):
        B, L, _ = x.shape
        q = self.q_proj(x).reshape(B, L, self.num_heads, -1).swapaxes(1, 2)
        q_nope, q_rope = mx.split(q, [self.nope], axis=-1)
        latent, k_rope = mx.split(self.kv_down(x), [self.rank], axis=-1)
        latent, k_rope = self.kv_norm(latent)[:, None], k_rope[:, None]
        offset = cache.offset if cache is not None else 0
        q_rope = self.rope(q_rope, offset=offset)
        k_rope = self.rope(k_rope, offset=offset)
        if cache is not None:
            latent, k_rope = cache.update_and_fetch(latent, k_rope)
        bias = (q_rope * self.scale) @ k_rope.swapaxes(-1, -2)
        if mask is not None:
            bias = mx.where(mask, bias, mx.finfo(bias.dtype).min)

        if L == 1:  # expect: MLA001 select
            q_nope = self.key_up(q_nope)
            k = v = latent
        else:
            k = self.key_up(latent, transpose=False)
            v = self.value_up(latent)

        out = scaled_dot_product_attention(
            q_nope, k, v, cache=cache, scale=self.scale, mask=bias
        )
        if L == 1:  # expect: MLA001 followup
            out = self.value_up(out)
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

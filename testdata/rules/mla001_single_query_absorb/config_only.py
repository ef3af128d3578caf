"""The dimensions are only on the config."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class BambooArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class BambooAttention(nn.Module):
    def __init__(self, config: BambooArgs):
        super().__init__()
        self.config = config
        heads = config.num_attention_heads
        width = config.qk_nope_head_dim + config.qk_rope_head_dim
        self.scale = width**-0.5
        self.q_proj = nn.Linear(config.hidden_size, heads * width)
        self.kv_down = nn.Linear(
            config.hidden_size, config.kv_lora_rank + config.qk_rope_head_dim
        )
        self.kv_norm = nn.RMSNorm(config.kv_lora_rank)
        self.embed_q = MultiLinear(config.qk_nope_head_dim, config.kv_lora_rank, heads)
        self.unembed_out = MultiLinear(config.kv_lora_rank, config.v_head_dim, heads)
        self.o_proj = nn.Linear(heads * config.v_head_dim, config.hidden_size)
        self.rope = nn.RoPE(config.qk_rope_head_dim, traditional=True)

    def __call__(self, x, mask=None, cache=None):
        B, L, _ = x.shape
        config = self.config
        q = self.q_proj(x).reshape(B, L, config.num_attention_heads, -1).swapaxes(1, 2)
        q_nope, q_rope = mx.split(q, [config.qk_nope_head_dim], axis=-1)
        latent, k_rope = mx.split(self.kv_down(x), [config.kv_lora_rank], axis=-1)
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
            q_nope = self.embed_q(q_nope)
            k = v = latent
        else:
            k = self.embed_q(latent, transpose=False)
            v = self.unembed_out(latent)

        out = scaled_dot_product_attention(
            q_nope, k, v, cache=cache, scale=self.scale, mask=bias
        )
        if L == 1:  # expect: MLA001 followup
            out = self.unembed_out(out)
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

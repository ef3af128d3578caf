"""Few queries gather their rows one by one; for many the expanded keys are cached while they fit."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class SamphireArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class SamphireAttention(nn.Module):
    def __init__(self, args: SamphireArgs):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.kv_lora_rank = args.kv_lora_rank
        self.qk_nope_head_dim = args.qk_nope_head_dim
        self.qk_rope_head_dim = args.qk_rope_head_dim
        self.v_head_dim = args.v_head_dim
        q_head_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        self.scale = q_head_dim**-0.5
        self.q_proj = nn.Linear(args.hidden_size, self.num_heads * q_head_dim)
        self.kv_down = nn.Linear(
            args.hidden_size, self.kv_lora_rank + self.qk_rope_head_dim
        )
        self.kv_norm = nn.RMSNorm(self.kv_lora_rank)
        self.embed_q = MultiLinear(
            self.qk_nope_head_dim, self.kv_lora_rank, self.num_heads
        )
        self.unembed_out = MultiLinear(
            self.kv_lora_rank, self.v_head_dim, self.num_heads
        )
        self.o_proj = nn.Linear(self.num_heads * self.v_head_dim, args.hidden_size)
        self.rope = nn.RoPE(self.qk_rope_head_dim, traditional=True)

    def __call__(self, x, mask=None, cache=None, expanded=None, topk=None):
        B, L, _ = x.shape
        q = self.q_proj(x).reshape(B, L, self.num_heads, -1).swapaxes(1, 2)
        q_nope, q_rope = mx.split(q, [self.qk_nope_head_dim], axis=-1)
        fresh, new_rope = mx.split(self.kv_down(x), [self.kv_lora_rank], axis=-1)
        fresh, new_rope = self.kv_norm(fresh)[:, None], new_rope[:, None]
        q_rope = self.rope(q_rope, offset=cache.offset)
        new_rope = self.rope(new_rope, offset=cache.offset)
        latent, k_rope = cache.update_and_fetch(fresh, new_rope)
        bias = (q_rope * self.scale) @ k_rope.swapaxes(-1, -2)
        if mask is not None:
            bias = mx.where(mask, bias, mx.finfo(bias.dtype).min)

        if L <= 8:  # expect: kept sparse-gather
            outs = []
            for i in range(L):
                rows = topk[:, i : i + 1]
                chosen = mx.take_along_axis(latent, rows[:, :, :, None], axis=2)
                out = scaled_dot_product_attention(
                    self.embed_q(q_nope[:, :, i : i + 1]),
                    chosen,
                    chosen,
                    cache=cache,
                    scale=self.scale,
                    mask=rows[:, None] >= 0,
                )
                outs.append(self.unembed_out(out))
            out = mx.concatenate(outs, axis=2)
        else:
            if expanded is not None and expanded.offset == cache.offset - L:
                k, v = expanded.update_and_fetch(
                    self.embed_q(fresh, transpose=False), self.unembed_out(fresh)
                )
            else:
                k = self.embed_q(latent, transpose=False)
                v = self.unembed_out(latent)
            out = scaled_dot_product_attention(
                q_nope, k, v, cache=expanded, scale=self.scale, mask=bias
            )
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

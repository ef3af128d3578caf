"""The absorbed arm does not pass the mask on."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class LilacArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    v_head_dim: int = 128


class LilacAttention(nn.Module):
    def __init__(self, args: LilacArgs):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.kv_lora_rank = args.kv_lora_rank
        self.qk_nope_head_dim = args.qk_nope_head_dim
        self.v_head_dim = args.v_head_dim
        self.scale = self.qk_nope_head_dim**-0.5
        self.q_proj = nn.Linear(
            args.hidden_size, self.num_heads * self.qk_nope_head_dim
        )
        self.kv_down = nn.Linear(args.hidden_size, self.kv_lora_rank)
        self.kv_norm = nn.RMSNorm(self.kv_lora_rank)
        self.embed_q = MultiLinear(
            self.qk_nope_head_dim, self.kv_lora_rank, self.num_heads
        )
        self.unembed_out = MultiLinear(
            self.kv_lora_rank, self.v_head_dim, self.num_heads
        )
        self.o_proj = nn.Linear(self.num_heads * self.v_head_dim, args.hidden_size)

    def __call__(self, x, mask=None, cache=None):
        B, L, _ = x.shape
        q_nope = self.q_proj(x).reshape(B, L, self.num_heads, -1).swapaxes(1, 2)
        latent = self.kv_norm(self.kv_down(x))[:, None]
        if cache is not None:
            latent, _ = cache.update_and_fetch(latent, latent[..., :0])

        if L == 1:  # expect: MLA001 select nofix
            out = scaled_dot_product_attention(
                self.embed_q(q_nope), latent, latent, cache=cache, scale=self.scale
            )
            out = self.unembed_out(out)
        else:
            out = scaled_dot_product_attention(
                q_nope,
                self.embed_q(latent, transpose=False),
                self.unembed_out(latent),
                cache=cache,
                scale=self.scale,
                mask=mask,
            )
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

"""The geometry form of this tool becomes the cache-length form: the helper grows a parameter."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class JuniperArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


def max_absorbed_queries(
    kv_lora_rank: int, qk_nope_head_dim: int, v_head_dim: int
) -> int:
    """Most new queries for which absorbed attention costs no more on a long cache.

    With r = kv_lora_rank and d = qk_nope_head_dim + v_head_dim, L queries need 2 L r
    multiply-adds per head and cached token when absorbed, r d + L d when materialized.
    """
    d = qk_nope_head_dim + v_head_dim
    denom = 2 * kv_lora_rank - d
    if denom <= 0:
        return 1  # absorbing never costs more here; only one query does, as before
    return max(1, kv_lora_rank * d // denom)


class JuniperAttention(nn.Module):
    def __init__(self, args: JuniperArgs):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.kv_lora_rank = args.kv_lora_rank
        self.qk_nope_head_dim = args.qk_nope_head_dim
        self.qk_rope_head_dim = args.qk_rope_head_dim
        self.v_head_dim = args.v_head_dim
        self._max_absorbed = max_absorbed_queries(
            self.kv_lora_rank, self.qk_nope_head_dim, self.v_head_dim
        )
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

        if L <= self._max_absorbed:  # expect: MLA003 select
            q_nope = self.embed_q(q_nope)
            k = v = latent
        else:
            k = self.embed_q(latent, transpose=False)
            v = self.unembed_out(latent)

        out = scaled_dot_product_attention(
            q_nope, k, v, cache=cache, scale=self.scale, mask=bias
        )
        if L <= self._max_absorbed:  # expect: MLA003 followup
            out = self.unembed_out(out)
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))

"""Only the arm for one query uses the mask as an array: else it may be "causal"."""

from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from .base import create_attention_mask, scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class SorrelArgs:
    hidden_size: int = 64
    num_attention_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class SorrelAttention(nn.Module):
    def __init__(self, args: SorrelArgs):
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

        if L == 1:  # expect: MLA001 select nofix
            bias = (q_rope * self.scale) @ k_rope.swapaxes(-1, -2)
            if mask is not None:
                bias = mx.where(mask, bias, mx.finfo(bias.dtype).min)
            out = scaled_dot_product_attention(
                self.embed_q(q_nope),
                latent,
                latent,
                cache=cache,
                scale=self.scale,
                mask=bias,
            )
            out = self.unembed_out(out)
        else:
            k = self.embed_q(latent, transpose=False)
            v = self.unembed_out(latent)
            k_rope = mx.broadcast_to(k_rope, k.shape[:-1] + k_rope.shape[-1:])
            out = scaled_dot_product_attention(
                mx.concatenate([q_nope, q_rope], axis=-1),
                mx.concatenate([k, k_rope], axis=-1),
                v,
                cache=cache,
                scale=self.scale,
                mask=mask,
            )
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))


class SorrelModel(nn.Module):
    def __init__(self, args: SorrelArgs, layers: int):
        super().__init__()
        self.layers = [SorrelAttention(args) for _ in range(layers)]

    def __call__(self, h, cache):
        mask = create_attention_mask(h, cache[0])
        for layer, c in zip(self.layers, cache):
            h = h + layer(h, mask, c)
        return h

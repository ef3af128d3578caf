"""Latent attention with wide heads; queries go through a latent of their own."""

from typing import Any, Optional

import mlx.core as mx
import mlx.nn as nn

from .base import Layer, Stack, scaled_dot_product_attention
from .configs import WideConfig
from .mla import MultiLinear


class WideAttention(nn.Module):
    def __init__(self, config: WideConfig):
        super().__init__()
        self.config = config
        self.num_heads = config.num_attention_heads
        self.kv_lora_rank = config.kv_lora_rank
        self.qk_nope_head_dim = config.qk_nope_head_dim
        self.qk_rope_head_dim = config.qk_rope_head_dim
        self.v_head_dim = config.v_head_dim
        q_head_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        self.scale = q_head_dim**-0.5

        hidden, eps = config.hidden_size, config.rms_norm_eps
        self.q_down = nn.Linear(hidden, config.q_lora_rank, bias=False)
        self.q_norm = nn.RMSNorm(config.q_lora_rank, eps=eps)
        self.q_up = nn.Linear(
            config.q_lora_rank, self.num_heads * q_head_dim, bias=False
        )
        self.kv_down = nn.Linear(
            hidden, self.kv_lora_rank + self.qk_rope_head_dim, bias=False
        )
        self.kv_norm = nn.RMSNorm(self.kv_lora_rank, eps=eps)
        self.embed_q = MultiLinear(
            self.qk_nope_head_dim, self.kv_lora_rank, self.num_heads
        )
        self.unembed_out = MultiLinear(
            self.kv_lora_rank, self.v_head_dim, self.num_heads
        )
        self.out_proj = nn.Linear(self.num_heads * self.v_head_dim, hidden, bias=False)
        self.rope = nn.RoPE(
            self.qk_rope_head_dim, traditional=True, base=config.rope_theta
        )

    def __call__(
        self,
        x: mx.array,
        mask: Optional[mx.array] = None,
        cache: Optional[Any] = None,
    ) -> mx.array:
        batch, length, _ = x.shape
        q = self.q_up(self.q_norm(self.q_down(x)))
        q = q.reshape(batch, length, self.num_heads, -1).swapaxes(1, 2)
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

        if length > 1:
            keys = self.embed_q(latent, transpose=False)
            values = self.unembed_out(latent)
        else:
            q_nope = self.embed_q(q_nope)
            keys = values = latent

        out = scaled_dot_product_attention(
            q_nope, keys, values, cache=cache, scale=self.scale, mask=bias
        )
        if length == 1:
            out = self.unembed_out(out)
        return self.out_proj(out.swapaxes(1, 2).reshape(batch, length, -1))


class Model(Stack):
    def __init__(self, config: WideConfig):
        layers = [
            Layer(WideAttention(config), config.hidden_size, config.intermediate_size)
            for _ in range(config.num_hidden_layers)
        ]
        super().__init__(layers, config.vocab_size, config.hidden_size)
        self.config = config

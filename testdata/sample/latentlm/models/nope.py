"""Latent attention without positions: the score is the content term alone."""

from dataclasses import dataclass
from typing import Any, Optional

import mlx.core as mx
import mlx.nn as nn

from .base import Layer, Stack, scaled_dot_product_attention
from .mla import MultiLinear


@dataclass
class ModelArgs:
    model_type: str = "nope"
    vocab_size: int = 32000
    hidden_size: int = 2048
    intermediate_size: int = 6144
    num_hidden_layers: int = 4
    num_attention_heads: int = 16
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 256
    qk_rope_head_dim: int = 0
    v_head_dim: int = 256
    rms_norm_eps: float = 1e-6


class NopeAttention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        if args.qk_rope_head_dim != 0:
            raise ValueError("this model has no rotary part")
        self.num_heads = args.num_attention_heads
        self.kv_lora_rank = args.kv_lora_rank
        self.qk_nope_head_dim = args.qk_nope_head_dim
        self.v_head_dim = args.v_head_dim
        self.scale = self.qk_nope_head_dim**-0.5

        hidden = args.hidden_size
        self.q_proj = nn.Linear(
            hidden, self.num_heads * self.qk_nope_head_dim, bias=False
        )
        self.kv_proj = nn.Linear(hidden, self.kv_lora_rank, bias=False)
        self.kv_norm = nn.RMSNorm(self.kv_lora_rank, eps=args.rms_norm_eps)
        self.embed_q = MultiLinear(
            self.qk_nope_head_dim, self.kv_lora_rank, self.num_heads
        )
        self.unembed_out = MultiLinear(
            self.kv_lora_rank, self.v_head_dim, self.num_heads
        )
        self.o_proj = nn.Linear(self.num_heads * self.v_head_dim, hidden, bias=False)

    def __call__(
        self,
        x: mx.array,
        mask: Optional[mx.array] = None,
        cache: Optional[Any] = None,
    ) -> mx.array:
        B, L, _ = x.shape
        q = self.q_proj(x).reshape(B, L, self.num_heads, -1).swapaxes(1, 2)
        kv_latent = mx.expand_dims(self.kv_norm(self.kv_proj(x)), axis=1)
        if cache is not None:
            kv_latent, _ = cache.update_and_fetch(kv_latent, kv_latent[..., :0])

        if L == 1:
            q = self.embed_q(q)
            k = v = kv_latent
        else:
            k = self.embed_q(kv_latent, transpose=False)
            v = self.unembed_out(kv_latent)

        out = scaled_dot_product_attention(
            q, k, v, cache=cache, scale=self.scale, mask=mask
        )
        if L == 1:
            out = self.unembed_out(out)
        return self.o_proj(out.swapaxes(1, 2).reshape(B, L, -1))


class Model(Stack):
    def __init__(self, args: ModelArgs):
        layers = [
            Layer(NopeAttention(args), args.hidden_size, args.intermediate_size)
            for _ in range(args.num_hidden_layers)
        ]
        super().__init__(layers, args.vocab_size, args.hidden_size)
        self.args = args

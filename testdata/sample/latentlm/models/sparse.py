"""Latent attention over the cached tokens that an indexer picks for each query."""

from dataclasses import dataclass
from typing import Any, Optional

import mlx.core as mx
import mlx.nn as nn

from .base import Layer, Stack, scaled_dot_product_attention
from .cache import LatentCache
from .mla import MultiLinear


@dataclass
class ModelArgs:
    model_type: str = "sparse"
    vocab_size: int = 32000
    hidden_size: int = 2048
    intermediate_size: int = 8192
    num_hidden_layers: int = 4
    num_attention_heads: int = 16
    q_lora_rank: int = 768
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128
    index_heads: int = 8
    index_head_dim: int = 64
    index_topk: int = 2048
    rms_norm_eps: float = 1e-6


class LayerCache:
    """A sparse layer remembers two things: its latent, and the indexer's keys."""

    def __init__(self):
        self.latent = LatentCache()
        self.index = LatentCache()

    @property
    def offset(self) -> int:
        return self.latent.offset


class Indexer(nn.Module):
    """Scores every cached token for every query and keeps the best index_topk."""

    def __init__(self, args: ModelArgs):
        super().__init__()
        self.heads = args.index_heads
        self.topk = args.index_topk
        self.scale = args.index_head_dim**-0.5
        width = self.heads * args.index_head_dim
        self.q_proj = nn.Linear(args.q_lora_rank, width, bias=False)
        self.k_proj = nn.Linear(args.hidden_size, args.index_head_dim, bias=False)
        self.k_norm = nn.LayerNorm(args.index_head_dim)
        self.weight_proj = nn.Linear(args.hidden_size, self.heads, bias=False)

    def __call__(self, x: mx.array, q_latent: mx.array, mask=None, cache=None):
        B, L, _ = x.shape
        k = self.k_norm(self.k_proj(x))[:, None]
        if cache is not None:
            k, _ = cache.update_and_fetch(k, k[..., :0])
        if k.shape[2] <= self.topk:
            return None

        q = self.q_proj(q_latent).reshape(B, L, self.heads, -1).swapaxes(1, 2)
        scores = mx.maximum((q * self.scale) @ k.swapaxes(-1, -2), 0)
        weights = self.weight_proj(x).swapaxes(-1, -2)[..., None]
        scores = (scores * weights).sum(axis=1, keepdims=True)
        if mask is not None:
            scores = mx.where(mask, scores, mx.finfo(scores.dtype).min)
        return mx.argpartition(scores, kth=-self.topk, axis=-1)[..., -self.topk :]


class SparseAttention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.kv_lora_rank = args.kv_lora_rank
        self.qk_nope_head_dim = args.qk_nope_head_dim
        self.qk_rope_head_dim = args.qk_rope_head_dim
        self.v_head_dim = args.v_head_dim
        q_head_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        self.scale = q_head_dim**-0.5

        hidden, eps = args.hidden_size, args.rms_norm_eps
        self.q_a_proj = nn.Linear(hidden, args.q_lora_rank, bias=False)
        self.q_a_norm = nn.RMSNorm(args.q_lora_rank, eps=eps)
        self.q_b_proj = nn.Linear(
            args.q_lora_rank, self.num_heads * q_head_dim, bias=False
        )
        self.kv_a_proj = nn.Linear(
            hidden, self.kv_lora_rank + self.qk_rope_head_dim, bias=False
        )
        self.kv_a_norm = nn.RMSNorm(self.kv_lora_rank, eps=eps)
        self.embed_q = MultiLinear(
            self.qk_nope_head_dim, self.kv_lora_rank, self.num_heads
        )
        self.unembed_out = MultiLinear(
            self.kv_lora_rank, self.v_head_dim, self.num_heads
        )
        self.o_proj = nn.Linear(self.num_heads * self.v_head_dim, hidden, bias=False)
        self.rope = nn.RoPE(self.qk_rope_head_dim, traditional=True)
        self.indexer = Indexer(args)

    def __call__(
        self,
        x: mx.array,
        mask: Optional[mx.array] = None,
        cache: Optional[Any] = None,
    ) -> mx.array:
        B, L, _ = x.shape
        q_latent = self.q_a_norm(self.q_a_proj(x))
        q = self.q_b_proj(q_latent)
        q = q.reshape(B, L, self.num_heads, -1).transpose(0, 2, 1, 3)
        q_nope, q_rope = mx.split(q, [self.qk_nope_head_dim], axis=-1)
        latent, k_rope = mx.split(self.kv_a_proj(x), [self.kv_lora_rank], axis=-1)
        kv_latent = mx.expand_dims(self.kv_a_norm(latent), axis=1)
        k_rope = mx.expand_dims(k_rope, axis=1)

        offset = cache.offset if cache is not None else 0
        q_rope = self.rope(q_rope, offset=offset)
        k_rope = self.rope(k_rope, offset=offset)
        if cache is not None:
            kv_latent, k_rope = cache.latent.update_and_fetch(kv_latent, k_rope)

        index_cache = cache.index if cache is not None else None
        picked = self.indexer(x, q_latent, mask, cache=index_cache)
        if picked is not None:
            if L == 1:
                # One query: fetch the rows that it picked, and only those.
                rows = picked[:, :, 0, :, None]
                kv_latent = mx.take_along_axis(
                    kv_latent,
                    mx.broadcast_to(rows, rows.shape[:-1] + (self.kv_lora_rank,)),
                    axis=2,
                )
                k_rope = mx.take_along_axis(
                    k_rope,
                    mx.broadcast_to(rows, rows.shape[:-1] + (self.qk_rope_head_dim,)),
                    axis=2,
                )
                if mask is not None:
                    mask = mx.take_along_axis(mask, picked, axis=-1)
            else:
                # Several queries, each with its own rows: hide the others instead.
                shape = picked.shape[:-1] + (kv_latent.shape[2],)
                chosen = mx.zeros(shape, dtype=mx.bool_)
                chosen = mx.put_along_axis(chosen, picked, mx.array(True), axis=-1)
                mask = chosen if mask is None else chosen & mask

        bias = (q_rope * self.scale) @ k_rope.swapaxes(-1, -2)
        if mask is not None:
            bias = mx.where(mask, bias, mx.finfo(bias.dtype).min)

        if L == 1:
            q_nope = self.embed_q(q_nope)
            k = v = kv_latent
        else:
            k = self.embed_q(kv_latent, transpose=False)
            v = self.unembed_out(kv_latent)

        out = scaled_dot_product_attention(
            q_nope, k, v, cache=cache, scale=self.scale, mask=bias
        )
        if L == 1:
            out = self.unembed_out(out)

        out = out.transpose(0, 2, 1, 3).reshape(B, L, -1)
        return self.o_proj(out)


class Model(Stack):
    def __init__(self, args: ModelArgs):
        layers = [
            Layer(SparseAttention(args), args.hidden_size, args.intermediate_size)
            for _ in range(args.num_hidden_layers)
        ]
        super().__init__(layers, args.vocab_size, args.hidden_size)
        self.args = args

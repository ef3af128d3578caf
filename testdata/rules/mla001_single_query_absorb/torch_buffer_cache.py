"""PyTorch: the layer keeps the cache itself, as buffers of rows for all positions."""

import torch
from torch import nn


class LarkConfig:
    width: int = 64
    heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class LarkAttention(nn.Module):
    def __init__(self, config: LarkConfig):
        super().__init__()
        self.heads = config.heads
        self.kv_lora_rank = config.kv_lora_rank
        self.qk_nope_head_dim = config.qk_nope_head_dim
        self.qk_rope_head_dim = config.qk_rope_head_dim
        self.v_head_dim = config.v_head_dim
        q_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        self.scale = q_dim**-0.5
        self.q_proj = nn.Linear(config.width, self.heads * q_dim, bias=False)
        self.kv_down = nn.Linear(
            config.width, self.kv_lora_rank + self.qk_rope_head_dim, bias=False
        )
        self.kv_b = nn.Linear(
            self.kv_lora_rank,
            self.heads * (self.qk_nope_head_dim + self.v_head_dim),
            bias=False,
        )
        self.out = nn.Linear(self.heads * self.v_head_dim, config.width, bias=False)
        self.register_buffer("latent_cache", torch.zeros(2, 64, self.kv_lora_rank))
        self.register_buffer("rope_cache", torch.zeros(2, 64, self.qk_rope_head_dim))

    def forward(self, x, at, mask=None):
        batch, new, _ = x.size()
        q = self.q_proj(x).unflatten(-1, (self.heads, -1))
        q_nope, q_rope = q.split([self.qk_nope_head_dim, self.qk_rope_head_dim], -1)
        rows, keys = self.kv_down(x).split(
            [self.kv_lora_rank, self.qk_rope_head_dim], -1
        )
        self.latent_cache[:batch, at : at + new] = rows
        self.rope_cache[:batch, at : at + new] = keys
        up = self.kv_b.weight.view(self.heads, -1, self.kv_lora_rank)
        w_k, w_v = up[:, : self.qk_nope_head_dim], up[:, -self.v_head_dim :]
        scores = torch.einsum("blhp,btp->blht", q_rope, self.rope_cache[:batch, : at + new])
        if new == 1:  # expect: MLA001 select
            folded = torch.einsum("blhn,hnr->blhr", q_nope, w_k)
            scores = scores + torch.einsum(
                "blhr,btr->blht", folded, self.latent_cache[:batch, : at + new]
            )
        else:
            k = torch.einsum("btr,hnr->bthn", self.latent_cache[:batch, : at + new], w_k)
            scores = scores + torch.einsum("blhn,bthn->blht", q_nope, k)
        if mask is not None:
            scores = scores + mask[:, None]
        weights = (scores * self.scale).softmax(-1)
        if new == 1:  # expect: MLA001 followup
            mixed = torch.einsum(
                "blht,btr->blhr", weights, self.latent_cache[:batch, : at + new]
            )
            mixed = torch.einsum("blhr,hvr->blhv", mixed, w_v)
        else:
            v = torch.einsum("btr,hvr->bthv", self.latent_cache[:batch, : at + new], w_v)
            mixed = torch.einsum("blht,bthv->blhv", weights, v)
        return self.out(mixed.flatten(2))

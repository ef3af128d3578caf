"""PyTorch: einsum with per-head parameters."""

import math

import torch
import torch.nn as nn


class TorchLatentAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_heads = cfg.n_heads
        self.rank = cfg.kv_lora_rank
        self.d_nope = cfg.qk_nope_head_dim
        self.d_rope = cfg.qk_rope_head_dim
        self.d_value = cfg.v_head_dim
        self.scale = 1.0 / math.sqrt(self.d_nope + self.d_rope)
        self.q = nn.Linear(cfg.dim, self.n_heads * (self.d_nope + self.d_rope))
        self.kv = nn.Linear(cfg.dim, self.rank + self.d_rope)
        self.k_up = nn.Parameter(torch.randn(self.n_heads, self.d_nope, self.rank))
        self.v_up = nn.Parameter(torch.randn(self.n_heads, self.d_value, self.rank))
        self.out = nn.Linear(self.n_heads * self.d_value, cfg.dim)

    def forward(self, x, past=None, mask=None):
        bsz, q_len, _ = x.shape
        q = self.q(x).view(bsz, q_len, self.n_heads, -1)
        q_nope, q_rope = q.split([self.d_nope, self.d_rope], dim=-1)
        c, k_rope = self.kv(x).split([self.rank, self.d_rope], dim=-1)
        if past is not None:
            c = torch.cat([past[0], c], dim=1)
            k_rope = torch.cat([past[1], k_rope], dim=1)
        scores = torch.einsum("blhp,btp->bhlt", q_rope, k_rope)

        if q_len == 1:  # expect: MLA001 select
            q_latent = torch.einsum("blhn,hnr->blhr", q_nope, self.k_up)
            scores = scores + torch.einsum("blhr,btr->bhlt", q_latent, c)
        else:
            k = torch.einsum("btr,hnr->bthn", c, self.k_up)
            scores = scores + torch.einsum("blhn,bthn->bhlt", q_nope, k)

        scores = scores * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1)

        if q_len == 1:  # expect: MLA001 followup
            mixed = torch.einsum("bhlt,btr->blhr", weights, c)
            out = torch.einsum("blhr,hvr->blhv", mixed, self.v_up)
        else:
            v = torch.einsum("btr,hvr->bthv", c, self.v_up)
            out = torch.einsum("bhlt,bthv->blhv", weights, v)
        return self.out(out.reshape(bsz, q_len, -1)), (c, k_rope)

"""PyTorch: two slices of one weight bound in one statement, and an arm for each method."""

import torch
from torch import nn


class TernConfig:
    width: int = 64
    heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128


class TernAttention(nn.Module):
    def __init__(self, config: TernConfig):
        super().__init__()
        self.heads = config.heads
        self.kv_lora_rank = config.kv_lora_rank
        self.qk_nope_head_dim = config.qk_nope_head_dim
        self.qk_rope_head_dim = config.qk_rope_head_dim
        self.v_head_dim = config.v_head_dim
        q_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        up_dim = self.qk_nope_head_dim + self.v_head_dim
        self.scale = q_dim**-0.5
        self.q_proj = nn.Linear(config.width, self.heads * q_dim, bias=False)
        self.kv_down = nn.Linear(
            config.width, self.kv_lora_rank + self.qk_rope_head_dim, bias=False
        )
        self.kv_b_proj = nn.Linear(self.kv_lora_rank, self.heads * up_dim, bias=False)
        up = self.kv_b_proj.weight.unflatten(0, (-1, up_dim))
        self.w_kc, self.w_vc = up.split([self.qk_nope_head_dim, self.v_head_dim], 1)
        self.out = nn.Linear(self.heads * self.v_head_dim, config.width, bias=False)

    def forward(self, x, mask=None, past=None):
        if x.shape[1] == 1:  # expect: MLA001 select
            return self.in_latent_space(x, mask, past)
        return self.expanded(x, mask, past)

    def parts(self, x, past):
        batch, new, _ = x.shape
        q = self.q_proj(x).view(batch, new, self.heads, -1).transpose(1, 2)
        q_nope, q_rope = q.split([self.qk_nope_head_dim, self.qk_rope_head_dim], -1)
        latent, k_rope = self.kv_down(x).split(
            [self.kv_lora_rank, self.qk_rope_head_dim], -1
        )
        latent, k_rope = past.update(latent, k_rope)
        return q_nope, q_rope, latent.unsqueeze(1), k_rope.unsqueeze(1)

    def finish(self, q, k, v, bias, mask):
        scores = (q @ k.transpose(-1, -2) + bias) * self.scale
        if mask is not None:
            scores = scores + mask
        return scores.softmax(-1) @ v

    def in_latent_space(self, x, mask, past):
        q_nope, q_rope, latent, k_rope = self.parts(x, past)
        bias = q_rope @ k_rope.transpose(-1, -2)
        mixed = self.finish(q_nope @ self.w_kc, latent, latent, bias, mask)
        mixed = mixed @ self.w_vc.transpose(1, 2)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def expanded(self, x, mask, past):
        q_nope, q_rope, latent, k_rope = self.parts(x, past)
        bias = q_rope @ k_rope.transpose(-1, -2)
        kv = self.kv_b_proj(latent.squeeze(1)).unflatten(-1, (self.heads, -1))
        k, v = kv.transpose(1, 2).split([self.qk_nope_head_dim, self.v_head_dim], -1)
        mixed = self.finish(q_nope, k, v, bias, mask)
        return self.out(mixed.transpose(1, 2).flatten(2))

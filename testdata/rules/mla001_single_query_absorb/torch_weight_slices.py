"""PyTorch: the up-projections are slices of one weight."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class SliceConfig:
    hidden_size: int = 64
    num_heads: int = 4
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 192
    v_head_dim: int = 256


class SlicedLatentAttention(nn.Module):
    def __init__(self, config: SliceConfig):
        super().__init__()
        self.num_heads = config.num_heads
        self.kv_lora_rank = config.kv_lora_rank
        self.qk_nope_head_dim = config.qk_nope_head_dim
        self.v_head_dim = config.v_head_dim
        self.scale = self.qk_nope_head_dim**-0.5
        width = self.qk_nope_head_dim + self.v_head_dim
        self.q_proj = nn.Linear(
            config.hidden_size, self.num_heads * self.qk_nope_head_dim
        )
        self.kv_a_proj = nn.Linear(config.hidden_size, self.kv_lora_rank)
        self.kv_b_proj = nn.Linear(
            self.kv_lora_rank, self.num_heads * width, bias=False
        )
        self.o_proj = nn.Linear(self.num_heads * self.v_head_dim, config.hidden_size)

    def forward(self, x, past=None, mask=None):
        bsz, q_len, _ = x.size()
        q = self.q_proj(x).view(bsz, q_len, self.num_heads, -1).transpose(1, 2)
        latent = self.kv_a_proj(x)
        if past is not None:
            latent = torch.cat([past, latent], dim=1)
        kv_b = self.kv_b_proj.weight.view(self.num_heads, -1, self.kv_lora_rank)
        w_kc = kv_b[:, : self.qk_nope_head_dim]
        w_vc = kv_b[:, self.qk_nope_head_dim :]
        memory = latent.unsqueeze(1)

        if q_len == 1:  # expect: MLA001 select t=398
            q = torch.matmul(q, w_kc)
            k = v = memory.expand(-1, self.num_heads, -1, -1)
        else:
            k = torch.matmul(memory, w_kc.transpose(-1, -2))
            v = torch.matmul(memory, w_vc.transpose(-1, -2))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.scale)
        if q_len == 1:  # expect: MLA001 followup t=398
            out = torch.matmul(out, w_vc.transpose(-1, -2))
        out = out.transpose(1, 2).reshape(bsz, q_len, -1)
        return self.o_proj(out), latent

"""Runs the parent's method, but not its constructor."""

import mlx.nn as nn

from .mla import MultiLinear
from .parent import MedlarArgs, MedlarAttention


class MedlarDraftAttention(MedlarAttention):
    def __init__(self, args: MedlarArgs):
        nn.Module.__init__(self)
        self.num_heads = max(1, args.num_attention_heads // 2)
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

"""Config classes that several model files use."""

from dataclasses import dataclass


@dataclass
class WideConfig:
    model_type: str = "dense_wide"
    vocab_size: int = 32000
    hidden_size: int = 2048
    intermediate_size: int = 8192
    num_hidden_layers: int = 4
    num_attention_heads: int = 20
    q_lora_rank: int = 768
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 192
    qk_rope_head_dim: int = 64
    v_head_dim: int = 256
    rms_norm_eps: float = 1e-5
    rope_theta: float = 1000000.0

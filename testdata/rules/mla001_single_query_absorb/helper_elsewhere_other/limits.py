"""Has a function like the helper."""


def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim):
    return kv_lora_rank // (qk_nope_head_dim + v_head_dim)

"""Has the helper."""


def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim):
    d = qk_nope_head_dim + v_head_dim
    if 2 * kv_lora_rank <= d:
        return 1
    return max(1, kv_lora_rank * d // (2 * kv_lora_rank - d))

// A graph is built, nothing is computed: the flag is made in one function and used in another.
struct tensor { long shape[4]; };
struct sizes { int n_lora_kv, n_nope, n_v; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);
tensor * permute(tensor * x, int a, int b);
tensor * cont(tensor * x);

struct layer { tensor * wkv_b, * wk_b, * wv_b; };

static tensor * attention(const layer & l, tensor * kv_cache, tensor * q_nope, bool wide, int n_tokens) {
    if (wide) {
        tensor * kv = mul_mat(l.wkv_b, kv_cache);
        return flash_attention(q_nope, kv, kv);
    }
    tensor * folded = mul_mat(l.wk_b, q_nope);
    tensor * out = mul_mat(l.wv_b, flash_attention(folded, kv_cache, kv_cache));
    if (n_tokens > 1)  // expect: kept layout
        out = cont(permute(out, 0, 2));
    return out;
}

tensor * build(const layer & l, tensor * kv_cache, tensor * q_nope, int n_tokens) {
    const bool wide = !(n_tokens < 32);  // expect: MLA002 select
    return attention(l, kv_cache, q_nope, wide, n_tokens);
}

int room_for_nodes(const sizes & s, int n_tokens, int n_head) {
    int nodes = 16;
    if (s.n_lora_kv > 0 && n_tokens >= 48)  // expect: MLA004 mirror
        nodes += 4 * n_head;
    return nodes;
}

// Two models of one tree with limits of their own: two decisions, and neither contradicts the other.
struct tensor;
struct layer { tensor * wkv_b, * wk_b, * wv_b; };
struct settings { int mla_attn; bool draft; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);

static tensor * small_model(const layer & l, tensor * kv_cache, tensor * q_nope, int n_tokens) {
    if (n_tokens > 4) {  // expect: MLA002 select
        tensor * kv = mul_mat(l.wkv_b, kv_cache);
        return flash_attention(q_nope, kv, kv);
    }
    return mul_mat(l.wv_b, flash_attention(mul_mat(l.wk_b, q_nope), kv_cache, kv_cache));
}

static tensor * draft_query(const layer & l, tensor * q_nope, tensor * kv_cache, bool few, tensor ** kv) {
    if (few)
        return mul_mat(l.wk_b, q_nope);
    *kv = mul_mat(l.wkv_b, kv_cache);
    return q_nope;
}

static tensor * draft_model(const layer & l, const settings & s, tensor * kv_cache, tensor * q_nope, int n_tokens) {
    const bool few = s.mla_attn > 1 && n_tokens <= 16;  // expect: MLA002 select
    tensor * kv = kv_cache;
    tensor * q = draft_query(l, q_nope, kv_cache, few, &kv);
    tensor * out = flash_attention(q, kv, kv);
    if (few)
        out = mul_mat(l.wv_b, out);
    return out;
}

tensor * step(const layer & l, const settings & s, tensor * kv_cache, tensor * q_nope, int n_tokens) {
    if (s.draft)
        return draft_model(l, s, kv_cache, q_nope, n_tokens);
    return small_model(l, kv_cache, q_nope, n_tokens);
}

// The setting of the second decision: its mirror, of another limit.
int room_for_nodes(const settings & s, int n_tokens, int n_head) {
    int nodes = 16;
    if (s.mla_attn > 1 && n_tokens > 32)  // expect: MLA004 mirror
        nodes += 4 * n_head;
    return nodes;
}

// Of which of the two is not said.
int room_for_rows(const layer & l, int n_tokens, int n_head) {
    int rows = 16;
    if (l.wkv_b && n_tokens > 48)  // expect: kept unrelated
        rows += 4 * n_head;
    return rows;
}

// No size of anything, only a remark.
void warn(const char * text);
void remark(const settings & s, int n_tokens) {
    if (s.mla_attn > 1 && n_tokens > 256)  // expect: kept unrelated
        warn("slow");
}

// Rows chosen for one query are gathered under a test of their own, inside of the absorbed arm.
struct tensor;
struct sizes { int rank, nope, vdim, mla; bool sparse; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * get_rows(tensor * x, tensor * rows);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);

struct layer { tensor * wkv_b, * wk_b, * wv_b; };

static bool picks_rows(const sizes & s, int n_tokens) {
    if (n_tokens == 1 && s.sparse) {  // expect: kept sparse-gather
        int budget = s.rank;
        return budget % 4 == 0;
    }
    return false;
}

tensor * attention(const sizes & s, const layer & l, tensor * kv_cache, tensor * q_nope, tensor * top_k, int n_tokens) {
    bool wide = n_tokens >= 32;  // expect: MLA002 select
    bool pick = s.sparse && picks_rows(s, n_tokens);
    if (wide) {
        tensor * kv = mul_mat(l.wkv_b, kv_cache);
        return flash_attention(q_nope, kv, kv);
    }
    tensor * folded = mul_mat(l.wk_b, q_nope);
    if (pick) {
        tensor * rows = get_rows(kv_cache, top_k);
        return mul_mat(l.wv_b, flash_attention(folded, rows, rows));
    }
    return mul_mat(l.wv_b, flash_attention(folded, kv_cache, kv_cache));
}

// Here the rows may be gathered for several queries: the outer test decides that as well.
tensor * draft(const sizes & s, const layer & l, tensor * kv_cache, tensor * q_nope, tensor * top_k, int n_tokens) {
    if (n_tokens > 8) {  // expect: MLA002 select
        tensor * kv = mul_mat(l.wkv_b, kv_cache);
        return flash_attention(q_nope, kv, kv);
    }
    tensor * folded = mul_mat(l.wk_b, q_nope);
    if (n_tokens == 1 || s.sparse)  // expect: kept sparse-gather
        kv_cache = get_rows(kv_cache, top_k);
    return mul_mat(l.wv_b, flash_attention(folded, kv_cache, kv_cache));
}

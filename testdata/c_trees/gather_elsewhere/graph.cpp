struct tensor;
struct sizes { int rank, nope, vdim; };
struct layer { tensor * wkv_b, * wk_b, * wv_b; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);
tensor * few(const layer & l, tensor * kv_cache, tensor * folded, tensor * top_k);

tensor * attention(const sizes & s, const layer & l, tensor * kv_cache, tensor * q_nope, tensor * top_k, int n_tokens) {
    if (n_tokens == 1)  // expect: MLA001 select
        return few(l, kv_cache, mul_mat(l.wk_b, q_nope), top_k);
    tensor * kv = mul_mat(l.wkv_b, kv_cache);
    return flash_attention(q_nope, kv, kv);
}

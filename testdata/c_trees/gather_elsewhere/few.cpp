struct tensor;
struct layer { tensor * wkv_b, * wk_b, * wv_b; };

tensor * mul_mat(tensor * w, tensor * x);
tensor * get_rows(tensor * x, tensor * rows);
tensor * flash_attention(tensor * q, tensor * k, tensor * v);

tensor * few(const layer & l, tensor * kv_cache, tensor * folded, tensor * top_k) {
    tensor * rows = get_rows(kv_cache, top_k);
    return mul_mat(l.wv_b, flash_attention(folded, rows, rows));
}

// Without a build, nothing says where its headers are: there is one of the name.
#include "sizes.h"
#include "layers/weights.h"

tensor * attention(const sizes & s, const weights & w, tensor * q_nope, tensor * kv_cache, int n_tokens) {
    if (n_tokens < 32) {  // expect: MLA002 select
        tensor * q = mul_mat(w.wk_b, q_nope);
        return mul_mat(w.wv_b, attend(q, kv_cache, kv_cache));
    }
    tensor * kv = mul_mat(w.wkv_b, kv_cache);
    return attend(q_nope, keys(kv, s), values(kv, s));
}

// The arms are one function with another argument of its template, by value, by type beside it, by mode.
struct sizes { int kv_lora_rank, qk_nope_head_dim, v_head_dim; };
enum class form { absorbed, expanded };

float * matmul(const float * w, const float * x);
float * attend(const float * q, const float * k, const float * v);
struct weights { sizes s; const float *wk_b, *wv_b; };

template <typename T, bool Absorb> static T * layer(const weights & w, T * q_nope, T * kv_latent) {
    if constexpr (Absorb) {
        return matmul(w.wv_b, attend(matmul(w.wk_b, q_nope), kv_latent, kv_latent));
    } else {
        return attend(q_nope, matmul(w.wk_b, kv_latent), matmul(w.wv_b, kv_latent));
    }
}

template <form F> static float * layer_in(const weights & w, float * q_nope, float * kv_latent) {
    if constexpr (F == form::expanded)
        return attend(q_nope, matmul(w.wk_b, kv_latent), matmul(w.wv_b, kv_latent));
    return matmul(w.wv_b, attend(matmul(w.wk_b, q_nope), kv_latent, kv_latent));
}

float * by_value(const weights & w, float * q_nope, float * kv_latent, int n_tokens) {
    if (n_tokens == 1)  // expect: MLA001 select
        return layer<float, true>(w, q_nope, kv_latent);
    return layer<float, false>(w, q_nope, kv_latent);
}

float * by_mode(const weights & w, float * q_nope, float * kv_latent, int n_tokens) {
    return n_tokens >= 64  // expect: MLA002 select
               ? layer_in<form::expanded>(w, q_nope, kv_latent)
               : layer_in<form::absorbed>(w, q_nope, kv_latent);
}

template <int N> static float * same(const weights & w, float * q_nope, float * kv_latent) {
    return attend(q_nope, matmul(w.wk_b, kv_latent), matmul(w.wv_b, kv_latent));
}

float * tiles(const weights & w, float * q_nope, float * kv_latent, int n_tokens) {
    return n_tokens == 1 ? same<1>(w, q_nope, kv_latent) : same<8>(w, q_nope, kv_latent);  // expect: kept unrelated
}

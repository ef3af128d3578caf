// Launches of kernels are calls: what they do decides which form an arm is.
struct sizes { int kv_lora_rank, qk_nope_head_dim, v_head_dim; };
typedef struct CUstream_st * cudaStream_t;
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1); };

__global__ void absorb_query_kernel(const float * wk_b, const float * q_nope, float * q, int heads);
template <int WIDTH> __global__ void attend_latent_kernel(const float * q, const float * kv_latent, float * o);
__global__ void project_latent_kernel(const float * wv_b, const float * o, float * out);
__global__ void expand_latent_kernel(const float * kv_latent, float * k, float * v);
__global__ void attend_kernel(const float * q, const float * k, const float * v, float * out);

void attention(const sizes & s, const float * wk_b, const float * wv_b, const float * q_nope, const float * kv_latent,
               float * q, float * k, float * v, float * o, float * out, int n_tokens, int heads, cudaStream_t stream) {
    const dim3 grid(heads, n_tokens);
    if (n_tokens <= 8) {  // expect: MLA002 select
        absorb_query_kernel<<<grid, 256, 0, stream>>>(wk_b, q_nope, q, heads);
        attend_latent_kernel<64><<<dim3(heads, (n_tokens + 1) / 2), (heads > 4 ? 256 : 128)>>>(q, kv_latent, o);
        project_latent_kernel<<<
            grid,
            256>>>(wv_b, o, out);
    } else {
        expand_latent_kernel<<<1 << 4, 256>>>(kv_latent, k, v);  // not <<< a launch >>> here
        attend_kernel<<<grid, 256>>>(q_nope, k, v, out);
    }
}

// The count is unsigned and may have 64 bits.
#include <cstddef>
struct node;
struct sizes {
	size_t n_lora_kv, n_head_nope, n_rot, n_head_v;
};
struct model {
	sizes hp;
	node *wk_b, *wv_b, *wkv_b, *latent;
};
node *mul_mat(node *w, node *x);
node *sdpa(node *q, node *k, node *v);

node *attention(const model *m, node *q, size_t n_tokens)
{
	if (n_tokens < 16) // expect: MLA002 select
		return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
	node *kv = mul_mat(m->wkv_b, m->latent);
	return sdpa(q, kv, kv);
}

// Objective-C: instance variables and messages.
struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

@interface Attention {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
	int seq_len;
}
- (struct tensor *)expanded:(struct tensor *)q;
- (struct tensor *)run:(struct tensor *)q;
@end

@implementation Attention
- (struct tensor *)expanded:(struct tensor *)q {
	struct tensor *kv = mul_mat(wkv_b, latent);
	return sdpa(q, kv, kv);
}
- (struct tensor *)run:(struct tensor *)q {
	if (1 != seq_len) // expect: MLA001 select
		return [self expanded:q];
	return mul_mat(wv_b, sdpa(mul_mat(wk_b, q), latent, latent));
}
@end

// Objective-C: a count and a flag that are properties.
struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

@interface Layer {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
}
@property int nTokens;
- (struct tensor *)run:(struct tensor *)q;
@end

@implementation Layer
- (struct tensor *)run:(struct tensor *)q {
	struct tensor *kv;

	if (self.nTokens <= 1) // expect: MLA001 select
		return mul_mat(wv_b, sdpa(mul_mat(wk_b, q), latent, latent));
	kv = mul_mat(wkv_b, latent);
	return sdpa(q, kv, kv);
}
@end

/* The test is wrapped: in a hint, in a macro that makes the statement, with a constant added. */
#define DISPATCH(test, one, other)                                                                 \
	do {                                                                                       \
		if (test)                                                                          \
			return one(m, q);                                                          \
		else                                                                               \
			return other(m, q);                                                        \
	} while (0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

struct tensor;
struct tensor *mul_mat(struct tensor *w, struct tensor *x);
struct tensor *sdpa(struct tensor *q, struct tensor *k, struct tensor *v);

struct model {
	struct tensor *wk_b, *wv_b, *wkv_b, *latent;
};

static struct tensor *folded(const struct model *m, struct tensor *q)
{
	return mul_mat(m->wv_b, sdpa(mul_mat(m->wk_b, q), m->latent, m->latent));
}

static struct tensor *expanded(const struct model *m, struct tensor *q)
{
	struct tensor *kv = mul_mat(m->wkv_b, m->latent);

	return sdpa(q, kv, kv);
}

struct tensor *made_by_macro(const struct model *m, struct tensor *q, int n_tokens)
{
	DISPATCH(n_tokens == 1, folded, expanded); /* expect: MLA001 select */
}

struct tensor *hinted(const struct model *m, struct tensor *q, int n_tokens)
{
	if (LIKELY(n_tokens < 2)) /* expect: MLA001 select */
		return folded(m, q);
	return expanded(m, q);
}

struct tensor *shifted(const struct model *m, struct tensor *q, int n_tokens)
{
	if (n_tokens - 1 == 0) /* expect: MLA001 select */
		return folded(m, q);
	return expanded(m, q);
}

struct tensor *shifted_limit(const struct model *m, struct tensor *q, int n_tokens)
{
	return 9 > n_tokens + 1 ? folded(m, q) : expanded(m, q); /* expect: MLA002 select */
}

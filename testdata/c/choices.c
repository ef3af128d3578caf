/* What the test comes to is a mode, a bit, a function or an argument before an arm is taken. */
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

/* The mode whose value is 0 is the one for few queries. */
enum way { WAY_FOLD, WAY_EXPAND, WAY_OTHER };

static enum way returned(int n_tokens)
{
	if (n_tokens == 1) /* expect: MLA001 select */
		return WAY_FOLD;
	return WAY_EXPAND;
}

struct tensor *by_switch(const struct model *m, struct tensor *q, int n_tokens)
{
	switch (returned(n_tokens)) {
	case WAY_FOLD:
		return folded(m, q);
	case WAY_EXPAND:
		return expanded(m, q);
	default:
		return 0;
	}
}

struct plan {
	enum way way;
};

static void make_plan(struct plan *p, int n_tokens)
{
	p->way = n_tokens > 6 ? WAY_EXPAND : WAY_FOLD; /* expect: MLA002 select */
}

static struct tensor *by_field(const struct model *m, const struct plan *p, struct tensor *q)
{
	if (p->way != WAY_FOLD)
		return expanded(m, q);
	return folded(m, q);
}

struct tensor *planned(const struct model *m, struct plan *p, struct tensor *q, int n_tokens)
{
	make_plan(p, n_tokens);
	return by_field(m, p, q);
}

/* A mode that another setting chooses says nothing of the count. */
struct tensor *set_from_outside(const struct model *m, struct tensor *q, enum way way, int *n,
                                int n_tokens)
{
	if (n_tokens == 1) /* expect: kept unrelated */
		*n = 1;
	return way == WAY_FOLD ? folded(m, q) : expanded(m, q);
}

enum { BIT_FLASH = 1, BIT_FOLD = 2 };

static struct tensor *by_bit(const struct model *m, struct tensor *q, unsigned bits)
{
	return bits & BIT_FOLD ? folded(m, q) : expanded(m, q);
}

struct tensor *bits(const struct model *m, struct tensor *q, int n_tokens)
{
	unsigned set = BIT_FLASH;

	if (n_tokens < 5) /* expect: MLA002 select */
		set |= BIT_FOLD;
	return by_bit(m, q, set);
}

struct tensor *by_pointer(const struct model *m, struct tensor *q, int n_tokens)
{
	struct tensor *(*arm)(const struct model *, struct tensor *) = expanded;

	if (n_tokens <= 3) /* expect: MLA002 select */
		arm = folded;
	return arm(m, q);
}

struct tensor *by_pointer_at_once(const struct model *m, struct tensor *q, int n_tokens)
{
	return (n_tokens == 1 ? folded : expanded)(m, q); /* expect: MLA001 select */
}

static struct tensor *by_argument(const struct model *m, struct tensor *q, int wide)
{
	if (wide)
		return expanded(m, q);
	return folded(m, q);
}

struct tensor *arguments(const struct model *m, struct tensor *q, int n_tokens)
{
	if (n_tokens == 1) /* expect: MLA001 select */
		return by_argument(m, q, 0);
	return by_argument(m, q, 1);
}

struct tensor *of_a_test(const struct model *m, struct tensor *q, int n_tokens)
{
	switch (n_tokens == 1) { /* expect: MLA001 select */
	case 0:
		return expanded(m, q);
	default:
		return folded(m, q);
	}
}

struct tensor *flag_is_zero(const struct model *m, struct tensor *q, int n_tokens)
{
	const int few = n_tokens < 4; /* expect: MLA002 select */

	if (few == 0)
		return expanded(m, q);
	return folded(m, q);
}

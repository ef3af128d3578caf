/* Which tests hold where something is done, and what a value says of tests. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

/*
 * Rows are gathered for the innermost test that lets few queries through: those around it let more
 * through before it is asked. UINT32_MAX: every guard counts.
 */
static uint32_t owner_of_gather(const mla_c_flow *f)
{
	for (uint32_t i = f->guards.n; i-- > 0;)
		if (f->guards.v[i].small && f->guards.v[i].sure)
			return f->guards.v[i].group;
	return UINT32_MAX;
}

static bool is_owner(const mla_c_flow *f, uint32_t owner, uint32_t i)
{
	const mla_c_guard *g = &f->guards.v[i];

	return owner == UINT32_MAX || !g->small || i >= owner;
}

static void note(mla_arm *arm, mla_event event, const mla_node *at, mla_module *in)
{
	if (arm->count[event]++)
		return;
	arm->first[event] = at;
	arm->in[event] = in;
}

void mla_c_record(mla_c_flow *f, mla_event event, const mla_node *at)
{
	uint32_t owner = event == MLA_EV_GATHER ? owner_of_gather(f) : UINT32_MAX;

	f->records += event != MLA_EV_LAYOUT;
	for (uint32_t i = 0; i < f->guards.n; i++) {
		mla_test *t = f->guards.v[i].test;

		note(f->guards.v[i].small ? &t->small : &t->large,
		     is_owner(f, owner, i) ? event : MLA_EV_GATHER_INSIDE, at, f->module);
	}
}

uint32_t mla_c_push(mla_c_flow *f, mla_c_truths truth, bool holds)
{
	uint32_t mark = f->guards.n;

	for (uint32_t i = 0; i < truth.n; i++) {
		const mla_c_truth *t = &truth.v[i];

		mla_vec_push(&f->guards,
		             ((mla_c_guard){.test = t->test,
		                            .small = t->small_when_true == holds,
		                            .sure = holds ? t->sure_if_true : t->sure_if_false,
		                            .group = mark}));
	}
	return mark;
}

void mla_c_pop(mla_c_flow *f, uint32_t mark)
{
	f->guards.n = mark;
}

mla_c_truths mla_c_join(mla_c_flow *f, mla_c_truths a, mla_c_truths b)
{
	mla_c_truth *v;
	uint32_t n = a.n;

	if (!b.n)
		return a;
	if (!a.n)
		return b;
	v = mla_arena_array(f->arena, a.n + b.n, sizeof(*v));
	memcpy(v, a.v, a.n * sizeof(*v));
	for (uint32_t i = 0; i < b.n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < n && !known; k++)
			known = v[k].test == b.v[i].test;
		if (!known)
			v[n++] = b.v[i];
	}
	return (mla_c_truths){v, n};
}

mla_c_truths mla_c_negate(mla_c_flow *f, mla_c_truths truth)
{
	mla_c_truth *flipped = mla_arena_array(f->arena, truth.n, sizeof(*flipped));

	for (uint32_t i = 0; i < truth.n; i++)
		flipped[i] = (mla_c_truth){.test = truth.v[i].test,
		                           .small_when_true = !truth.v[i].small_when_true,
		                           .sure_if_true = truth.v[i].sure_if_false,
		                           .sure_if_false = truth.v[i].sure_if_true};
	return (mla_c_truths){flipped, truth.n};
}

mla_c_truths mla_c_doubt(mla_c_flow *f, mla_c_truths truth, bool if_true, bool if_false)
{
	mla_c_truth *v = mla_arena_array(f->arena, truth.n, sizeof(*v));

	for (uint32_t i = 0; i < truth.n; i++) {
		v[i] = truth.v[i];
		v[i].sure_if_true &= !if_true;
		v[i].sure_if_false &= !if_false;
	}
	return (mla_c_truths){v, truth.n};
}

mla_c_truths mla_c_guard_truth(mla_c_flow *f, const mla_c_frame *fr, bool value, bool sure)
{
	uint32_t n = f->guards.n - fr->guards;
	mla_c_truth *v = mla_arena_array(f->arena, n, sizeof(*v));

	for (uint32_t i = 0; i < n; i++) {
		const mla_c_guard *g = &f->guards.v[fr->guards + i];

		v[i] = (mla_c_truth){.test = g->test,
		                     .small_when_true = g->small == value,
		                     .sure_if_true = sure && value && g->sure};
	}
	return (mla_c_truths){v, n};
}

static bool says_so(mla_c_truths truth, const mla_test *t)
{
	for (uint32_t i = 0; i < truth.n; i++)
		if (truth.v[i].test == t)
			return truth.v[i].sure_if_true;
	return false;
}

mla_c_truths mla_c_join_returned(mla_c_flow *f, mla_c_frame *fr, mla_c_truths truth, bool may_hold)
{
	mla_c_truths before = fr->result.truth;
	mla_c_truth *v = mla_arena_array(f->arena, before.n + truth.n, sizeof(*v));
	mla_c_truths all = mla_c_join(f, before, truth);

	for (uint32_t i = 0; i < all.n; i++) {
		v[i] = all.v[i];
		v[i].sure_if_true &= !fr->may_hold || says_so(before, v[i].test);
		v[i].sure_if_true &= !may_hold || says_so(truth, v[i].test);
		v[i].sure_if_false = false;
	}
	fr->may_hold |= may_hold;
	return (mla_c_truths){v, all.n};
}

/*
 * What a decision is turned into on its way to the arms: a constant such as a mode, a bit among
 * flags, or the function that is called. Each of them is a choice, with the guards that lead to it.
 */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

enum { CHOICES_MAX = 16, GUARDS_MAX = 32 };

bool mla_c_literal(int64_t *value, const mla_node *n)
{
	n = mla_c_named(n);
	if (!n || (n->kind != MLA_N_TRUE && n->kind != MLA_N_FALSE && n->kind != MLA_N_INT &&
	           mla_decl_of(n) != MLA_DECL_CONSTANT))
		return false;
	*value = n->kind == MLA_N_TRUE;
	if (n->kind == MLA_N_TRUE || n->kind == MLA_N_FALSE)
		return true;
	if (n->c && n->c->value_known)
		*value = n->c->value;
	return n->c && n->c->value_known;
}

mla_c_choices mla_c_choices_of(mla_c_flow *f, mla_c_value v, const mla_node *n)
{
	mla_c_choice one = {0}, *kept;

	if (v.choice.n)
		return v.choice;
	if (!mla_c_literal(&one.value, n)) {
		n = mla_c_named(n);
		if (!n || n->kind != MLA_N_NAME || mla_decl_of(n) != MLA_DECL_FUNCTION)
			return (mla_c_choices){0};
		one.entry = mla_c_find(f, n->c->id, n->name);
		if (!one.entry)
			return (mla_c_choices){0};
	}
	kept = mla_arena_alloc(f->arena, sizeof(*kept));
	*kept = one;
	return (mla_c_choices){kept, 1};
}

mla_c_choices mla_c_under(mla_c_flow *f, mla_c_choices choices, uint32_t mark)
{
	uint32_t n = f->guards.n - mark;
	mla_c_choice *v;

	if (!choices.n || !n || n > GUARDS_MAX)
		return choices;
	v = mla_arena_array(f->arena, choices.n, sizeof(*v));
	for (uint32_t i = 0; i < choices.n; i++) {
		const mla_c_choice *old = &choices.v[i];
		mla_c_guard *guard;

		v[i] = *old;
		if (old->n + n > GUARDS_MAX)
			continue;
		guard = mla_arena_array(f->arena, old->n + n, sizeof(*guard));
		if (old->n)
			memcpy(guard, old->guard, old->n * sizeof(*guard));
		memcpy(guard + old->n, f->guards.v + mark, n * sizeof(*guard));
		v[i].guard = guard;
		v[i].n = old->n + n;
	}
	return (mla_c_choices){v, choices.n};
}

mla_c_choices mla_c_either(mla_c_flow *f, mla_c_choices a, mla_c_choices b)
{
	uint32_t n = a.n + b.n;
	mla_c_choice *v;

	if (!a.n || !b.n || n > CHOICES_MAX)
		return a.n ? a : b;
	v = mla_arena_array(f->arena, n, sizeof(*v));
	memcpy(v, a.v, a.n * sizeof(*v));
	memcpy(v + a.n, b.v, b.n * sizeof(*v));
	return (mla_c_choices){v, n};
}

/* How a test stands in the choices of one kind: nowhere, for few queries, for many, or for both. */
typedef struct {
	bool small, large, always, sure;
} standing;

static standing stands(mla_c_choices choices, uint32_t wanted, bool matches, const mla_test *t)
{
	standing s = {.always = true, .sure = true};

	for (uint32_t i = 0; i < choices.n; i++) {
		bool named = false;

		if (((wanted >> i) & 1) != matches)
			continue;
		for (uint32_t k = 0; k < choices.v[i].n; k++) {
			const mla_c_guard *g = &choices.v[i].guard[k];

			if (g->test != t)
				continue;
			named = true;
			s.small |= g->small;
			s.large |= !g->small;
			s.sure &= g->sure;
		}
		s.always &= named;
	}
	return s;
}

static bool is_among(const mla_c_truth *v, uint32_t n, const mla_test *t)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].test == t)
			return true;
	return false;
}

/* Where one of the wanted choices was made, what of the tests? */
static mla_c_truths truths_of(mla_c_flow *f, mla_c_choices choices, uint32_t wanted)
{
	mla_c_truth *v;
	uint32_t n = 0, most = 0;

	for (uint32_t i = 0; i < choices.n; i++)
		most += choices.v[i].n;
	v = mla_arena_array(f->arena, most, sizeof(*v));
	for (uint32_t i = 0; wanted && i < choices.n; i++)
		for (uint32_t k = 0; k < choices.v[i].n; k++) {
			mla_test *t = choices.v[i].guard[k].test;
			standing in = stands(choices, wanted, true, t);
			standing out = stands(choices, wanted, false, t);
			bool told = in.small != in.large;

			if (is_among(v, n, t) || (in.small && in.large) ||
			    (!told && out.small == out.large))
				continue;
			v[n++] = (mla_c_truth){.test = t,
			                       .small_when_true = told ? in.small : out.large,
			                       .sure_if_true = told && in.always && in.sure};
		}
	return (mla_c_truths){v, n};
}

mla_c_truths mla_c_chosen(mla_c_flow *f, mla_c_choices choices, int64_t value, bool bits)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < choices.n; i++)
		if (!choices.v[i].entry &&
		    (bits ? (choices.v[i].value & value) != 0 : choices.v[i].value == value))
			wanted |= 1u << i;
	return truths_of(f, choices, wanted);
}

mla_c_truths mla_c_chosen_at(mla_c_flow *f, mla_c_choices choices, uint32_t i)
{
	return truths_of(f, choices, 1u << i);
}

mla_c_truths mla_c_chosen_none(mla_c_flow *f, mla_c_choices choices, const int64_t *value,
                               uint32_t n)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < choices.n; i++) {
		bool labelled = false;

		for (uint32_t k = 0; k < n; k++)
			labelled |= choices.v[i].value == value[k];
		if (!labelled)
			wanted |= 1u << i;
	}
	return truths_of(f, choices, wanted);
}

bool mla_c_is_written(const mla_node *function, uint64_t id)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		const mla_node *target = mla_kid(n, 0);
		bool writes = n->kind == MLA_N_ASSIGN || n->kind == MLA_N_AUG_ASSIGN ||
		              (n->kind == MLA_N_UNARY &&
		               (n->op == MLA_OP_INCREMENT || n->op == MLA_OP_ADDRESS));

		if (writes && target && target->c && target->c->id == id)
			return true;
	}
	return false;
}

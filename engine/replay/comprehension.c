/* Comprehensions. A generator is run to its end where it is written: nothing else is suspended. */
#include "engine/replay/machine.h"

static int emit(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	const mla_node *element = n->kid[0];
	mla_value key, v;
	int error;

	if (n->kind == MLA_N_DICT_COMP) {
		if ((error = mla_eval(&key, m, e, element->kid[0])) < 0 ||
		    (error = mla_eval(&v, m, e, element->kid[1])) < 0)
			return error;
		return mla_dictionary_set(m, out->dict, key, v);
	}
	if ((error = mla_eval(&v, m, e, element)) < 0)
		return error;
	return mla_sequence_push(m, out->seq, v);
}

/* Clause `at` and those behind it; nests as deep as the source has clauses. */
static int clauses(mla_value *out, mla_machine *m, mla_environment *e, mla_environment *own,
                   const mla_node *n, uint32_t at)
{
	const mla_node *c = mla_kid(n, at);
	mla_value source, list;
	bool truth;
	int error;

	if (!c)
		return emit(out, m, own, n);
	if ((error = mla_enter(m, c)) < 0)
		return error;
	if (c->kind == MLA_N_IF_CLAUSE) {
		if ((error = mla_eval_test(&truth, m, own, c->kid[0])) == 0 && truth)
			error = clauses(out, m, e, own, n, at + 1);
		mla_leave(m);
		return error;
	}
	/* The first iterable belongs to the scope around. */
	if ((error = mla_eval(&source, m, at == 1 ? e : own, c->kid[1])) < 0 ||
	    (error = mla_iterate(&list, m, source)) < 0)
		return error;
	for (uint32_t i = 0; i < list.seq->n && error == 0; i++)
		if ((error = mla_assign(m, own, c->kid[0], list.seq->v[i])) == 0)
			error = clauses(out, m, e, own, n, at + 1);
	mla_leave(m);
	return error;
}

static void bind_targets(mla_machine *m, mla_environment *own, const mla_node *n)
{
	for (uint32_t i = 1; i < n->n; i++) {
		const mla_node *c = n->kid[i],
			       *target = c->kind == MLA_N_FOR_CLAUSE ? c->kid[0] : NULL;

		for (const mla_node *t = target; t; t = mla_node_next(t, target, false))
			if (t->kind == MLA_N_NAME)
				mla_environment_bind(m, own, t->name, (mla_value){0});
	}
}

int mla_eval_comprehension(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_environment *own = mla_environment_new(m, e, e->module, NULL);
	int error;

	bind_targets(m, own, n);
	*out = n->kind == MLA_N_DICT_COMP  ? mla_dictionary_new(m)
	       : n->kind == MLA_N_SET_COMP ? mla_sequence_new(m, MLA_V_SET, 0)
	                                   : mla_sequence_new(m, MLA_V_LIST, 0);
	error = clauses(out, m, e, own, n, 1);
	return error == 0 && n->kind == MLA_N_SET_COMP ? mla_set_unique(m, *out) : error;
}

/* Comparisons, and the decisions among them that a verdict watches or sets. */
#include "engine/replay/machine.h"

bool mla_decide(mla_machine *m, const mla_node *n, bool outcome)
{
	for (uint32_t i = 0; m->run && i < m->run->watches; i++) {
		mla_watch *w = &m->run->watch[i];

		if (w->node != n)
			continue;
		if (w->forced >= 0)
			outcome = w->forced != 0;
		*(outcome ? &w->was_true : &w->was_false) = true;
	}
	return outcome;
}

static bool is_watched(const mla_machine *m, const mla_node *n)
{
	for (uint32_t i = 0; m->run && i < m->run->watches; i++)
		if (m->run->watch[i].node == n)
			return true;
	return false;
}

int mla_eval_compare(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value a, b;
	bool truth;
	int error;

	if ((error = mla_eval(&a, m, e, n->kid[0])) < 0 ||
	    (error = mla_eval(&b, m, e, n->kid[1])) < 0)
		return error;
	m->at = n;
	if ((error = mla_compare_values(out, m, n->op, a, b)) < 0 || !is_watched(m, n))
		return error;
	if ((error = mla_truth(&truth, m, *out)) == 0)
		*out = mla_value_bool(mla_decide(m, n, truth));
	return error;
}

/* a < b < c: every link must hold, and what is behind a broken one is not evaluated. */
int mla_eval_chain(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value left, right;
	bool truth = true;
	int error = mla_eval(&left, m, e, n->kid[0]);

	for (uint32_t i = 1; error == 0 && truth && i + 1 < n->n; i += 2) {
		if ((error = mla_eval(&right, m, e, n->kid[i + 1])) < 0 ||
		    (error = mla_compare_values(out, m, n->kid[i]->op, left, right)) < 0)
			return error;
		error = mla_truth(&truth, m, *out);
		left = right;
	}
	if (error == 0 && is_watched(m, n))
		*out = mla_value_bool(mla_decide(m, n, truth));
	return error;
}

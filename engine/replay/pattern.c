/* match: literal, capture, wildcard, alternative, sequence and `as` patterns. */
#include "engine/replay/machine.h"

static int matches(bool *out, mla_machine *m, mla_environment *e, const mla_node *p, mla_value v);

static int match_sequence(bool *out, mla_machine *m, mla_environment *e, const mla_node *p,
                          mla_value v)
{
	int error = 0;

	*out = mla_value_is_sequence(v) && v.seq->n == p->n;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->kid[i]->kind == MLA_N_OTHER || p->kid[i]->kind == MLA_N_STAR)
			return mla_unsupported(m, "a pattern with *");
	for (uint32_t i = 0; i < p->n && error == 0 && *out; i++)
		error = matches(out, m, e, p->kid[i], v.seq->v[i]);
	return error;
}

static int match_value(bool *out, mla_machine *m, mla_environment *e, const mla_node *p,
                       mla_value v)
{
	mla_value literal, same;
	int error;

	if ((error = mla_eval(&literal, m, e, p)) < 0 ||
	    (error = mla_compare_values(&same, m, MLA_OP_EQ, v, literal)) < 0 ||
	    (error = mla_truth(out, m, same)) < 0)
		return error;
	*out = mla_decide(m, p, *out);
	return 0;
}

static int match_any(bool *out, mla_machine *m, mla_environment *e, const mla_node *p, mla_value v)
{
	int error = 0;

	*out = false;
	for (uint32_t i = 0; i < p->n && error == 0 && !*out; i++)
		error = matches(out, m, e, p->kid[i], v);
	if (error == 0)
		*out = mla_decide(m, p, *out);
	return error;
}

static int matches_kind(bool *out, mla_machine *m, mla_environment *e, const mla_node *p,
                        mla_value v)
{
	int error;

	switch (p->kind) {
	case MLA_N_WILDCARD:
		*out = true;
		return 0;
	case MLA_N_NAME:
		*out = true;
		return mla_name_set(m, e, p->name, v);
	case MLA_N_INT:
	case MLA_N_FLOAT:
	case MLA_N_STRING:
	case MLA_N_UNARY:
	case MLA_N_ATTRIBUTE:
		return match_value(out, m, e, p, v);
	case MLA_N_TRUE:
	case MLA_N_FALSE:
		*out = v.kind == MLA_V_BOOL && v.b == (p->kind == MLA_N_TRUE);
		return 0;
	case MLA_N_NONE:
		*out = v.kind == MLA_V_NONE;
		return 0;
	case MLA_N_TUPLE:
	case MLA_N_LIST:
		return match_sequence(out, m, e, p, v);
	case MLA_N_PATTERN_OR:
		return match_any(out, m, e, p, v);
	case MLA_N_PATTERN_AS:
		error = matches(out, m, e, p->kid[0], v);
		return error < 0 || !*out ? error : mla_name_set(m, e, p->kid[1]->name, v);
	default:
		return mla_unsupported(m, "a pattern of this form");
	}
}

static int matches(bool *out, mla_machine *m, mla_environment *e, const mla_node *p, mla_value v)
{
	int error = mla_enter(m, p);

	if (error < 0)
		return error;
	error = matches_kind(out, m, e, p, v);
	mla_leave(m);
	return error;
}

int mla_execute_match(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	mla_value v;
	int error = mla_eval(&v, m, e, n->kid[0]);

	for (uint32_t i = 1; i < n->n && error == 0; i++) {
		const mla_node *c = n->kid[i];
		bool taken;

		if ((error = matches(&taken, m, e, c->kid[0], v)) < 0)
			return error;
		if (taken && mla_kid(c, 1))
			error = mla_eval_test(&taken, m, e, c->kid[1]);
		if (error == 0 && taken)
			return mla_execute_block(flow, m, e, c->kid[2]);
	}
	return error;
}

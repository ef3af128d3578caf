/*
 * Masks: which arm needs the caller's mask to be an array. An attention call of MLX also takes the
 * string "causal" in its place, and models hand that in for more than one query.
 */
#include "analyzer/flow.h"

#include "analyzer/str.h"

void mla_flow_mask_assigned(mla_flow *f, const mla_frame *fr, const mla_node *target,
                            const mla_value *v)
{
	const uint32_t masks = MLA_TAG_MASK | MLA_TAG_SCORES;
	const mla_value *old = mla_env_get(fr->env, target->name);

	if ((mla_value_tags(v) & masks) || (old && (mla_value_tags(old) & masks)))
		mla_flow_record(f, MLA_EV_MASK, target);
}

void mla_flow_array_use(mla_flow *f, const mla_value *v, const mla_node *at)
{
	bool any = true; /* number of queries */

	if (!v->given)
		return;
	mla_flow_record(f, MLA_EV_MASK_ARRAY, at);
	for (uint32_t i = 0; i < f->guards.n; i++)
		any &= f->guards.v[i].small && f->guards.v[i].open;
	f->array_mask |= any && !f->mask_typed;
}

/* NAME where that is a mask as it was handed in */
static bool is_given(const mla_frame *fr, const mla_node *n)
{
	const mla_value *v = n && n->kind == MLA_N_NAME ? mla_env_get(fr->env, n->name) : NULL;

	return v && v->given;
}

/* isinstance(mask, ...), hasattr(mask, ...): the mask that is asked about */
static const mla_node *asked(const mla_frame *fr, const mla_node *n)
{
	static const char *const questions[] = {"isinstance", "hasattr", "type", NULL};

	if (n->kind != MLA_N_CALL || n->n < 2 || n->kid[0]->kind != MLA_N_NAME ||
	    !mla_str_in(n->kid[0]->name, questions))
		return NULL;
	return is_given(fr, n->kid[1]) ? n->kid[1] : NULL;
}

const mla_node *mla_flow_string_test(const mla_frame *fr, const mla_node *n)
{
	const mla_node *name;

	while (n->kind == MLA_N_AND && n->n == 2) /* mask is not None and isinstance(mask, str) */
		n = n->kid[1];
	if (n->kind == MLA_N_COMPARE && n->op == MLA_OP_EQ && n->n == 2)
		return n->kid[1]->kind == MLA_N_STRING && is_given(fr, n->kid[0]) ? n->kid[0]
		                                                                  : NULL;
	name = asked(fr, n);
	return name && n->n == 3 && n->kid[2]->kind == MLA_N_NAME &&
	                       mla_str_is(n->kid[2]->name, "str")
	               ? name
	               : NULL;
}

bool mla_flow_asks_kind(const mla_frame *fr, const mla_node *condition)
{
	for (const mla_node *n = condition; n; n = mla_node_next(n, condition, false))
		if (asked(fr, n) || mla_flow_string_test(fr, n))
			return true;
	return false;
}

const mla_value *mla_value_not_string(mla_flow *f, const mla_value *v)
{
	mla_value *copy;

	if (!v->given)
		return v;
	copy = mla_value_new(f, MLA_V_ANY, v->tags);
	*copy = *v;
	copy->given = false;
	return copy;
}

/* PyTorch's attention calls take their mask under this name, and no string in its place. */
static bool takes_no_string(const mla_node *call)
{
	for (uint32_t i = 1; call->kind == MLA_N_CALL && i < call->n; i++)
		if (call->kid[i] && call->kid[i]->kind == MLA_N_KEYWORD &&
		    mla_str_is(call->kid[i]->name, "attn_mask"))
			return true;
	return false;
}

const mla_node *mla_flow_needs_array(const mla_test *t)
{
	const mla_arm *few = &t->small, *many = &t->large;

	/* A wider test has met more than one query already. */
	if (t->bound != MLA_BOUND_CONSTANT || t->limit != 1 || !few->count[MLA_EV_MASK_ARRAY] ||
	    !many->count[MLA_EV_MASK] || takes_no_string(many->first[MLA_EV_MASK]))
		return NULL;
	return few->first[MLA_EV_MASK_ARRAY];
}

/* The keyword of mlx-lm's and mlx-vlm's makers of masks that rules the string out. */
static const char ARRAY_KEYWORD[] = "return_array";

static bool asks_for_array(const mla_node *call)
{
	for (uint32_t i = 1; i < call->n; i++)
		if (call->kid[i] && call->kid[i]->kind == MLA_N_KEYWORD &&
		    mla_str_is(call->kid[i]->name, ARRAY_KEYWORD))
			return mla_kid(call->kid[i], 0) && call->kid[i]->kid[0]->kind == MLA_N_TRUE;
	return false;
}

/* Can what the call makes be a string? A function that is not here is asked by its name. */
static bool may_make_string(mla_project *project, mla_module *m, const mla_node *call)
{
	mla_symbol s = mla_project_resolve_node(project, m, call->kid[0]);
	const mla_node *f = s.node;

	if (!f || f->kind != MLA_N_FUNCTION)
		return mla_str_mentions(call->kid[0]->name, "attention_mask") ||
		       mla_str_is(call->kid[0]->name, "make_mask");
	for (const mla_node *n = f; n; n = mla_node_next(n, f, false))
		if ((n->kind == MLA_N_RETURN && mla_kid(n, 0) && n->kid[0]->kind == MLA_N_STRING) ||
		    mla_str_is(n->name, ARRAY_KEYWORD))
			return true;
	return false;
}

bool mla_flow_makes_array_masks(mla_project *project, mla_module *m)
{
	const mla_node *top = m->syntax.root;
	bool made = false;

	for (const mla_node *n = top; n; n = mla_node_next(n, top, false)) {
		if (n->kind != MLA_N_CALL || !n->kid[0] ||
		    !mla_str_mentions(n->kid[0]->name, "mask"))
			continue;
		if (asks_for_array(n))
			made = true;
		else if (may_make_string(project, m, n))
			return false;
	}
	return made;
}

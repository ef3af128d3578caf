/* A token scan beside the trees: `<query count> <op> <constant>` near names of latent attention. */
#include "analyzer/c_unanalysed.h"

#include "analyzer/c_candidate.h"
#include "analyzer/c_names.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

static mla_str text_of(const mla_module *m, uint32_t token)
{
	return mla_text_slice(m->text, m->c->tokens.v[token].span);
}

/* Does a tree have a comparison there, in a function that parsed? */
static bool is_analysed(const mla_node *root, uint32_t offset)
{
	const mla_node *n, *comparison = NULL;

	if (!root)
		return false;
	for (n = mla_node_at(root, (mla_span){offset, offset + 1}); n; n = n->parent) {
		if (n->kind == MLA_N_COMPARE || n->kind == MLA_N_CALL)
			comparison = n;
		if ((n->kind == MLA_N_FUNCTION || n->kind == MLA_N_LAMBDA) && n->has_error)
			return false;
	}
	return comparison != NULL;
}

/* The outermost braces around a token that are no namespace, class or extern: the function. */
static mla_span function_around(const mla_module *m, uint32_t i)
{
	const mla_tokens *t = &m->c->tokens;
	const char *bytes = mla_text_bytes(m->text).ptr;
	mla_span s = t->v[i].span;

	for (uint32_t k = i; k-- > 0;) {
		char c = bytes[t->v[k].span.start];

		if (c == '}' && t->v[k].match < k) {
			k = t->v[k].match;
			continue;
		}
		if (c != '{')
			continue;
		if (k && bytes[t->v[k - 1].span.start] != ')' &&
		    !mla_str_is(text_of(m, k - 1), "const") &&
		    !mla_str_is(text_of(m, k - 1), "else") &&
		    !mla_str_is(text_of(m, k - 1), "override"))
			break;
		s.start = t->v[k].span.start;
		s.end = t->v[k].match > k ? t->v[t->v[k].match].span.end
		                          : mla_text_bytes(m->text).len;
	}
	return s;
}

static bool near_evidence(const mla_module *m, mla_span s)
{
	const mla_tokens *t = &m->c->tokens;

	for (uint32_t i = mla_tokens_at(t, s.start); i < t->n && t->v[i].span.start < s.end; i++)
		if (t->v[i].kind == MLA_TOKEN_NAME && mla_name_is_evidence(text_of(m, i)))
			return true;
	return false;
}

static bool loses_evidence(const mla_module *m, const mla_node *function)
{
	mla_span s = function->span;

	for (uint32_t i = 0; i < m->c->tree.lost_count; i++)
		if (m->c->tree.lost[i] >= s.start && m->c->tree.lost[i] < s.end)
			return near_evidence(m, s);
	return false;
}

/* That there is attention in an arm says nothing of what kind it is. */
static bool has_events(const mla_test *t)
{
	for (int e = 0; e < MLA_EV_COUNT; e++)
		if (e != MLA_EV_ATTEND && (t->small.count[e] || t->large.count[e]))
			return true;
	return false;
}

bool mla_c_is_lost(const mla_c_flow *f, const mla_test *t)
{
	enum { FUNCTIONS_MAX = 32 };
	const mla_node *seen[FUNCTIONS_MAX];
	const mla_module *in[FUNCTIONS_MAX];
	uint32_t n = 0;

	if (!t->function || t->bound != MLA_BOUND_CONSTANT || has_events(t))
		return false;
	seen[n] = t->function;
	in[n++] = t->module;
	for (uint32_t i = 0; i < n; i++) {
		if (loses_evidence(in[i], seen[i]))
			return true;
		for (const mla_node *x = seen[i]; x && n < FUNCTIONS_MAX;
		     x = mla_node_next(x, seen[i], false)) {
			const mla_c_entry *e = x->kind == MLA_N_CALL
			                               ? mla_c_find(f, x->c ? x->c->id : 0, x->name)
			                               : NULL;

			for (uint32_t k = 0; e && k < n; k++)
				if (seen[k] == e->node)
					e = NULL;
			if (!e)
				continue;
			seen[n] = e->node;
			in[n++] = e->module;
		}
	}
	return false;
}

void mla_unanalysed_find(const mla_unanalysed **out, uint32_t *n, mla_arena *arena,
                         mla_project *project, const mla_c_flow *f)
{
	MLA_VEC(mla_unanalysed) list = {0};
	mla_unanalysed *copy;
	uint32_t index = 0;
	mla_module *m;

	while ((m = mla_project_next(project, &index)))
		for (uint32_t i = 0; m->c && i < m->c->tokens.n; i++) {
			uint32_t at = m->c->tokens.v[i].span.start;

			if (mla_c_candidate(m->text, &m->c->tokens, i) &&
			    !is_analysed(m->c->tree.root, at) &&
			    !is_analysed(m->c->tree.retained, at) &&
			    near_evidence(m, function_around(m, i)))
				mla_vec_push(&list,
				             ((mla_unanalysed){m,
				                               {m->c->tokens.v[i - 1].span.start,
				                                m->c->tokens.v[i + 1].span.end}}));
		}
	for (uint32_t i = 0; i < f->tests.n; i++)
		if (mla_c_is_lost(f, f->tests.v[i]))
			mla_vec_push(&list, ((mla_unanalysed){f->tests.v[i]->module,
			                                      f->tests.v[i]->node->span}));
	copy = mla_arena_array(arena, list.n, sizeof(*copy));
	if (list.n)
		memcpy(copy, list.v, list.n * sizeof(*copy));
	*out = copy;
	*n = list.n;
	mla_vec_free(&list);
}

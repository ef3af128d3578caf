/* Places that belong to the decision of a finding. */
#include "cli/related.h"

static mla_related of_test(const mla_test *t)
{
	return (mla_related){t->module, t->node->span, mla_role_name(t->role)};
}

uint32_t mla_related_list(const mla_related **out, mla_arena *arena, const mla_finding *f)
{
	const mla_site *s = f->site;
	uint32_t n = 0;
	mla_related *v;

	*out = NULL;
	if (!s)
		return 0;
	*out = v = mla_arena_array(arena, s->test_count + s->length_count + 1, sizeof(*v));
	if (f->pair)
		v[n++] = of_test(f->pair);
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i] != f->test && s->test[i] != f->pair)
			v[n++] = of_test(s->test[i]);
	for (uint32_t i = 0; i < s->length_count; i++)
		v[n++] = (mla_related){s->length[i].module, s->length[i].node->span,
		                       "cached-length"};
	return n;
}

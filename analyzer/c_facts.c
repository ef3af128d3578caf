/* Entry points and roles of C sources, and the facts of each source. */
#include "analyzer/c_facts.h"

#include "analyzer/c_flow.h"
#include "analyzer/c_halves.h"
#include "analyzer/c_pool.h"
#include "analyzer/c_sites.h"
#include "analyzer/c_unanalysed.h"
#include "analyzer/str.h"

struct mla_c_facts {
	mla_arena *arena;
	mla_test *const *test;
	uint32_t test_count;
	mla_pools pools;
	const mla_unanalysed *unanalysed;
	uint32_t unanalysed_count;
	const mla_node *limited;
	mla_module *limited_module;
};

static bool overlaps_inactive(const mla_module *m, mla_span s)
{
	for (uint32_t i = 0; i < m->c->tree.inactive_count; i++)
		if (s.start < m->c->tree.inactive[i].end && m->c->tree.inactive[i].start < s.end)
			return true;
	return false;
}

/* Functions with a body; of the tree with inactive code, those that hold some. */
static void add_functions(mla_c_flow *f, mla_module *m, const mla_node *root, bool inactive)
{
	bool skip = false;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, skip)) {
		skip = n->kind == MLA_N_FUNCTION;
		if (!skip || !mla_kid(n, 1) || (inactive && !overlaps_inactive(m, n->span)))
			continue;
		mla_vec_push(&f->functions, ((mla_c_entry){.id = n->c ? n->c->id : 0,
		                                           .node = n,
		                                           .module = m,
		                                           .inactive = inactive}));
	}
}

static int by_id(const void *pa, const void *pb)
{
	const mla_c_entry *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->inactive != b->inactive)
		return a->inactive ? 1 : -1;
	if (a->module != b->module)
		return strcmp(a->module->path, b->module->path);
	return a->node->span.start < b->node->span.start ? -1 : 1;
}

/* Can a test be in it, or in what it calls? Without one nothing is learned from entering it. */
static bool is_worth_entering(const mla_node *function)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false))
		if (n->kind == MLA_N_COMPARE || n->kind == MLA_N_SWITCH || n->kind == MLA_N_CALL)
			return true;
	return false;
}

/* Callers first: what they hand over says more than the names of parameters. */
static void enter_all(mla_c_flow *f)
{
	for (int pass = 0; pass < 4; pass++)
		for (uint32_t i = 0; i < f->functions.n; i++) {
			mla_c_entry *e = &f->functions.v[i];

			if (e->entered || e->inactive != (pass >= 2) ||
			    (e->called && pass % 2 == 0) || !is_worth_entering(e->node))
				continue;
			mla_c_flow_root(f, e);
		}
}

/* Code in the second tree that the first has too says nothing new. */
static bool is_repetition(const mla_c_flow *f, const mla_test *t)
{
	for (uint32_t i = 0; i < f->functions.n; i++)
		if (f->functions.v[i].inactive && mla_node_within(t->node, f->functions.v[i].node))
			return !mla_c_is_inactive(t->module, t->node->span);
	return false;
}

static void classify(mla_test *t)
{
	const uint32_t *s = t->small.count, *l = t->large.count;
	bool decides = s[MLA_EV_FOLD] || l[MLA_EV_EXPAND] || s[MLA_EV_FOLLOWUP] ||
	               s[MLA_EV_GATHER] || l[MLA_EV_FOLD] || s[MLA_EV_EXPAND];

	mla_test_classify(t);
	if (t->role == MLA_ROLE_SELECT && s[MLA_EV_KERNEL]) {
		t->role = MLA_ROLE_NONE;
		t->kept = MLA_KEPT_KERNEL_CAPABILITY;
	} else if (t->role == MLA_ROLE_NONE && s[MLA_EV_FOLD] && !l[MLA_EV_FOLD] &&
	           !l[MLA_EV_EXPAND] && l[MLA_EV_EXPAND_NEW]) {
		t->kept = MLA_KEPT_EXPANDED_CACHE;
	} else if (t->role == MLA_ROLE_NONE && !decides && (s[MLA_EV_LAYOUT] || l[MLA_EV_LAYOUT])) {
		t->kept = MLA_KEPT_LAYOUT;
	}
}

static int by_place(const void *pa, const void *pb)
{
	const mla_test *a = *(mla_test *const *)pa, *b = *(mla_test *const *)pb;

	if (a->module != b->module)
		return strcmp(a->module->path, b->module->path);
	return a->node->span.start < b->node->span.start ? -1 : 1;
}

static bool is_listed(const mla_c_source *c, const mla_site *s)
{
	for (uint32_t i = 0; i < c->site_count; i++)
		if (c->site[i] == s)
			return true;
	return false;
}

/* Each source gets the decisions with a test in it. */
static void list_sites(mla_arena *arena, mla_test *const *test, uint32_t n)
{
	for (uint32_t i = 0, k; i < n; i = k) {
		mla_c_source *c = test[i]->module->c;
		mla_site **list;

		for (k = i; k < n && test[k]->module->c == c; k++)
			;
		list = mla_arena_array(arena, k - i, sizeof(*list));
		c->site = list;
		for (uint32_t t = i; t < k; t++)
			if (test[t]->site && !is_listed(c, test[t]->site))
				list[c->site_count++] = test[t]->site;
	}
}

/* What is asked of the cached length together with the tests of each decision. */
static void list_lengths(mla_arena *arena, const mla_c_flow *f)
{
	for (uint32_t i = 0; i < f->lengths.n; i++) {
		mla_site *s = f->lengths.v[i].test->site;
		mla_length_test *list;

		if (!s || s->length)
			continue;
		list = mla_arena_array(arena, f->lengths.n, sizeof(*list));
		s->length = list;
		for (uint32_t k = i; k < f->lengths.n; k++) {
			const mla_length_test *l = &f->lengths.v[k].length;
			bool known = f->lengths.v[k].test->site != s;

			for (uint32_t j = 0; j < s->length_count; j++)
				known |= list[j].node == l->node;
			if (!known)
				list[s->length_count++] = *l;
		}
	}
}

/* No test of the query count: of some other quantity, or of a number of rows, outputs ... */
static bool is_noise(const mla_test *t)
{
	if (t->role != MLA_ROLE_NONE)
		return false;
	return t->bound != MLA_BOUND_CONSTANT || (t->kept == MLA_KEPT_UNRELATED && t->count &&
	                                          !mla_name_counts_queries(t->count->name));
}

static uint32_t without_noise(mla_test **test, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!is_noise(test[i]))
			test[kept++] = test[i];
	return kept;
}

static void finish(mla_c_facts *out, mla_c_flow *f, const mla_c_calls *calls)
{
	mla_test **test = mla_arena_array(out->arena, f->tests.n, sizeof(*test));
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->tests.n; i++) {
		mla_test *t = f->tests.v[i];

		if (is_repetition(f, t) || mla_c_is_lost(f, t))
			continue;
		t->self = t->function ? t->function->name : mla_str_c("");
		test[n++] = t;
	}
	mla_c_join_halves(test, n);
	for (uint32_t i = 0; i < n; i++)
		classify(test[i]);
	if (n)
		qsort(test, n, sizeof(*test), by_place);
	mla_c_sites_build(out->arena, calls, test, n);
	list_lengths(out->arena, f);
	n = without_noise(test, n);
	list_sites(out->arena, test, n);
	out->test = test;
	out->test_count = n;
	out->limited = f->limited;
	out->limited_module = f->limited_module;
}

int mla_c_facts_build(mla_c_facts **out, mla_arena *arena, mla_project *project)
{
	mla_c_facts *facts = mla_arena_alloc(arena, sizeof(*facts));
	mla_c_flow f = {.arena = arena};
	mla_c_calls calls = {0};
	uint32_t index = 0;
	mla_module *m;

	facts->arena = arena;
	while ((m = mla_project_next(project, &index)))
		if (m->c) {
			add_functions(&f, m, m->c->tree.root, false);
			if (m->c->tree.retained)
				add_functions(&f, m, m->c->tree.retained, true);
		}
	if (f.functions.n)
		qsort(f.functions.v, f.functions.n, sizeof(*f.functions.v), by_id);
	mla_c_calls_build(&calls, &f);
	enter_all(&f);
	finish(facts, &f, &calls);
	mla_c_pools_find(&facts->pools, arena, &f);
	mla_unanalysed_find(&facts->unanalysed, &facts->unanalysed_count, arena, project, &f);
	mla_vec_free(&calls.edges);
	mla_vec_free(&f.functions);
	mla_vec_free(&f.globals);
	mla_vec_free(&f.tests);
	mla_vec_free(&f.guards);
	mla_vec_free(&f.lengths);
	mla_vec_free(&f.scopes);
	*out = facts;
	return 0;
}

void mla_c_facts_of(mla_facts *out, const mla_c_facts *f, const mla_settings *settings,
                    mla_module *module)
{
	mla_test **test = mla_arena_array(f->arena, f->test_count, sizeof(*test));
	uint32_t first = 0;

	*out = (mla_facts){.module = module, .test = test};
	out->site = module->c->site;
	out->site_count = module->c->site_count;
	for (uint32_t i = 0; i < out->site_count; i++)
		if (!out->site[i]->latent.rank.number.known)
			mla_latent_given(&out->site[i]->latent, settings);
	for (uint32_t i = 0; i < f->test_count; i++)
		if (f->test[i]->module == module)
			test[out->test_count++] = f->test[i];
	while (first < f->pools.n && f->pools.v[first]->module != module)
		first++;
	out->pools.v = f->pools.v + first;
	while (first + out->pools.n < f->pools.n &&
	       f->pools.v[first + out->pools.n]->module == module)
		out->pools.n++;
	if (f->limited_module == module)
		out->limited = f->limited;
}

const mla_unanalysed *mla_c_facts_unanalysed(const mla_c_facts *f, uint32_t *n)
{
	*n = f->unanalysed_count;
	return f->unanalysed;
}

/*
 * From syntax to facts: which methods to enter, what their tests decide, which tests belong to one
 * decision. Says nothing about good or bad; that is for the rules.
 */
#include "analyzer/facts.h"

#include "analyzer/flow.h"
#include "analyzer/str.h"

const char *mla_kept_name(mla_kept k)
{
	static const char *const names[MLA_KEPT_COUNT] = {
		[MLA_KEPT_UNRELATED] = "unrelated",
		[MLA_KEPT_SPARSE_GATHER] = "sparse-gather",
		[MLA_KEPT_KERNEL_CAPABILITY] = "kernel-capability",
		[MLA_KEPT_EXPANDED_CACHE] = "expanded-cache",
		[MLA_KEPT_ALREADY_WIDENED] = "already-widened",
		[MLA_KEPT_LAYOUT] = "layout",
	};

	return names[k];
}

const char *mla_role_name(mla_role r)
{
	static const char *const names[] = {
		[MLA_ROLE_NONE] = "none",         [MLA_ROLE_SELECT] = "select",
		[MLA_ROLE_FOLLOWUP] = "followup", [MLA_ROLE_MIRROR] = "mirror",
		[MLA_ROLE_DROP] = "drop",         [MLA_ROLE_GATE] = "gate",
	};

	return names[r];
}

/* One entry point that has been run, with the tests it met. */
typedef struct {
	mla_module *module;
	const mla_node *function;
	mla_class owner;
	bool abstract; /* nothing here constructs the owner: a mixin, a base without __init__ */
	mla_latent latent;
	mla_test **test;
	uint32_t test_count;
	const mla_node *cached, *cached_in;
	bool cache_updated, sparse, gathers, array_mask;
} root;

typedef struct {
	mla_arena *arena;
	mla_project *project;
	const mla_settings *settings;
	mla_module *module;
	bool all_tests;
	mla_flow flow;
	MLA_VEC(root) roots;
	MLA_VEC(mla_site *) sites;
} builder;

static bool was_entered(const builder *b, const mla_node *function)
{
	for (uint32_t i = 0; i < b->flow.entered.n; i++)
		if (b->flow.entered.v[i] == function)
			return true;
	return false;
}

/* Is there a comparison in it, or a projection that a comparison elsewhere may govern? */
static bool mentions_decision(const mla_node *function, const mla_latent *latent)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		mla_up_role role;

		if (n->kind == MLA_N_COMPARE || n->kind == MLA_N_CASE)
			return true;
		if ((n->kind == MLA_N_ATTRIBUTE || n->kind == MLA_N_NAME) &&
		    (mla_latent_up(&role, latent, n->name) || mla_up_by_name(&role, n->name)))
			return true;
	}
	return false;
}

/* Projections by name in a function, or in the class around it when a base is not here. */
static bool names_projection(const mla_node *n)
{
	const mla_node *top = n;

	for (; n; n = mla_node_next(n, top, false)) {
		mla_up_role role;

		if ((n->kind == MLA_N_ATTRIBUTE || n->kind == MLA_N_NAME) &&
		    mla_up_by_name(&role, n->name))
			return true;
	}
	return false;
}

/* Can a method of this class be about absorption at all? */
static bool may_decide(const mla_node *function, mla_class owner, const mla_flow *f,
                       const mla_latent *latent)
{
	bool open = f->lineage.open || !f->constructors.n;

	if (!mentions_decision(function, latent))
		return false;
	if (!owner.node)
		return names_projection(function);
	return latent->n != 0 || (open && names_projection(owner.node));
}

static void enter(builder *b, mla_module *module, const mla_node *function, mla_class owner,
                  bool self)
{
	mla_flow *f = &b->flow;
	root r = {.module = module, .function = function, .owner = owner};
	mla_latent *latent = mla_arena_alloc(b->arena, sizeof(*latent));

	mla_class_lineage(&f->lineage, b->project, owner);
	f->constructors.n = 0;
	if (owner.node) {
		mla_class_constructors(&f->constructors, b->project, &f->lineage);
		mla_latent_find(latent, &f->constructors);
	}
	if (!b->all_tests && !may_decide(function, owner, f, latent))
		return;
	f->latent = owner.node ? latent : NULL;
	mla_flow_root(f, module, function, self);

	r.abstract = owner.node && !f->constructors.n;
	r.latent = *latent;
	r.cached = f->cached;
	r.cached_in = f->cached_in;
	r.cache_updated = f->cache_updated;
	r.sparse = f->sparse;
	r.gathers = f->gathers;
	r.array_mask = f->array_mask;
	r.test_count = f->touched.n;
	r.test = mla_arena_array(b->arena, f->touched.n, sizeof(*r.test));
	for (uint32_t i = 0; i < f->touched.n; i++)
		r.test[i] = f->touched.v[i];
	/* Without a cache in sight, the step's rows are all rows there are. */
	for (uint32_t i = 0; i < r.test_count && !r.cache_updated; i++)
		for (int large = 0; large < 2; large++) {
			mla_arm *arm = large ? &r.test[i]->large : &r.test[i]->small;

			if (!arm->count[MLA_EV_EXPAND] && arm->count[MLA_EV_EXPAND_NEW]) {
				arm->count[MLA_EV_EXPAND] = arm->count[MLA_EV_EXPAND_NEW];
				arm->first[MLA_EV_EXPAND] = arm->first[MLA_EV_EXPAND_NEW];
			}
		}
	mla_vec_push(&b->roots, r);
}

/* Is it the function, or a call that it is handed to: mx.compile(function)? */
static bool holds_function(const mla_node *value, const mla_node *function)
{
	if (value->kind == MLA_N_CALL && mla_kid(value, 1))
		value = value->kid[1];
	return value->kind == MLA_N_NAME && mla_str_eq(value->name, function->name);
}

/* The class of `Class.__call__ = function` and setattr(Class, "__call__", function), or NULL. */
static const mla_node *installs(const mla_node *n, const mla_node *function)
{
	if (n->kind == MLA_N_ASSIGN && n->kid[0]->kind == MLA_N_ATTRIBUTE)
		return holds_function(n->kid[n->n - 1], function) ? n->kid[0]->kid[0] : NULL;
	if (n->kind == MLA_N_CALL && n->n == 4 && n->kid[0]->kind == MLA_N_NAME &&
	    mla_str_is(n->kid[0]->name, "setattr") && n->kid[2]->kind == MLA_N_STRING)
		return holds_function(n->kid[3], function) ? n->kid[1] : NULL;
	return NULL;
}

/* The class that the function is installed on, somewhere in the module. */
static mla_class installed_on(const builder *b, const mla_node *function)
{
	for (const mla_node *n = b->module->syntax.root; n;
	     n = mla_node_next(n, b->module->syntax.root, false)) {
		const mla_node *class = installs(n, function);
		mla_symbol s;

		if (!class)
			continue;
		s = mla_project_resolve_node(b->project, b->module, class);
		if (s.node && s.node->kind == MLA_N_CLASS)
			return (mla_class){s.module, s.node};
	}
	return (mla_class){0};
}

static bool is_entry_name(mla_str name)
{
	static const char *const names[] = {"__call__", "forward", NULL};

	return mla_str_in(name, names);
}

/* Methods called from outside first; then whatever they did not reach. */
static void enter_class(builder *b, const mla_node *class)
{
	mla_class c = {b->module, class};
	const mla_node *body = mla_kid(class, 1);

	for (int pass = 0; pass < 2; pass++) {
		bool skip = false;

		for (const mla_node *n = body; n; n = mla_node_next(n, body, skip)) {
			skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
			if (n->kind != MLA_N_FUNCTION || mla_str_is(n->name, "__init__") ||
			    is_entry_name(n->name) == (pass == 1) ||
			    (pass == 1 && was_entered(b, n)))
				continue;
			enter(b, b->module, n, c,
			      !mla_method_is(n, "staticmethod") &&
			              !mla_method_is(n, "classmethod"));
		}
	}
}

/* A class that overrides helpers of an inherited entry point runs them through it. */
static void enter_inherited(builder *b, const mla_node *class)
{
	static const char *const names[] = {"__call__", "forward"};
	mla_class c = {b->module, class};
	mla_lineage lineage;

	mla_class_lineage(&lineage, b->project, c);
	for (size_t i = 0; i < 2 && lineage.n > 1; i++) {
		mla_method m = mla_lineage_method(&lineage, mla_str_c(names[i]));

		if (m.node && m.owner.node != class)
			enter(b, m.owner.module, m.node, c, true);
	}
}

static void enter_all(builder *b)
{
	const mla_node *top = b->module->syntax.root;
	bool skip = false;

	for (const mla_node *n = top; n; n = mla_node_next(n, top, skip)) {
		skip = n->kind == MLA_N_FUNCTION;
		if (n->kind == MLA_N_CLASS && mla_kid(n, 1)) {
			enter_inherited(b, n);
			enter_class(b, n);
		}
	}
	skip = false;
	for (const mla_node *n = top; n; n = mla_node_next(n, top, skip)) {
		mla_class owner;
		bool self;

		skip = n->kind == MLA_N_CLASS;
		if (n->kind != MLA_N_FUNCTION || was_entered(b, n))
			continue;
		owner = installed_on(b, n);
		/* What a function makes and does not call is called by others once it is theirs. */
		if (!owner.node && mla_node_function(n->parent))
			continue;
		self = owner.node || mla_str_is(mla_method_self(n), "self");
		enter(b, b->module, n, owner, self);
	}
}

/* Is there a function of its own for a single query? */
static bool attends_differently(const mla_test *t)
{
	const mla_node *a = t->small.first[MLA_EV_ATTEND], *b = t->large.first[MLA_EV_ATTEND];

	return t->bound == MLA_BOUND_CONSTANT && t->limit == 1 && a && b && a->kind == MLA_N_CALL &&
	       b->kind == MLA_N_CALL && a->kid[0]->name.len &&
	       !mla_str_eq(a->kid[0]->name, b->kid[0]->name);
}

/* What the test decides, from what is done on either side of it. */
void mla_test_classify(mla_test *t)
{
	const uint32_t *s = t->small.count, *l = t->large.count;
	bool chooses = s[MLA_EV_FOLD] && l[MLA_EV_EXPAND] && !l[MLA_EV_FOLD] && !s[MLA_EV_EXPAND];
	/* While the cache of expanded keys fits, only the new rows are expanded. */
	bool caches = l[MLA_EV_CACHE_EXPANDED] && l[MLA_EV_EXPAND_NEW];
	bool selects = chooses && !caches;

	t->role = MLA_ROLE_NONE;
	t->kept = MLA_KEPT_UNRELATED;
	/* Of an arm that gathers its rows the cost does not grow with the cache: that comes first. */
	if (s[MLA_EV_GATHER] && !l[MLA_EV_GATHER] && !selects)
		t->kept = MLA_KEPT_SPARSE_GATHER;
	else if (chooses && caches)
		t->kept = MLA_KEPT_EXPANDED_CACHE;
	else if (selects)
		t->role = MLA_ROLE_SELECT;
	else if (s[MLA_EV_FOLD] && (l[MLA_EV_FOLD] || s[MLA_EV_KERNEL]))
		t->kept = MLA_KEPT_KERNEL_CAPABILITY;
	else if (s[MLA_EV_FOLD] && !l[MLA_EV_EXPAND] &&
	         (l[MLA_EV_ATTEND] || l[MLA_EV_CACHE_EXPANDED]))
		t->kept = MLA_KEPT_EXPANDED_CACHE;
	else if (s[MLA_EV_FOLLOWUP] && !l[MLA_EV_FOLLOWUP])
		t->role = MLA_ROLE_FOLLOWUP;
	else if ((s[MLA_EV_KERNEL] && !l[MLA_EV_KERNEL]) || attends_differently(t))
		t->kept = MLA_KEPT_KERNEL_CAPABILITY;
	if (t->role != MLA_ROLE_NONE)
		t->kept = MLA_KEPT_ALREADY_WIDENED;
}

bool mla_test_is_widened(const mla_test *t)
{
	while (t->wider)
		t = t->wider;
	return t->bound != MLA_BOUND_CONSTANT && t->bound != MLA_BOUND_QUANTITY;
}

static mla_str symbol_of(builder *b, const root *r)
{
	const mla_node *class = mla_node_class(r->function);

	if (class)
		return mla_arena_format(b->arena, "%.*s.%.*s", MLA_ARG(class->name),
		                        MLA_ARG(r->function->name));
	return r->function->name;
}

static void measure(builder *b, mla_site *s)
{
	mla_constructors constructors;
	mla_lineage lineage;

	mla_class_lineage(&lineage, b->project, s->owner);
	mla_class_constructors(&constructors, b->project, &lineage);
	mla_latent_measure(&s->latent, b->project, b->settings, &lineage, &constructors);
}

static void refuse(mla_site *s, mla_refusal why, const mla_test *t, const mla_node *at)
{
	if (s->refusal)
		return;
	s->refusal = why;
	s->refusal_at = at;
	s->refusal_module = t->module;
}

/* The mask may be handled before or after the decision, but in it both arms must do the same. */
static bool masks_differ(const mla_test *t)
{
	return (t->small.count[MLA_EV_MASK] != 0) != (t->large.count[MLA_EV_MASK] != 0);
}

/* Is the mask certain to be an array for more than one query, too? */
static bool is_array_mask(const builder *b, const root *r)
{
	for (uint32_t i = 0; i < r->test_count; i++)
		if (r->test[i]->large.count[MLA_EV_MASK_ARRAY])
			return true;
	return r->array_mask || mla_flow_makes_array_masks(b->project, r->module);
}

static void refuse_string_mask(mla_site *s, const builder *b, const root *r)
{
	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_node *at = mla_flow_needs_array(s->test[i]);

		if (at && !is_array_mask(b, r))
			refuse(s, MLA_REFUSE_MASK_TEXT, s->test[i], at);
	}
}

/* Is the count's variable assigned between the two tests? Then they may test different numbers. */
static const mla_node *bound_again(const mla_test *a, const mla_test *b)
{
	if (a->function != b->function || !a->count || !b->count || a->count->kind != MLA_N_NAME ||
	    b->count->kind != MLA_N_NAME || !mla_str_eq(a->count->name, b->count->name))
		return NULL;
	return mla_node_assigned(mla_kid(a->function, 1), b->count->name,
	                         (mla_span){a->node->span.end, b->node->span.start});
}

/* In a function of its own, outside any class and not the one that was entered? */
static bool is_shared(const mla_site *s, const mla_test *t)
{
	if (mla_node_class(t->node) || mla_node_within(t->node, s->function))
		return false;
	return true;
}

static void find_refusal(mla_site *s)
{
	bool followed = false, selects = false;

	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_test *t = s->test[i];
		const mla_arm *a = &t->small;

		followed |= a->count[MLA_EV_FOLLOWUP] != 0;
		selects |= t->role == MLA_ROLE_SELECT;
		if (a->count[MLA_EV_GATHER])
			refuse(s, MLA_REFUSE_GATHER_AND_ABSORB, t, a->first[MLA_EV_GATHER]);
		if (a->count[MLA_EV_ONE_ROW])
			refuse(s, MLA_REFUSE_ONE_ROW, t, a->first[MLA_EV_ONE_ROW]);
		if (t->role == MLA_ROLE_SELECT && masks_differ(t))
			refuse(s, MLA_REFUSE_MASK, t,
			       t->large.count[MLA_EV_MASK] ? t->large.first[MLA_EV_MASK]
			                                   : a->first[MLA_EV_MASK]);
		if (i && bound_again(s->test[i - 1], t))
			refuse(s, MLA_REFUSE_BOUND_AGAIN, t, bound_again(s->test[i - 1], t));
		if (!t->count)
			refuse(s, MLA_REFUSE_PATTERN, t, t->node);
		if (t->function->has_error)
			refuse(s, MLA_REFUSE_SYNTAX, t, t->function);
		if (t->other_use)
			refuse(s, MLA_REFUSE_OTHER_USE, t, t->other_use);
		if (!t->self.len)
			refuse(s, MLA_REFUSE_NO_LAYER, t, t->node);
		if (is_shared(s, t))
			refuse(s, MLA_REFUSE_SHARED, t, t->node);
	}
	if (s->latent.several)
		refuse(s, MLA_REFUSE_LATENTS, s->test[0], s->latent.maker);
	if (selects && !followed)
		refuse(s, MLA_REFUSE_NO_FOLLOWUP, s->test[0], s->test[0]->node);
	if (!(s->latent.rank.attribute.len || s->latent.rank.expr) ||
	    !(s->latent.nope.attribute.len || s->latent.nope.expr) ||
	    !(s->latent.value.attribute.len || s->latent.value.expr))
		refuse(s, MLA_REFUSE_NO_SIZES, s->test[0], s->test[0]->node);
}

/* Another class that runs the same tests: what they compare with must exist there too. */
void mla_site_add_heir(mla_site *s, mla_class c)
{
	if (!c.node || c.node == s->owner.node)
		return;
	for (uint32_t i = 0; i < s->heir_count; i++)
		if (s->heir[i].node == c.node)
			return;
	if (s->heir_count < MLA_HEIRS_MAX)
		s->heir[s->heir_count++] = c;
	else
		refuse(s, MLA_REFUSE_LIMIT, s->test[0], s->test[0]->node);
}

/* Folds the query for few of them; the keys are another test's. */
static bool is_fold_half(const mla_test *t)
{
	const uint32_t *s = t->small.count, *l = t->large.count;

	return s[MLA_EV_FOLD] && !l[MLA_EV_FOLD] && !s[MLA_EV_EXPAND] && !l[MLA_EV_EXPAND] &&
	       !s[MLA_EV_KERNEL] && !s[MLA_EV_GATHER] && !l[MLA_EV_ATTEND];
}

/* Expands the latent for many; the query is another test's. */
static bool is_expand_half(const mla_test *t)
{
	const uint32_t *s = t->small.count, *l = t->large.count;

	return l[MLA_EV_EXPAND] && !s[MLA_EV_EXPAND] && !s[MLA_EV_FOLD] && !l[MLA_EV_FOLD] &&
	       !s[MLA_EV_KERNEL] && !s[MLA_EV_GATHER] && !s[MLA_EV_ATTEND];
}

/* `q = fold(q) if L == 1 else q` and `k = c if L == 1 else expand(c)` choose together. */
static void join_halves(const root *r)
{
	bool fold = false, expand = false;

	for (uint32_t i = 0; i < r->test_count; i++) {
		if (r->test[i]->role == MLA_ROLE_SELECT)
			return;
		fold |= is_fold_half(r->test[i]);
		expand |= is_expand_half(r->test[i]);
	}
	for (uint32_t i = 0; i < r->test_count && fold && expand; i++)
		if (is_fold_half(r->test[i]) || is_expand_half(r->test[i])) {
			r->test[i]->role = MLA_ROLE_SELECT;
			r->test[i]->kept = MLA_KEPT_ALREADY_WIDENED;
		}
}

/* A limit of its own, which no fix touches: listed with the decision. */
static void list_lengths(mla_arena *arena, mla_site *s)
{
	mla_length_test *list = mla_arena_array(arena, s->test_count, sizeof(*list));

	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i]->short_cache)
			list[s->length_count++] =
				(mla_length_test){s->test[i]->module, s->test[i]->short_cache};
	s->length = list;
}

/* The tests of one entry point that select or follow up are one decision. */
static void make_site(builder *b, const root *r)
{
	mla_site *s = NULL;
	bool selects = false;

	join_halves(r);
	for (uint32_t i = 0; i < r->test_count; i++)
		selects |= r->test[i]->role == MLA_ROLE_SELECT;
	if (!selects)
		return;
	for (uint32_t i = 0; i < r->test_count; i++) {
		mla_test *t = r->test[i];

		if (t->role == MLA_ROLE_NONE)
			continue;
		if (t->site && t->site != s) { /* an earlier entry point has it */
			if (!r->abstract)
				mla_site_add_heir(t->site, r->owner);
			continue;
		}
		if (!s) {
			s = mla_arena_alloc(b->arena, sizeof(*s));
			s->test = mla_arena_array(b->arena, r->test_count, sizeof(*s->test));
		}
		s->test[s->test_count++] = t;
		t->site = s;
	}
	if (!s)
		return;
	s->module = r->module;
	s->function = r->function;
	s->owner = r->owner;
	s->symbol = symbol_of(b, r);
	s->latent = r->latent;
	measure(b, s);
	s->cached = r->cached;
	s->cached_in = r->cached_in;
	s->sparse = r->sparse;
	s->gathers = r->gathers;
	list_lengths(b->arena, s);
	find_refusal(s);
	refuse_string_mask(s, b, r);
	if (s->refusal && mla_project_owner(b->project, s->refusal_at))
		s->refusal_module = mla_project_owner(b->project, s->refusal_at);
	mla_vec_push(&b->sites, s);
}

static int by_position(const void *pa, const void *pb)
{
	const mla_test *a = *(mla_test *const *)pa, *b = *(mla_test *const *)pb;

	return a->node->span.start < b->node->span.start   ? -1
	       : a->node->span.start > b->node->span.start ? 1
	                                                   : 0;
}

static bool touches(const mla_site *s, const mla_module *m)
{
	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i]->module == m)
			return true;
	return false;
}

static void finish(mla_facts *out, builder *b)
{
	mla_test **tests = mla_arena_array(b->arena, b->flow.tests.n, sizeof(*tests));
	mla_site **sites = mla_arena_array(b->arena, b->sites.n, sizeof(*sites));
	mla_heir *heirs = mla_arena_array(b->arena, b->sites.n, sizeof(*heirs));

	/* Some of the tests may not have been seen: no decision is known as a whole. */
	for (uint32_t i = 0; i < b->sites.n && b->flow.limited; i++)
		refuse(b->sites.v[i], MLA_REFUSE_LIMIT, b->sites.v[i]->test[0],
		       b->sites.v[i]->test[0]->node);
	*out = (mla_facts){.module = b->module, .limited = b->flow.limited};
	for (uint32_t i = 0; i < b->flow.tests.n; i++) {
		mla_test *t = b->flow.tests.v[i];

		if (t->role == MLA_ROLE_FOLLOWUP && !t->site)
			t->role = MLA_ROLE_NONE;
		if (t->module == b->module)
			tests[out->test_count++] = t;
	}
	for (uint32_t i = 0; i < b->sites.n; i++) {
		mla_site *s = b->sites.v[i];

		if (touches(s, b->module))
			sites[out->site_count++] = s;
		else if (s->owner.node)
			heirs[out->heir_count++] = (mla_heir){s->function, s->owner};
	}
	out->heir = heirs;
	if (out->test_count)
		qsort(tests, out->test_count, sizeof(*tests), by_position);
	mla_weights_dropped(&out->dropped, b->arena, b->module);
	out->test = tests;
	out->site = sites;
}

int mla_facts_build(mla_facts *out, mla_arena *arena, mla_project *project,
                    const mla_settings *settings, mla_module *module, bool all_tests)
{
	builder b = {.arena = arena,
	             .project = project,
	             .settings = settings,
	             .module = module,
	             .all_tests = all_tests};

	b.flow.arena = arena;
	b.flow.project = project;
	enter_all(&b);
	for (uint32_t i = 0; i < b.flow.tests.n; i++)
		mla_test_classify(b.flow.tests.v[i]);
	/* A decision belongs to a class that knows its sizes, where one runs it. */
	for (int abstract = 0; abstract < 2; abstract++)
		for (uint32_t i = 0; i < b.roots.n; i++)
			if (b.roots.v[i].abstract == (abstract == 1))
				make_site(&b, &b.roots.v[i]);
	finish(out, &b);
	mla_pools_find(&out->pools, arena, project, module);
	mla_vec_free(&b.flow.tests);
	mla_vec_free(&b.flow.entered);
	mla_vec_free(&b.flow.guards);
	mla_vec_free(&b.flow.touched);
	mla_vec_free(&b.roots);
	mla_vec_free(&b.sites);
	return 0;
}

/* Functions that remember a length, start again at its window, and pool keys. */
#include "analyzer/c_pool.h"

#include "analyzer/str.h"

const mla_node *mla_c_bare(const mla_node *n)
{
	while (n && (n->kind == MLA_N_CAST || (n->kind == MLA_N_UNARY && n->op == MLA_OP_DEREF)))
		n = mla_kid(n, 0);
	return n;
}

uint64_t mla_c_id_of(const mla_node *n)
{
	n = mla_c_bare(n);
	return n && (n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE) && n->c ? n->c->id : 0;
}

static bool is_constant(const mla_node *n)
{
	n = mla_c_bare(n);
	return n && n->c && n->c->value_known;
}

static bool is_written(const mla_node *function, uint64_t id)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false))
		if ((n->kind == MLA_N_ASSIGN || n->kind == MLA_N_AUG_ASSIGN ||
		     (n->kind == MLA_N_UNARY && n->op == MLA_OP_INCREMENT)) &&
		    mla_c_id_of(mla_kid(n, 0)) == id)
			return true;
	return false;
}

/* `const int seen = memo->length;` */
static void find_aliases(mla_c_resume *r)
{
	enum { MOST = sizeof(r->alias) / sizeof(*r->alias) };
	const mla_node *root = r->entry->node;

	r->alias_count = 0;
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_DECLARE && n->c && n->c->id && r->alias_count < MOST &&
		    mla_c_id_of(mla_kid(n, 0)) == r->recorded && !is_written(root, n->c->id))
			r->alias[r->alias_count++] = n->c->id;
}

bool mla_c_is_recorded(const mla_c_resume *r, const mla_node *n)
{
	uint64_t id = mla_c_id_of(n);

	for (uint32_t i = 0; id && i < r->alias_count; i++)
		if (id == r->alias[i])
			return true;
	return id && id == r->recorded;
}

/* `length / window`, `length >> 3`, `length - length % window`, `length & ~7`: the length. */
static const mla_node *starts_at_window(const mla_node *n)
{
	const mla_node *a = mla_c_bare(mla_kid(n, 0)), *b = mla_c_bare(mla_kid(n, 1));

	if (n->kind != MLA_N_BINARY || !b || !mla_c_id_of(a) || is_constant(a))
		return NULL;
	if (n->op == MLA_OP_SUB && b->kind == MLA_N_BINARY && b->op == MLA_OP_MOD)
		return mla_c_id_of(mla_kid(b, 0)) == mla_c_id_of(a) ? a : NULL;
	return n->op == MLA_OP_DIV || n->op == MLA_OP_SHR || n->op == MLA_OP_BITAND ? a : NULL;
}

/* What a local starts with, as long as nothing else is written to it. */
static const mla_node *initial_value(const mla_node *function, uint64_t local)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false))
		if (n->kind == MLA_N_DECLARE && n->c && n->c->id == local)
			return is_written(function, local) ? NULL : mla_kid(n, 0);
	return NULL;
}

/* Where a new length is stored for the next call: in a member, a global, or through a pointer. */
static const mla_node *store_of(const mla_node *function, uint64_t recorded)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		const mla_node *to = n->kind == MLA_N_ASSIGN ? mla_kid(n, 0) : NULL;
		mla_decl d = mla_decl_of(mla_c_bare(to));

		if (to && mla_c_id_of(to) == recorded && !is_constant(mla_kid(n, 1)) &&
		    (d == MLA_DECL_FIELD || d == MLA_DECL_GLOBAL ||
		     (d == MLA_DECL_PARAMETER && mla_c_bare(to) != to)))
			return n;
	}
	return NULL;
}

/* `+=`, or the larger of two */
static bool gathers_up(const mla_node *n)
{
	const mla_node *value = mla_c_bare(mla_kid(n, 1));

	if (!mla_kid(n, 0) || n->kid[0]->kind != MLA_N_SUBSCRIPT || !value)
		return false;
	if (n->kind == MLA_N_AUG_ASSIGN)
		return n->op == MLA_OP_ADD;
	return n->kind == MLA_N_ASSIGN &&
	       (value->kind == MLA_N_CONDITION ||
	        (value->kind == MLA_N_CALL && mla_str_mentions(value->name, "max")));
}

/* Sums over the rows of a window: elements two loops deep, and a window's first row. */
static bool sums_windows(const mla_node *root)
{
	bool sums = false, rows = false;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		uint32_t loops = 0;

		rows |= n->kind == MLA_N_BINARY && n->op == MLA_OP_MUL;
		if (!gathers_up(n))
			continue;
		for (const mla_node *p = n; p != root; p = p->parent)
			loops += p->parent->kind == MLA_N_LOOP || p->parent->kind == MLA_N_WHILE;
		sums |= loops >= 2;
	}
	return sums && rows;
}

/* The variable that the start is put into, if it is; 0: none. */
static uint64_t variable_of(const mla_c_resume *r)
{
	const mla_node *n = r->start;

	while (n != r->entry->node && n->kind != MLA_N_DECLARE && n->kind != MLA_N_ASSIGN &&
	       n->kind != MLA_N_BLOCK && n->kind != MLA_N_CALL)
		n = n->parent;
	if (n->kind == MLA_N_DECLARE)
		return n->c ? n->c->id : 0;
	return n->kind == MLA_N_ASSIGN ? mla_c_id_of(mla_kid(n, 0)) : 0;
}

static bool takes_start(const mla_c_resume *r, const mla_node *value, uint64_t variable)
{
	for (const mla_node *n = value; n; n = mla_node_next(n, value, false))
		if (n == r->start ||
		    (variable && n->kind == MLA_N_NAME && mla_c_id_of(n) == variable))
			return true;
	return false;
}

/* Does what gets the start pool keys: a function by its name or what it does, or a loop? */
static bool pools_keys(const mla_c_resume *r)
{
	const mla_node *root = r->entry->node;
	uint64_t variable = variable_of(r);

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		mla_c_entry *callee;

		if ((n->kind == MLA_N_LOOP || n->kind == MLA_N_WHILE) &&
		    (takes_start(r, mla_kid(n, 0), variable) ||
		     takes_start(r, mla_kid(n, 1), variable)) &&
		    sums_windows(n))
			return true;
		for (uint32_t i = 1; n->kind == MLA_N_CALL && i < n->n; i++) {
			if (!takes_start(r, mla_kid(n, i), variable))
				continue;
			callee = mla_c_find(r->flow, n->c ? n->c->id : 0, n->name);
			if (mla_str_mentions(n->name, "pool") ||
			    (callee && sums_windows(callee->node)))
				return true;
		}
	}
	return false;
}

/* Does a function that shortens the cache set the length too? What is kept is not stale then. */
static bool is_cut_with_cache(const mla_c_flow *f, uint64_t recorded)
{
	static const char *const cuts[] = {"trim",   "truncate", "rollback", "rewind",  "pop",
	                                   "shrink", "remove",   "rm",       "cut",     "discard",
	                                   "drop",   "undo",     "restore",  "shorten", NULL};

	for (uint32_t i = 0; i < f->functions.n; i++) {
		const mla_node *root = f->functions.v[i].node;
		mla_name_words w;

		mla_name_split(&w, root->name);
		if (!mla_name_has_any(&w, cuts))
			continue;
		for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
			if (n->kind == MLA_N_ASSIGN && mla_c_id_of(mla_kid(n, 0)) == recorded)
				return true;
	}
	return false;
}

static mla_pool *pool_of(const mla_c_resume *r)
{
	mla_pool *p = mla_arena_alloc(r->arena, sizeof(*p));

	p->module = r->entry->module;
	p->function = p->entry = r->entry->node;
	p->symbol = r->entry->node->name;
	p->selects = true;
	if (!mla_c_pool_gate(p, r))
		return NULL;
	if (!p->single && (p->length || is_cut_with_cache(r->flow, r->recorded)))
		return NULL;
	/* Said as known where a trim sees to it. */
	if (!p->length && is_cut_with_cache(r->flow, r->recorded))
		p->length = p->single;
	return p;
}

typedef MLA_VEC(mla_pool *) pool_list;

static bool is_known(const pool_list *list, const mla_pool *p)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->v[i]->gate == p->gate)
			return true;
	return false;
}

/* Is what starts again at a window a length that is remembered from call to call? */
static bool remembers(mla_c_resume *r)
{
	uint64_t id = mla_c_id_of(r->length);

	if (mla_decl_of(mla_c_bare(r->length)) == MLA_DECL_LOCAL)
		id = mla_c_id_of(initial_value(r->entry->node, id));
	r->recorded = id;
	r->store = id ? store_of(r->entry->node, id) : NULL;
	if (!r->store || !pools_keys(r))
		return false;
	find_aliases(r);
	return true;
}

static void find_in_function(pool_list *list, mla_arena *arena, mla_c_flow *f, const mla_c_entry *e)
{
	enum { STARTS_MAX = 16, TRIES_MAX = 256 };
	mla_c_resume r = {.arena = arena, .flow = f, .entry = e};
	uint32_t starts = 0, tries = 0;

	for (const mla_node *n = e->node; n && starts < STARTS_MAX && tries < TRIES_MAX;
	     n = mla_node_next(n, e->node, false)) {
		mla_pool *p;

		r.length = starts_at_window(n);
		r.start = n;
		tries += r.length != NULL;
		if (!r.length || !remembers(&r))
			continue;
		starts++;
		p = pool_of(&r);
		if (p && !is_known(list, p))
			mla_vec_push(list, p);
	}
}

static int by_place(const void *pa, const void *pb)
{
	const mla_pool *a = *(mla_pool *const *)pa, *b = *(mla_pool *const *)pb;

	if (a->module != b->module)
		return strcmp(a->module->path, b->module->path);
	return a->gate->span.start < b->gate->span.start ? -1 : 1;
}

void mla_c_pools_find(mla_pools *out, mla_arena *arena, mla_c_flow *f)
{
	pool_list list = {0};
	mla_pool **copy;

	for (uint32_t i = 0; i < f->functions.n; i++)
		if (!f->functions.v[i].inactive)
			find_in_function(&list, arena, f, &f->functions.v[i]);
	copy = mla_arena_array(arena, list.n, sizeof(*copy));
	if (list.n) {
		memcpy(copy, list.v, list.n * sizeof(*copy));
		qsort(copy, list.n, sizeof(*copy), by_place);
	}
	*out = (mla_pools){copy, list.n};
	mla_vec_free(&list);
}

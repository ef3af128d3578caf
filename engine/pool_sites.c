/* Sequences of calls on one cache, and what they have to leave. */
#include "engine/pool_sites.h"

#include "analyzer/str.h"
#include "engine/compare.h"
#include "engine/replay/replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define POOL_WORK ((uint64_t)1 << 36)
/* Of pooled keys, f32: the order of a sum may differ between a suffix and the whole. */
#define POOL_ULPS 8.0
/* Of what is made of them: a score sums a few dozen products. */
#define RESULT_TOLERANCE 1e-5

/* One side: a machine with the layer, and the cache of its calls. */
typedef struct {
	mla_machine *m;
	mla_layer_object *layer;
	mla_session *session;
	mla_tensor_scope scope;
} side;

typedef struct {
	mla_pool_verdict *out;
	const mla_pool *pool;
	mla_project *before, *after;
	mla_replay_target target_before, target_after;
	const mla_site_options *options;
	uint64_t seed;
	side patched, scratch;
	uint64_t tokens; /* of the last call: no two have the same */
	uint32_t batch, trimmed;
	bool batches;   /* the program takes a change of the batch before the fix */
	bool one_only;  /* the test for one new token is still there after the fix */
	bool settled;   /* the verdict is out */
	bool reached;   /* the incremental path ran for several tokens */
	bool returned;  /* some call gave a result */
	bool selection; /* a selection differed: try other tokens */
} trial;

static bool say(trial *t, mla_outcome o, const char *fmt, ...) MLA_PRINTF(3, 4);

static bool say(trial *t, mla_outcome o, const char *fmt, ...)
{
	va_list ap;

	if (!t->settled) {
		va_start(ap, fmt);
		vsnprintf(t->out->reason, sizeof(t->out->reason), fmt, ap);
		va_end(ap);
		t->out->outcome = o;
		t->settled = true;
	}
	return false;
}

static bool say_fault(trial *t, mla_outcome o, const side *s, const char *what)
{
	const mla_fault *f = mla_machine_fault(s->m);
	bool elsewhere = f->module && strcmp(f->module->path, t->pool->module->path) != 0;
	char place[160] = "";

	if (f->line)
		snprintf(place, sizeof(place), " at line %u%s%s", f->line, elsewhere ? " of " : "",
		         elsewhere ? f->module->path : "");
	if (f->kind == MLA_FAULT_RAISED)
		return say(t, o, "%s: %.*s: %.*s%s", what, MLA_ARG(f->type), MLA_ARG(f->message),
		           place);
	return say(t, MLA_UNVERIFIED, "%.*s%s", MLA_ARG(f->message), place);
}

static const mla_node *find_function(const mla_node *body, mla_str name)
{
	for (uint32_t i = body ? body->n : 0; i > 0; i--)
		if (body->kid[i - 1]->kind == MLA_N_FUNCTION &&
		    mla_str_eq(body->kid[i - 1]->name, name))
			return body->kid[i - 1];
	return NULL;
}

/* The class and its method in a project. */
static bool find_target(mla_replay_target *to, mla_project *project, const mla_pool *p)
{
	const mla_node *class = p->entry->parent ? p->entry->parent->parent : NULL;
	const mla_binding *b;

	*to = (mla_replay_target){.module = mla_project_module(project, p->module->path)};
	if (!to->module || !class || class->kind != MLA_N_CLASS)
		return false;
	b = mla_module_binding(to->module, class->name);
	if (!b || b->node->kind != MLA_N_CLASS)
		return false;
	to->owner = (mla_class){to->module, b->node};
	to->function = find_function(mla_kid(b->node, 1), p->entry->name);
	return to->function != NULL;
}

static bool open_side(side *s, trial *t, bool after)
{
	mla_replay_options o = {
		.project = after ? t->after : t->before,
		.settings = t->options->settings,
		.mode = MLA_REPLAY_F32,
		.topk = 4,
		.seed = t->seed,
		.max_work = POOL_WORK,
	};

	*s = (side){.m = mla_machine_new(&o)};
	s->scope = mla_tensor_scope_open(mla_machine_engine(s->m));
	if (mla_replay_construct(&s->layer, s->m, after ? &t->target_after : &t->target_before) < 0)
		return say_fault(t, after ? MLA_REJECTED : MLA_UNVERIFIED, s, "constructor");
	s->scope = mla_tensor_scope_open(mla_machine_engine(s->m));
	s->session = mla_session_new(s->m);
	return true;
}

static void close_side(side *s)
{
	if (s->m)
		mla_machine_scope_close(s->m, s->scope);
	mla_machine_free(s->m);
	s->m = NULL;
}

/* Both caches as they are at the start: empty. */
static void start(trial *t)
{
	side *both[] = {&t->patched, &t->scratch};

	for (int i = 0; i < 2; i++) {
		mla_machine_scope_close(both[i]->m, both[i]->scope);
		both[i]->scope = mla_tensor_scope_open(mla_machine_engine(both[i]->m));
		both[i]->session = mla_session_new(both[i]->m);
	}
	t->batch = 2;
	t->trimmed = 0;
}

static bool trim(trial *t, uint32_t n)
{
	t->trimmed += n;
	if (mla_session_trim(t->patched.session, t->patched.m, n) < 0)
		return say_fault(t, MLA_UNVERIFIED, &t->patched, "a trim");
	if (mla_session_trim(t->scratch.session, t->scratch.m, n) < 0)
		return say_fault(t, MLA_UNVERIFIED, &t->scratch, "a trim");
	return true;
}

static bool one_sequence(trial *t)
{
	t->batch = 1;
	if (mla_session_select(t->patched.session, t->patched.m, 1) < 0)
		return say_fault(t, MLA_UNVERIFIED, &t->patched, "a smaller batch");
	if (mla_session_select(t->scratch.session, t->scratch.m, 1) < 0)
		return say_fault(t, MLA_UNVERIFIED, &t->scratch, "a smaller batch");
	return true;
}

static const char *case_text(char to[128], const mla_pool_case *c)
{
	int at = snprintf(to, 128, "%u new token%s at %u cached", c->width,
	                  c->width == 1 ? "" : "s", c->cached);

	if (c->trimmed)
		at += snprintf(to + at, 128 - (size_t)at, " after a trim of %u", c->trimmed);
	if (c->invalid)
		at += snprintf(to + at, 128 - (size_t)at, ", %u of them padding", c->invalid);
	if (c->batch == 1)
		snprintf(to + at, 128 - (size_t)at, ", batch of 1 after one of 2");
	return to;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The same sets along the last axis, in whatever order. */
static bool same_sets(const mla_tensor *a, const mla_tensor *b)
{
	int64_t n = a->ndim ? a->shape[a->ndim - 1] : 1;
	double *x = mla_alloc((size_t)(2 * (n ? n : 1)) * sizeof(*x));
	bool same = a->ndim == b->ndim && a->count == b->count;

	for (int64_t row = 0; same && n && row < a->count / n; row++) {
		for (int64_t i = 0; i < n; i++) {
			x[i] = mla_tensor_at(a, row * n + i);
			x[n + i] = mla_tensor_at(b, row * n + i);
		}
		qsort(x, (size_t)n, sizeof(*x), by_value);
		qsort(x + n, (size_t)n, sizeof(*x), by_value);
		same = memcmp(x, x + n, (size_t)n * sizeof(*x)) == 0;
	}
	free(x);
	return same;
}

static bool results_agree(trial *t, const mla_tensor *a, const mla_tensor *b, const char *where)
{
	mla_comparison c;

	if (!a && !b)
		return true;
	t->returned = true;
	if (!a || !b)
		return say(t, MLA_REJECTED, "with %s: one side returns nothing", where);
	if (!mla_dtype_is_float(a->dtype)) {
		if (same_sets(a, b))
			return true;
		t->selection = true;
		return say(t, MLA_REJECTED, "with %s: another set of windows is selected", where);
	}
	if (mla_compare(&c, a, b, MLA_F32) < 0)
		return say(t, MLA_REJECTED, "with %s: the result has another shape", where);
	if (!mla_compare_agrees(&c, RESULT_TOLERANCE))
		return say(t, MLA_REJECTED, "with %s: the result differs by %.3g of its magnitude",
		           where, c.rel);
	return true;
}

/* Windows that the incremental path may pool. */
static uint32_t allowed(uint32_t width, uint32_t window)
{
	return (width + window - 1) / window + 1;
}

static bool windows_are_few(trial *t, const mla_pool_case *c, const char *where)
{
	if (t->one_only && c->width > 1)
		return true;
	if (c->trimmed || c->batch == 1 || c->invalid || !c->windows ||
	    c->scratch <= allowed(c->width, c->window))
		return true;
	if (c->windows > allowed(c->width, c->window))
		return say(t, MLA_REJECTED,
		           "with %s: %u of %u windows are pooled, %u would do: the incremental "
		           "path did not run",
		           where, c->windows, c->scratch, allowed(c->width, c->window));
	t->reached |= c->width > 1 || t->one_only;
	return true;
}

/* Appends tokens on both sides; what is kept and returned has to be the same. */
static bool append(trial *t, uint32_t width, uint32_t invalid, bool checked)
{
	mla_run a = {.width = width,
	             .batch = t->batch,
	             .session = t->patched.session,
	             .tokens = ++t->tokens,
	             .invalid = invalid};
	mla_run b = a;
	mla_pool_case c = {.width = width,
	                   .cached = (uint32_t)mla_session_length(t->patched.session),
	                   .trimmed = t->trimmed,
	                   .batch = t->batch,
	                   .invalid = invalid};
	mla_tensor *x, *y;
	char where[128], text[160], words[160];

	t->trimmed = 0;
	case_text(where, &c);
	b.session = t->scratch.session;
	mla_session_forget(b.session);
	snprintf(words, sizeof(words), "before the fix, with %s", where);
	if (mla_replay_run(&y, t->scratch.m, t->scratch.layer, &b) < 0)
		return say_fault(t, MLA_UNVERIFIED, &t->scratch, words);
	snprintf(words, sizeof(words), "after the fix, with %s", where);
	if (mla_replay_run(&x, t->patched.m, t->patched.layer, &a) < 0)
		return say_fault(t, MLA_REJECTED, &t->patched, words);
	c.windows = a.windows;
	c.window = b.window;
	c.scratch = b.windows;
	/* A call that pools nothing leaves what was there; there is nothing to compare it with. */
	if (mla_session_remembers(b.session) &&
	    !mla_session_agrees(text, &c.ulp, a.session, b.session, POOL_ULPS))
		return say(t, MLA_REJECTED, "with %s: %s", where, text);
	if (!results_agree(t, x, y, where) || (checked && !windows_are_few(t, &c, where)))
		return false;
	if (checked && t->out->case_count < MLA_POOL_CASES)
		t->out->cases[t->out->case_count++] = c;
	return true;
}

/* One sequence: prefill, the step, a trim, others in its place. */
static bool steps(trial *t, uint32_t length, uint32_t width)
{
	start(t);
	if (!append(t, length, 0, false) || !append(t, width, 0, true))
		return false;
	for (uint32_t n = 1; n <= width && width > 1; n++)
		if (!trim(t, n) || !append(t, width, 0, true))
			return false;
	return true;
}

/* A trim far back, steps on a context too short to be pooled, and on until it is pooled again. */
static bool bypass(trial *t, uint32_t width)
{
	start(t);
	return append(t, 46, 0, false) && append(t, width, 0, true) && trim(t, 41) &&
	       append(t, 3, 0, false) && append(t, 37, 0, false) && append(t, width, 0, true) &&
	       trim(t, 6) && append(t, width, 0, true);
}

/*
 * Does the program before the fix survive a change of the batch, with one new token and what it
 * kept? Else it is no business of the fix.
 */
static bool survives_batch(trial *t)
{
	mla_run run = {.width = 66, .batch = 2, .tokens = 1};
	mla_tensor *out;
	side s;
	bool good;

	if (!open_side(&s, t, false))
		return false;
	run.session = s.session;
	good = mla_replay_run(&out, s.m, s.layer, &run) == 0 &&
	       mla_session_select(s.session, s.m, 1) == 0;
	run.width = run.batch = 1;
	good = good && mla_replay_run(&out, s.m, s.layer, &run) == 0;
	close_side(&s);
	return good;
}

/* The kept windows are those of two sequences, the rows those of one. */
static bool smaller_batch(trial *t, uint32_t width)
{
	if (!t->batches)
		return true;
	start(t);
	return append(t, 66, 0, false) && one_sequence(t) && append(t, width, 0, true) &&
	       append(t, width, 0, true);
}

/* Does the method ask which tokens count? */
static bool asks_validity(const trial *t)
{
	const mla_node *list = mla_kid(t->pool->entry, 0);

	for (uint32_t i = 2; list && i < list->n; i++)
		if (mla_str_mentions(list->kid[i]->name, "valid"))
			return true;
	return false;
}

/*
 * Does the program before the fix look at a single new token before it extends? Most do not: their
 * decode steps have no padding. Then that is not for the fix to change.
 */
static bool minds_padding(trial *t)
{
	mla_run a = {.width = 66, .batch = 2, .tokens = 1}, b;
	mla_tensor *out;
	side s;
	char text[160];
	double ulp;
	bool good;

	start(t);
	if (!open_side(&s, t, false))
		return false;
	b = a;
	a.session = s.session;
	b.session = t->scratch.session;
	good = mla_replay_run(&out, s.m, s.layer, &a) == 0 &&
	       mla_replay_run(&out, t->scratch.m, t->scratch.layer, &b) == 0;
	mla_session_forget(b.session);
	a.width = b.width = a.invalid = b.invalid = 1;
	a.tokens = b.tokens = 2;
	good = good && mla_replay_run(&out, s.m, s.layer, &a) == 0 &&
	       mla_replay_run(&out, t->scratch.m, t->scratch.layer, &b) == 0 &&
	       mla_session_agrees(text, &ulp, a.session, b.session, POOL_ULPS);
	close_side(&s);
	return good;
}

/* The last new token is padding. */
static bool padding(trial *t, uint32_t width)
{
	if (!asks_validity(t) || (width == 1 && !minds_padding(t)))
		return true;
	start(t);
	return append(t, 66, 0, false) && append(t, width, 1, true) && append(t, width, 0, false);
}

static bool all(trial *t)
{
	static const uint32_t widths[] = {1, 2, 3, 4, 8}, lengths[] = {64, 65, 66, 67, 515};

	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t k = 0; k < 5; k++)
			if (!steps(t, lengths[k], widths[i]))
				return false;
	for (uint32_t i = 0; i < 5; i++)
		if (!bypass(t, widths[i]) || !smaller_batch(t, widths[i]) || !padding(t, widths[i]))
			return false;
	if (!t->reached)
		return say(t, MLA_UNVERIFIED,
		           "the incremental path was not seen to run: the windows that are pooled "
		           "were not recognised, or nothing is kept on the cache");
	if (!t->returned)
		return say(t, MLA_UNVERIFIED, "the method returns nothing that can be compared");
	t->out->outcome = MLA_VERIFIED;
	t->settled = true;
	return true;
}

/* Was only the check of the length added? Then several tokens are pooled from scratch still. */
static bool still_single(const trial *t)
{
	mla_arena *arena = mla_arena_new();
	mla_pools left;
	bool single = false;

	mla_pools_find(&left, arena, t->after, t->target_after.module);
	for (uint32_t i = 0; i < left.n; i++)
		single |= mla_str_eq(left.v[i]->symbol, t->pool->symbol) && left.v[i]->single &&
		          left.v[i]->single != left.v[i]->length;
	mla_arena_free(arena);
	return single;
}

static void judge(trial *t)
{
	enum { SEEDS = 3 };

	/* Scores that are almost equal may be selected either way: other tokens decide. */
	for (uint32_t i = 0; i < SEEDS; i++) {
		*t->out = (mla_pool_verdict){0};
		t->settled = t->selection = t->reached = t->returned = false;
		t->seed = t->options->seed + 1000 * i;
		t->tokens = 0;
		if (open_side(&t->scratch, t, false) && open_side(&t->patched, t, true)) {
			t->batches = survives_batch(t);
			all(t);
		}
		close_side(&t->patched);
		close_side(&t->scratch);
		if (!t->selection)
			return;
	}
}

void mla_pool_verify(mla_pool_verdict *out, mla_project *before, mla_project *after,
                     const mla_pool *pool, const mla_site_options *options)
{
	trial t = {.out = out, .pool = pool, .before = before, .after = after, .options = options};

	*out = (mla_pool_verdict){0};
	if (!after)
		say(&t, MLA_UNVERIFIED, "no fix to replay");
	else if (!find_target(&t.target_before, before, pool))
		say(&t, MLA_UNVERIFIED, "the class of this function is not known");
	else if (!find_target(&t.target_after, after, pool))
		say(&t, MLA_UNVERIFIED, "the method is not found after the fix");
	else {
		t.one_only = still_single(&t);
		judge(&t);
	}
}

/*
 * The fix of MLA001 (and of the other rules about an absorb decision): helper, import, constructor
 * statement and every test of the decision, as one set of edits.
 */
#include "fixers/attribute.h"
#include "fixers/helper.h"

#include "analyzer/str.h"

typedef struct {
	mla_fix *fix;
	mla_arena *arena;
	mla_project *project;
	const mla_site *site;
	mla_form form;
} plan;

/* The method around a test, through nested functions; NULL for a free function. */
static const mla_node *method_around(const mla_node *n)
{
	const mla_node *class = mla_node_class(n);

	if (!class)
		return NULL;
	for (; n; n = n->parent)
		if (n->kind == MLA_N_FUNCTION && n->parent->parent == class)
			return n;
	return NULL;
}

/* r, n and v as a method other than the constructor can write them: attributes of self, or of a
 * config that the constructor keeps there. */
static bool sizes_in_method(plan *p, mla_str out[3], mla_str self)
{
	for (int i = 0; i < 3; i++) {
		const mla_size *s = mla_size_at(&p->site->latent, i);
		const mla_node *root = s->expr;
		mla_str rest = {"", 0}, kept = {"", 0};

		if (s->attribute.len) {
			out[i] = mla_arena_format(p->arena, "%.*s.%.*s", MLA_ARG(self),
			                          MLA_ARG(s->attribute));
			continue;
		}
		if (root && root->kind == MLA_N_ATTRIBUTE) {
			while (root->kind == MLA_N_ATTRIBUTE)
				root = root->kid[0];
			rest = mla_text_slice(s->init.owner.module->text,
			                      (mla_span){root->span.end, s->expr->span.end});
		}
		for (const mla_node *n = s->init.node;
		     root && root->kind == MLA_N_NAME && n && !kept.len;
		     n = mla_node_next(n, s->init.node, false))
			if (n->kind == MLA_N_ASSIGN && n->n == 2 &&
			    n->kid[0]->kind == MLA_N_ATTRIBUTE && n->kid[1]->kind == MLA_N_NAME &&
			    mla_str_eq(n->kid[1]->name, root->name))
				kept = n->kid[0]->name;
		if (!kept.len)
			return mla_fix_refuse(p->fix, "the sizes are not kept on the object");
		out[i] = mla_arena_format(p->arena, "%.*s.%.*s%.*s", MLA_ARG(self), MLA_ARG(kept),
		                          MLA_ARG(rest));
	}
	return true;
}

/* `L == 1` -> `L <= bound`, `L != 1` -> `L > bound`; the count keeps its own spelling. Of
 * `L == 1 or L <= 8` the second changes. */
static void replace_test(plan *p, const mla_test *t, mla_str bound)
{
	mla_str count = mla_text_slice(t->module->text, t->count->outer);

	if (t->wider)
		return;
	mla_edits_add(&p->fix->edits, t->module, t->node->span,
	              mla_arena_format(p->arena, "%s%.*s %s %.*s", mla_fix_lead(t), MLA_ARG(count),
	                               t->small_when_true ? "<=" : ">", MLA_ARG(bound)));
}

/* The tests of functions that belong to no class, each function once. */
static const mla_node *block_holding(const mla_site *s, const mla_node *function,
                                     const mla_node **statement)
{
	const mla_node *first = NULL, *last = NULL, *n;

	for (uint32_t i = 0; i < s->test_count; i++)
		if (s->test[i]->function == function) {
			const mla_node *t = s->test[i]->node;

			if (!first || t->span.start < first->span.start)
				first = t;
			if (!last || t->span.start > last->span.start)
				last = t;
		}
	for (n = first; n && n->parent; n = n->parent)
		if (n->parent->kind == MLA_N_BLOCK && mla_node_within(last, n->parent)) {
			*statement = n;
			return n->parent;
		}
	return NULL;
}

static bool name_taken(const mla_node *function, mla_str name)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false))
		if ((n->kind == MLA_N_NAME || n->kind == MLA_N_PARAMETER) &&
		    mla_str_eq(n->name, name))
			return true;
	return false;
}

/* What the helper is called with in `function`, and how. */
typedef struct {
	mla_str callee, argument[4];
	uint32_t arguments;
} helper_call;

/* helper(r, n, v), or helper(r, n, v, length) with a length. */
static bool call_helper(helper_call *out, plan *p, const mla_node *function, mla_module *m,
                        mla_str self, const mla_str *length)
{
	out->arguments = length ? 4 : 3;
	if (!sizes_in_method(p, out->argument, self))
		return false;
	if (length)
		out->argument[3] = *length;
	return mla_helper_require(&out->callee, p->fix, p->project, m, function, &p->site->latent,
	                          p->form);
}

/* `name = prefix helper(...)` on a line of its own before the function's first test. */
static bool bind_before(plan *p, const mla_node *function, mla_module *m, const char *name,
                        mla_str prefix, mla_str self, const mla_str *length)
{
	const mla_node *statement = NULL;
	helper_call call;
	mla_writer w;
	uint32_t at;

	if (name_taken(function, mla_str_c(name)))
		return mla_fix_refuse(p->fix, "the name %s is used in the method already", name);
	if (!block_holding(p->site, function, &statement) || !mla_insert_before(&at, m, statement))
		return mla_fix_refuse(p->fix, "there is no line of its own before the test");
	if (!call_helper(&call, p, function, m, self, length))
		return false;
	w = mla_writer_at(p->arena, m, statement->span.start);
	mla_write(&w, "%.*s", MLA_ARG(w.indent));
	mla_write_call(&w, mla_text_width(w.indent),
	               mla_arena_format(p->arena, "%s = %.*s%.*s", name, MLA_ARG(prefix),
	                                MLA_ARG(call.callee)),
	               call.argument, call.arguments, (mla_str){"", 0});
	mla_write(&w, "%.*s", MLA_ARG(w.eol));
	mla_edits_add(&p->fix->edits, m, (mla_span){at, at}, mla_writer_text(&w));
	return true;
}

static bool geometry_form(plan *p)
{
	const char *attribute = "_max_absorbed", *local = "max_absorbed";
	bool on_self = false;

	for (uint32_t i = 0; i < p->site->test_count; i++) {
		const mla_test *t = p->site->test[i];
		mla_str self = t->self;

		if (method_around(t->node)) {
			on_self = true;
			replace_test(
				p, t,
				mla_arena_format(p->arena, "%.*s.%s", MLA_ARG(self), attribute));
			continue;
		}
		if (i == 0 || p->site->test[i - 1]->function != t->function)
			if (!bind_before(p, t->function, t->module, local, (mla_str){"", 0}, self,
			                 NULL))
				return false;
		replace_test(p, t, mla_str_c(local));
	}
	if (!on_self)
		return true;
	mla_attribute_require(p->fix, p->project, p->site->owner, mla_str_c(attribute), p->form);
	/* Classes that inherit the method but not the constructor, or that change the sizes. */
	for (uint32_t i = 0; i < p->site->heir_count && !p->fix->refusal.len; i++)
		mla_attribute_require(p->fix, p->project, p->site->heir[i], mla_str_c(attribute),
		                      p->form);
	return !p->fix->refusal.len;
}

/* The last assignment of the latent's name before it is expanded must come before the test. */
static bool latent_known_at(const mla_site *s, const mla_test *t)
{
	const mla_node *body = mla_kid(s->cached_in, 1);

	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		if (n->kind != MLA_N_NAME || !mla_str_eq(n->name, s->cached->name) ||
		    n->span.start >= s->cached->span.start || n->span.start < t->node->span.start)
			continue;
		for (const mla_node *a = n; a && a != body; a = a->parent)
			if (a->kind == MLA_N_ASSIGN && mla_node_within(n, a->kid[0]))
				return false;
	}
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false))
		if (n->kind == MLA_N_NAME && mla_str_eq(n->name, s->cached->name) &&
		    n->span.start < t->node->span.start)
			return true;
	return mla_parameter(s->cached_in, s->cached->name) != NULL;
}

/* `if isinstance(latent, tuple):` and nothing else asked: what it is made into holds afterwards. */
static bool is_whole_condition(const mla_node *n)
{
	return n->parent && n->index == 0 &&
	       (n->parent->kind == MLA_N_IF || n->parent->kind == MLA_N_CONDITION);
}

/*
 * Is the latent still unpacked or dequantised after the test, or before it under a further
 * condition? Then it may be a quantised tuple at the test, which has no length. What is converted
 * before the test in any case is an array there.
 */
static bool may_be_tuple(const mla_site *s)
{
	for (const mla_node *n = s->cached_in; n; n = mla_node_next(n, s->cached_in, false)) {
		mla_str callee;
		bool asks;

		if (n->kind != MLA_N_CALL)
			continue;
		callee = n->kid[0]->name;
		asks = mla_str_is(callee, "isinstance");
		if (!mla_str_mentions(callee, "quantiz") && !asks)
			continue;
		if (n->span.start < s->test[0]->node->span.start &&
		    (!asks || is_whole_condition(n)))
			continue;
		for (uint32_t i = 1; i < n->n; i++) {
			const mla_node *a = n->kid[i];

			if (a && a->kind == MLA_N_STAR)
				a = mla_kid(a, 0);
			if (a && a->kind == MLA_N_NAME && mla_str_eq(a->name, s->cached->name))
				return true;
		}
	}
	return false;
}

/* `absorbed` or `not absorbed` in place of the comparison; `not not` is not written. */
static void replace_by_name(plan *p, const mla_test *t, const char *name)
{
	const mla_node *n = t->node;
	bool plain = t->small_when_true, operand;

	if (t->wider)
		return;
	if (n->parent && n->parent->kind == MLA_N_NOT) {
		n = n->parent;
		plain = !plain;
	}
	operand = n->parent && (n->parent->kind == MLA_N_COMPARE ||
	                        n->parent->kind == MLA_N_BINARY || n->parent->kind == MLA_N_UNARY);
	mla_edits_add(&p->fix->edits, t->module, n->span,
	              *mla_fix_lead(t) ? mla_arena_format(p->arena, "%s%s", mla_fix_lead(t), name)
	              : plain          ? mla_str_c(name)
	              : operand        ? mla_arena_format(p->arena, "(not %s)", name)
	                               : mla_arena_format(p->arena, "not %s", name));
}

/* The whole right side of `name = test`: the name is the decision already. */
static bool is_flag(const mla_node *n)
{
	return n->parent && n->parent->kind == MLA_N_ASSIGN && n->index + 1 == n->parent->n;
}

/* `name = L == 1` -> `name = L <= helper(...)`, where the statement stands. */
static bool replace_flag(plan *p, const mla_test *t, mla_str self, mla_str length)
{
	mla_str count = mla_text_slice(t->module->text, t->count->outer);
	uint32_t line = mla_text_line_span(t->module->text,
	                                   mla_text_line(t->module->text, t->node->span.start))
	                        .start;
	helper_call call;
	mla_writer w;

	if (!call_helper(&call, p, t->function, t->module, self, &length))
		return false;
	w = mla_writer_for(p->arena, t->module, t->node->parent);
	mla_write_call(&w,
	               mla_text_width(mla_text_slice(t->module->text,
	                                             (mla_span){line, t->node->span.start})),
	               mla_arena_format(p->arena, "%.*s %s %.*s", MLA_ARG(count),
	                                t->small_when_true ? "<=" : ">", MLA_ARG(call.callee)),
	               call.argument, call.arguments, (mla_str){"", 0});
	mla_edits_add(&p->fix->edits, t->module, t->node->span, mla_writer_text(&w));
	return true;
}

/* `case n if n == 1`: there is no n before the statement. */
static bool is_bound_by_pattern(const mla_test *t)
{
	const mla_node *c = t->node;

	while (c && c->kind != MLA_N_CASE && c->kind != MLA_N_FUNCTION)
		c = c->parent;
	if (!c || c->kind != MLA_N_CASE || !mla_kid(c, 1) || !mla_node_within(t->node, c->kid[1]))
		return false;
	for (const mla_node *n = c->kid[0]; n; n = mla_node_next(n, c->kid[0], false))
		if (n->kind == MLA_N_NAME && mla_str_eq(n->name, t->count->name))
			return true;
	return false;
}

static bool cache_length_form(plan *p)
{
	const mla_site *s = p->site;
	const mla_test *first = s->test[0];
	const mla_node *method = method_around(first->node);
	const char *name = "absorbed";
	mla_str self, length, prefix;

	for (uint32_t i = 1; i < s->test_count; i++)
		if (s->test[i]->function != first->function)
			return mla_fix_refuse(
				p->fix, "the tests of this decision are in different functions");
	if (!s->cached || s->cached->kind != MLA_N_NAME || s->cached_in != first->function)
		return mla_fix_refuse(p->fix,
		                      "the cached latent has no name where the decision is made");
	if (!latent_known_at(s, first))
		return mla_fix_refuse(p->fix, "%.*s is not fetched from the cache before the test",
		                      MLA_ARG(s->cached->name));
	if (may_be_tuple(s))
		return mla_fix_refuse(p->fix,
		                      "%.*s may be a quantised tuple here, which has no length",
		                      MLA_ARG(s->cached->name));
	self = mla_method_self(method ? method : first->function);
	length = mla_arena_format(p->arena, "%.*s.shape[-2]", MLA_ARG(s->cached->name));
	prefix = mla_arena_format(
		p->arena,
		"%.*s <= ", MLA_ARG(mla_text_slice(first->module->text, first->count->outer)));
	if (first->count->kind == MLA_N_WALRUS || is_bound_by_pattern(first))
		return mla_fix_refuse(p->fix, "the count is bound inside the test");
	if (s->test_count == 1 && is_flag(first->node))
		return replace_flag(p, first, self, length);
	if (!bind_before(p, first->function, first->module, name, prefix, self, &length))
		return false;
	for (uint32_t i = 0; i < s->test_count; i++)
		replace_by_name(p, s->test[i], name);
	return true;
}

static const char *title(const plan *p, const mla_finding *f)
{
	if (p->form == MLA_FORM_CACHE_LENGTH)
		return "Absorb up to the number of queries that sizes and cached length allow";
	if (!f->threshold_known)
		return "Absorb up to the number of queries that the sizes allow on a long cache";
	return mla_arena_format(
		       p->arena,
		       "Absorb up to %u queries, the long-cache limit of these sizes (a cold "
		       "prefill of that length then takes more work than before; --threshold "
		       "cache-length avoids it)",
		       f->threshold.queries)
	        .ptr;
}

int mla_fix_absorb_threshold(mla_fix *out, mla_arena *arena, mla_project *project,
                             const mla_finding *finding, mla_form form)
{
	plan p = {.fix = out,
	          .arena = arena,
	          .project = project,
	          .site = finding->site,
	          .form = form};
	bool done;

	out->form = form;
	out->title = title(&p, finding);
	done = form == MLA_FORM_GEOMETRY ? geometry_form(&p) : cache_length_form(&p);
	if (!done) {
		out->edits.n = 0;
		return 0;
	}
	return mla_edits_finish(&out->edits);
}

int mla_fix_cached_threshold(mla_fix *out, mla_arena *arena, mla_project *project,
                             const mla_finding *finding, mla_form form)
{
	(void)form; /* the other one is what is found */
	return mla_fix_absorb_threshold(out, arena, project, finding, MLA_FORM_CACHE_LENGTH);
}

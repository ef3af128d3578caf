/*
 * Where a constructor has r, n and v, and how to write them there. Refuses whatever it cannot see
 * through: a size that is set in some other way than by a plain statement, names that change
 * between their use and ours, expressions whose second evaluation might do something.
 */
#include "fixers/attribute.h"

#include "analyzer/str.h"
#include "fixers/helper.h"

typedef struct {
	mla_fix *fix;
	mla_project *project;
	mla_class class;
	mla_lineage lineage;
	mla_constructors constructors;
	mla_latent latent;
} place;

const mla_size *mla_size_at(const mla_latent *l, int i)
{
	return i == 0 ? &l->rank : i == 1 ? &l->nope : &l->value;
}

static const mla_node *statement_in(const mla_node *body, const mla_node *n)
{
	while (n && n->parent != body)
		n = n->parent;
	return n;
}

/* The most derived constructor that sets a size or builds the projections from one. */
static bool completing(const place *p, uint32_t *index)
{
	for (uint32_t i = 0; i < p->constructors.n; i++)
		for (int k = 0; k < 3; k++) {
			const mla_size *s = mla_size_at(&p->latent, k);
			mla_attribute a;

			if (s->attribute.len &&
			                    mla_class_attribute(&a, &p->constructors, s->attribute)
			            ? a.init.node == p->constructors.v[i].node
			            : s->init.node == p->constructors.v[i].node) {
				*index = i;
				return true;
			}
		}
	return false;
}

/* `name = value` in the body of a class of the lineage: there for every instance. */
static bool in_class_body(const place *p, mla_str name)
{
	for (uint32_t i = 0; i < p->lineage.n; i++) {
		const mla_node *body = mla_kid(p->lineage.v[i].node, 1);

		for (uint32_t k = 0; body && k < body->n; k++) {
			const mla_node *n = body->kid[k];

			if ((n->kind == MLA_N_ASSIGN ||
			     (n->kind == MLA_N_ANN_ASSIGN && mla_kid(n, 2)) ||
			     n->kind == MLA_N_FUNCTION) &&
			    mla_str_eq(n->kind == MLA_N_FUNCTION ? n->name : n->kid[0]->name, name))
				return true;
		}
	}
	return false;
}

/* Anything called `name` in a method of the lineage besides the constructor statements. */
static bool stored_elsewhere(const place *p, mla_str name)
{
	for (uint32_t i = 0; i < p->lineage.n; i++)
		for (const mla_node *n = p->lineage.v[i].node; n;
		     n = mla_node_next(n, p->lineage.v[i].node, false)) {
			const mla_node *f = mla_node_function(n);

			if (n->kind == MLA_N_ATTRIBUTE && mla_str_eq(n->name, name) && n->parent &&
			    n->parent->kind != MLA_N_COMPARE && f &&
			    !mla_str_is(f->name, "__init__"))
				return true;
		}
	return false;
}

/* Is the attribute there, set by the helper in a constructor at least as derived as `index`? */
static bool have(place *p, mla_str name, uint32_t index, bool *usable)
{
	mla_attribute a;

	*usable = false;
	if (!mla_class_attribute(&a, &p->constructors, name))
		return in_class_body(p, name) || stored_elsewhere(p, name);
	if (!a.value || a.value->kind != MLA_N_CALL ||
	    !mla_str_is(a.value->kid[0]->name, "max_absorbed_queries"))
		return true;
	for (uint32_t i = 0; i <= index; i++)
		*usable |= p->constructors.v[i].node == a.init.node;
	/* Set in a base, before the sizes of this class: it is set again here. */
	return *usable;
}

static bool is_assigned_once(const mla_node *init, mla_str name)
{
	uint32_t stores = 0;

	for (const mla_node *n = mla_kid(init, 1); n;
	     n = mla_node_next(n, mla_kid(init, 1), false)) {
		const mla_node *t = n;

		if (n->kind != MLA_N_NAME || !mla_str_eq(n->name, name))
			continue;
		while (t->parent &&
		       (t->parent->kind == MLA_N_TUPLE || t->parent->kind == MLA_N_LIST ||
		        t->parent->kind == MLA_N_STAR))
			t = t->parent;
		if (!t->parent)
			continue;
		stores +=
			(t->parent->kind == MLA_N_ASSIGN && t->index + 1 < t->parent->n) ||
			(t->index == 0 &&
		         (t->parent->kind == MLA_N_AUG_ASSIGN || t->parent->kind == MLA_N_FOR ||
		          t->parent->kind == MLA_N_WALRUS || t->parent->kind == MLA_N_ANN_ASSIGN));
		if (t->parent->kind == MLA_N_DELETE)
			return false;
	}
	return stores <= (mla_parameter(init, name) ? 0u : 1u);
}

/* Can the expression be written a second time, further down, and mean the same? */
static bool can_repeat(const mla_node *e, const mla_node *init, const mla_module *m)
{
	for (const mla_node *n = e; n; n = mla_node_next(n, e, false)) {
		if (n->kind == MLA_N_NAME && !is_assigned_once(init, n->name))
			return false;
		if (n->kind == MLA_N_CALL || n->kind == MLA_N_WALRUS || n->kind == MLA_N_AWAIT)
			return false;
	}
	return mla_text_line(m->text, e->span.start) == mla_text_line(m->text, e->span.end);
}

/* The statement after which size `s` exists in constructor `init`; NULL with *ok: before it. */
static const mla_node *set_by(place *p, const mla_size *s, mla_method init, bool *ok)
{
	const mla_node *body = mla_kid(init.node, 1);
	mla_attribute a;

	*ok = true;
	if (!s->attribute.len) {
		*ok = s->init.node == init.node &&
		      can_repeat(s->expr, init.node, init.owner.module);
		return statement_in(body, s->expr);
	}
	if (mla_class_attribute(&a, &p->constructors, s->attribute))
		return a.init.node == init.node ? a.statement : NULL;
	*ok = in_class_body(p, s->attribute);
	/* A property computes it from whatever: nobody knows when that is there. */
	for (uint32_t i = 0; i < p->lineage.n && *ok; i++)
		*ok = !mla_class_method(p->lineage.v[i], s->attribute);
	return NULL;
}

/* Is a size set once more after the projections were built with it? */
static bool set_again(place *p, const mla_node *statement, const mla_size *s)
{
	mla_attribute a;

	return s->attribute.len && p->latent.n && p->latent.up[0].call &&
	       mla_class_attribute(&a, &p->constructors, s->attribute) && a.count > 1 &&
	       a.init.node == p->latent.up[0].init.node && statement &&
	       statement->span.start > p->latent.up[0].call->span.end;
}

static const mla_node *last_needed(place *p, mla_method init)
{
	const mla_node *body = mla_kid(init.node, 1);
	const mla_node *super = mla_constructor_super(init.node);
	const mla_node *last = super ? statement_in(body, super) : NULL;

	for (int i = 0; i < 3; i++) {
		bool ok;
		const mla_size *s = mla_size_at(&p->latent, i);
		const mla_node *at = set_by(p, s, init, &ok);

		if (!ok) {
			mla_fix_refuse(p->fix,
			               "a size is not set by a plain statement of the constructor");
			return NULL;
		}
		if (set_again(p, at, s)) {
			mla_fix_refuse(p->fix,
			               "a size is set again after the projections are built");
			return NULL;
		}
		if (at && (!last || at->span.start > last->span.start))
			last = at;
	}
	if (!last)
		mla_fix_refuse(p->fix, "the constructor has no statement that sets a size");
	return last;
}

static bool can_hold(place *p, mla_method init, const mla_node *after)
{
	const mla_module *m = init.owner.module;

	if (init.node->has_error)
		return mla_fix_refuse(p->fix, "the constructor does not parse");
	if (mla_text_line(m->text, after->span.start) ==
	    mla_text_line(m->text, init.node->span.start))
		return mla_fix_refuse(p->fix, "the constructor is written on one line");
	for (const mla_node *n = init.node; n; n = mla_node_next(n, init.node, false))
		if (n->kind == MLA_N_RETURN && n->span.start < after->span.start)
			return mla_fix_refuse(
				p->fix, "the constructor may return before the sizes are set");
	if (in_class_body(p, mla_str_c("__slots__")))
		return mla_fix_refuse(p->fix, "the class has __slots__");
	return true;
}

static bool write_statement(place *p, mla_method init, const mla_node *after, mla_str name,
                            mla_str callee)
{
	mla_module *m = init.owner.module;
	mla_arena *arena = p->fix->edits.arena;
	mla_str self = mla_method_self(init.node), arguments[3], lead, head;
	mla_writer w = mla_writer_for(arena, m, after);
	uint32_t at;

	if (!mla_insert_after(&at, &lead, m, after))
		return mla_fix_refuse(p->fix,
		                      "there is no line of its own after the sizes are set");

	for (int i = 0; i < 3; i++) {
		const mla_size *s = mla_size_at(&p->latent, i);

		arguments[i] = s->attribute.len
		                       ? mla_arena_format(arena, "%.*s.%.*s", MLA_ARG(self),
		                                          MLA_ARG(s->attribute))
		                       : mla_node_text(m->text, s->expr);
	}
	head = mla_arena_format(arena, "%.*s.%.*s = %.*s", MLA_ARG(self), MLA_ARG(name),
	                        MLA_ARG(callee));
	mla_write(&w, "%.*s%.*s", MLA_ARG(lead), MLA_ARG(w.indent));
	mla_write_call(&w, mla_text_width(w.indent), head, arguments, 3, (mla_str){"", 0});
	if (!lead.len)
		mla_write(&w, "%.*s", MLA_ARG(w.eol));
	mla_edits_add(&p->fix->edits, m, (mla_span){at, at}, mla_writer_text(&w));
	return true;
}

void mla_attribute_require(mla_fix *fix, mla_project *project, mla_class c, mla_str name,
                           mla_form form)
{
	place p = {.fix = fix, .project = project, .class = c};
	const mla_node *after;
	mla_method init;
	uint32_t index;
	mla_str callee;
	bool usable;

	mla_class_lineage(&p.lineage, project, c);
	mla_class_constructors(&p.constructors, project, &p.lineage);
	mla_latent_find(&p.latent, &p.constructors);
	mla_latent_measure(&p.latent, project, NULL, &p.lineage, &p.constructors);
	if (!completing(&p, &index)) {
		mla_fix_refuse(p.fix, "no constructor sets the sizes");
		return;
	}
	init = p.constructors.v[index];
	if (have(&p, name, index, &usable)) {
		if (!usable)
			mla_fix_refuse(p.fix, "self._max_absorbed already means something else");
		return;
	}
	after = last_needed(&p, init);
	if (!after || !can_hold(&p, init, after))
		return;
	if (mla_helper_require(&callee, fix, project, init.owner.module, init.node, &p.latent,
	                       form))
		write_statement(&p, init, after, name, callee);
}

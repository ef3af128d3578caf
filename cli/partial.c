/* What was not understood, and whether a decision could be in it. Reports nothing itself. */
#include "cli/partial.h"

#include "analyzer/latent.h"
#include "analyzer/str.h"

typedef struct {
	mla_project *project;
	mla_module *module;
	const mla_prefilter *words;
	/* The answers for the last part and surroundings: errors come in crowds. */
	const mla_node *part, *around;
	bool part_counts, around_has_both;
} scope;

static mla_str text_of(const scope *s, const mla_node *n)
{
	return mla_node_text(s->module->text, n);
}

/* Projections of a class that go by names of its own, perhaps inherited ones. */
static bool has_projections(const scope *s, const mla_node *class)
{
	mla_constructors constructors;
	mla_lineage lineage;
	mla_latent latent;

	if (class->kind != MLA_N_CLASS)
		return false;
	mla_class_lineage(&lineage, s->project, (mla_class){s->module, class});
	mla_class_constructors(&constructors, s->project, &lineage);
	mla_latent_find(&latent, &constructors);
	return latent.n != 0;
}

/* The parser may have put the head of a class or a function into the error, and so lost it. */
static bool breaks_structure(const scope *s, const mla_node *n)
{
	mla_str t = text_of(s, n);

	return n->kind == MLA_N_ERROR &&
	       (mla_str_contains(t, "class ") || mla_str_contains(t, "def "));
}

static bool has_both(const scope *s, const mla_node *n)
{
	return mla_prefilter_compares(text_of(s, n)) &&
	       (mla_prefilter_word(s->words, text_of(s, n)) || has_projections(s, n));
}

static bool is_doubtful(scope *s, const mla_node *n)
{
	const mla_node *function = NULL, *around = NULL, *part;

	for (const mla_node *p = n; p; p = p->parent) {
		if (p->kind == MLA_N_FUNCTION)
			function = p;
		if (p->kind == MLA_N_CLASS || !p->parent)
			around = around && around->kind == MLA_N_CLASS && !p->parent ? around : p;
	}
	part = function ? function : mla_node_statement(n);
	if (!part || (part->kind == MLA_N_CLASS && n->kind == MLA_N_ERROR))
		part = n; /* between the statements of a class or a file */
	if (!function && breaks_structure(s, n))
		part = around;
	if (part != around && mla_node_within(around, part))
		around = s->module->syntax.root; /* the class stands in the function */
	if (part != s->part)
		s->part_counts = mla_prefilter_compares(text_of(s, part)) ||
		                 mla_prefilter_word(s->words, text_of(s, part));
	if (s->part_counts && around != s->around) {
		s->around_has_both = has_both(s, around);
		s->around = around;
	}
	s->part = part;
	return s->part_counts && s->around_has_both;
}

/* An error itself, or the node that lacks a token. */
static bool is_error(const mla_node *n)
{
	bool below = false;

	for (uint32_t i = 0; i < n->n && !below; i++)
		below = n->kid[i] && n->kid[i]->has_error;
	return n->kind == MLA_N_ERROR || (n->has_error && !below);
}

const mla_node *mla_partial_doubt(mla_project *project, mla_module *m, const mla_prefilter *words,
                                  const mla_node *limited)
{
	scope s = {.project = project, .module = m, .words = words};
	const mla_node *root = m->syntax.root;
	bool found = false;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, !n->has_error)) {
		if (!is_error(n))
			continue;
		found = true;
		if (is_doubtful(&s, n))
			return n;
	}
	if (limited)
		return is_doubtful(&s, mla_node_within(limited, root) ? limited : root) ? limited
		                                                                        : NULL;
	return m->syntax.error_count && !found && is_doubtful(&s, root) ? root : NULL;
}

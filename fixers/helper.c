/* max_absorbed_queries(): written once beside the up-projection class. */
#include "fixers/helper.h"

#include "analyzer/str.h"
#include "fixers/helper_meaning.h"
#include "fixers/import.h"

static const char name[] = "max_absorbed_queries";

static bool top_level(const mla_node *n)
{
	return n->parent && n->parent->kind == MLA_N_MODULE;
}

/* functools.cache and functools.lru_cache change no result. */
static bool only_cached(const mla_node *decorators)
{
	for (uint32_t i = 0; decorators && i < decorators->n; i++) {
		const mla_node *d = decorators->kid[i];

		if (d->kind == MLA_N_CALL)
			d = d->kid[0];
		if (!mla_str_is(d->name, "cache") && !mla_str_is(d->name, "lru_cache"))
			return false;
	}
	return true;
}

static void write_helper(mla_writer *w, mla_form form)
{
	bool cached = form == MLA_FORM_CACHE_LENGTH;

	mla_write_line(w, 0, "def %s(", name);
	mla_write_line(w, 1, "kv_lora_rank: int, qk_nope_head_dim: int, v_head_dim: int%s",
	               cached ? ", cache_len=None" : "");
	mla_write_line(w, 0, ") -> int:");
	mla_write_line(w, 1, "\"\"\"Most new queries for which absorbed attention costs no more%s.",
	               cached ? "" : " on a long cache");
	mla_write_blank(w);
	mla_write_line(w, 1,
	               "With r = kv_lora_rank and d = qk_nope_head_dim + v_head_dim, L queries "
	               "need 2 L r");
	mla_write_line(w, 1,
	               "multiply-adds per head and cached token when absorbed, r d + L d when "
	               "materialized.");
	if (cached) {
		mla_write_blank(w);
		mla_write_line(w, 1,
		               "Given cache_len, the L r d for folding the queries count too; "
		               "without it the");
		mla_write_line(w, 1, "cache is taken as long.");
	}
	mla_write_line(w, 1, "\"\"\"");
	mla_write_line(w, 1, "d = qk_nope_head_dim + v_head_dim");
	mla_write_line(w, 1, "denom = 2 * kv_lora_rank - d");
	mla_write_line(w, 1, "if denom <= 0:");
	mla_write_line(
		w, 2,
		"return 1  # absorbing never costs more here; only one query does, as before");
	if (cached) {
		mla_write_line(w, 1, "if cache_len is not None:");
		mla_write_line(w, 2, "rd = kv_lora_rank * d");
		mla_write_line(w, 2, "return max(1, rd * cache_len // (rd + denom * cache_len))");
	}
	mla_write_line(w, 1, "return max(1, kv_lora_rank * d // denom)");
}

/* The helper's text at the place of `at`, without the last line end. */
static mla_str helper_text(mla_arena *arena, const mla_module *m, const mla_node *at, mla_form form)
{
	mla_writer w = mla_writer_at(arena, m, at->span.start);
	mla_str text;

	write_helper(&w, form);
	text = mla_writer_text(&w);
	text.len -= w.eol.len;
	return text;
}

/* Is it, to the letter, what the geometry form inserts? */
static bool is_ours(mla_arena *arena, const mla_module *m, const mla_node *function)
{
	return !mla_kid(function, 3) &&
	       mla_str_eq(mla_node_text(m->text, function),
	                  helper_text(arena, m, function, MLA_FORM_GEOMETRY));
}

/* Its callers go on as before: the parameter that comes in has a default. */
static bool extend(mla_edits *e, mla_module *m, const mla_node *function)
{
	mla_edits_bind(e, m, function->span,
	               helper_text(e->arena, m, function, MLA_FORM_CACHE_LENGTH), mla_str_c(name));
	return true;
}

/* Can a function of that name be called with r, n, v, and a cached length where one is needed,
 * and is the result the threshold? */
static bool usable(mla_fix *fix, mla_module *m, const mla_node *function, mla_form form)
{
	static const char *const sizes[] = {"kv_lora_rank", "qk_nope_head_dim", "v_head_dim"};
	const mla_node *list = mla_kid(function, 0);
	uint32_t n = list ? list->n : 0;
	bool fits = true;

	if (function->kind != MLA_N_FUNCTION)
		return mla_fix_refuse(fix, "%s has another use of the name %s", m->path, name);
	if (function->is_async)
		return mla_fix_refuse(fix, "the %s in %s is a coroutine", name, m->path);
	for (uint32_t i = 0; i < 3; i++)
		fits = fits && i < n && !list->kid[i]->op &&
		       mla_str_is(list->kid[i]->name, sizes[i]);
	for (uint32_t i = 3; fits && i < n; i++)
		fits = mla_kid(list->kid[i], 1) || list->kid[i]->op;
	if (!fits)
		return mla_fix_refuse(fix, "a %s with other parameters exists", name);
	if (form == MLA_FORM_CACHE_LENGTH && n == 3 && is_ours(fix->edits.arena, m, function))
		return extend(&fix->edits, m, function);
	if (form == MLA_FORM_CACHE_LENGTH && (n < 4 || list->kid[3]->op))
		return mla_fix_refuse(fix, "the existing %s takes no cached length", name);
	if (function->has_error || !only_cached(mla_kid(function, 3)) ||
	    !mla_helper_means(m, function, form == MLA_FORM_CACHE_LENGTH))
		return mla_fix_refuse(
			fix, "the %s in %s does not compute this threshold, or not visibly", name,
			m->path);
	return true;
}

/* Does `n` give `what` a meaning: anything with that name but the callee of a call and what an
 * attribute is taken of? */
static bool binds(const mla_node *n, mla_str what)
{
	switch (n->kind) {
	case MLA_N_PARAMETER:
	case MLA_N_CLASS:
	case MLA_N_FUNCTION:
	case MLA_N_HANDLER:
		return mla_str_eq(n->name, what);
	case MLA_N_ALIAS: {
		uint32_t head = 0;

		if (mla_kid(n, 0))
			return mla_str_eq(n->kid[0]->name, what);
		while (head < n->name.len && n->name.ptr[head] != '.')
			head++;
		return mla_str_eq((mla_str){n->name.ptr, head}, what);
	}
	case MLA_N_NAME:
		return mla_str_eq(n->name, what) && n->parent->kind != MLA_N_ALIAS &&
		       n->parent->kind != MLA_N_ATTRIBUTE &&
		       !(n->parent->kind == MLA_N_CALL && n->index == 0);
	default:
		return false;
	}
}

/* Is `what` something local where `function` runs? Methods are no names there. */
static bool is_local(const mla_node *function, mla_str what)
{
	const mla_node *outer = function;

	for (const mla_node *n = function; n; n = mla_node_function(n))
		outer = n;
	for (const mla_node *n = outer; n; n = mla_node_next(n, outer, false))
		if (n != outer && binds(n, what) &&
		    !(n->kind == MLA_N_FUNCTION && n->parent->parent->kind == MLA_N_CLASS))
			return true;
	return false;
}

/* How often the module's own scope binds the helper's name, and what binds it last. */
static uint32_t look_for_bindings(const mla_node **last, const mla_module *m)
{
	const mla_node *root = m->syntax.root;
	uint32_t count = 0;
	bool inner = false;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, inner)) {
		inner = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
		if (binds(n, mla_str_c(name))) {
			*last = n;
			count++;
		}
	}
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (n->kind == MLA_N_GLOBAL)
			for (uint32_t i = 0; i < n->n; i++)
				count += 2 * mla_str_is(n->kid[i]->name, name);
	return count;
}

/* The same; a file of a thousand models asks a thousand times. */
static uint32_t count_bindings(const mla_node **last, mla_module *m)
{
	mla_memo *memo = &m->memo;

	if (!memo->known) {
		memo->count = look_for_bindings(&memo->last, m);
		memo->known = true;
	}
	*last = memo->last;
	return memo->count;
}

/* The one helper of a module that has the name: a function at the top level, bound once. */
static bool own_helper(mla_fix *fix, mla_module *m, mla_form form)
{
	const mla_node *last = NULL;

	if (count_bindings(&last, m) != 1)
		return mla_fix_refuse(fix, "%s binds the name %s more than once", m->path, name);
	if (last->kind == MLA_N_FUNCTION && !top_level(last))
		return mla_fix_refuse(fix, "the %s in %s is defined under a condition", name,
		                      m->path);
	return usable(fix, m, last, form);
}

/* The first line of a definition with its decorators and the comments that touch it, unless those
 * are the first lines of the file (shebang, coding, licence). */
static uint32_t first_line(const mla_module *m, const mla_node *definition)
{
	uint32_t first = mla_text_line(m->text, definition->outer.start), line = first, end;

	while (line > 1) {
		uint32_t above = mla_text_line_span(m->text, line - 1).start;

		if (above == 0 && mla_text_has_bom(m->text))
			above = 3;
		if (!mla_comment_at(&end, m, above))
			break;
		line--;
	}
	return line == 1 ? first : line;
}

static bool is_blank_line(const mla_module *m, uint32_t line)
{
	mla_str s = mla_text_slice(m->text, mla_text_line_span(m->text, line));

	for (uint32_t i = 0; i < s.len; i++)
		if (s.ptr[i] != ' ' && s.ptr[i] != '\t' && s.ptr[i] != '\f')
			return false;
	return true;
}

/* Two blank lines on either side, using those that are there. */
static void insert_helper(mla_edits *e, mla_module *m, const mla_node *definition, mla_form form)
{
	uint32_t line = first_line(m, definition), blank = 0;
	uint32_t at = mla_text_line_span(m->text, line).start;
	mla_writer w = mla_writer_at(e->arena, m, at);

	if (at == 0 && mla_text_has_bom(m->text))
		at = 3;
	while (blank < 2 && line - blank > 1 && is_blank_line(m, line - 1 - blank))
		blank++;
	for (; blank < 2 && line > 1; blank++)
		mla_write_blank(&w);
	write_helper(&w, form);
	mla_write_blank(&w);
	mla_write_blank(&w);
	mla_edits_bind(e, m, (mla_span){at, at}, mla_writer_text(&w), mla_str_c(name));
}

static const mla_node *method(const mla_node *class, const char *called)
{
	const mla_node *body = mla_kid(class, 1);

	for (uint32_t i = 0; body && i < body->n; i++)
		if (body->kid[i]->kind == MLA_N_FUNCTION && mla_str_is(body->kid[i]->name, called))
			return body->kid[i];
	return NULL;
}

/* Built from three sizes, as a per-head projection is (n, r, heads)? */
static bool takes_three(const mla_node *class)
{
	const mla_node *init = method(class, "__init__"), *list = mla_kid(init, 0);
	uint32_t needed = 0;

	for (uint32_t i = 1; list && i < list->n; i++)
		needed += !mla_kid(list->kid[i], 1) && !list->kid[i]->op;
	return needed == 3;
}

/*
 * The statement before which a module gets the helper. It depends on the module alone, so that the
 * fixes of several decisions put the same helper at the same place: before the first class built
 * from three sizes; else the first that is a layer; else the first with a constructor; else the
 * first definition.
 */
static const mla_node *place_in_module(const mla_module *m)
{
	const mla_node *root = m->syntax.root, *best = NULL;
	int rank = 0;
	bool skip = false;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, skip)) {
		int r = n->kind == MLA_N_FUNCTION;

		skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
		if (n->kind == MLA_N_CLASS)
			r = takes_three(n)                                  ? 4
			    : method(n, "__call__") || method(n, "forward") ? 3
			    : method(n, "__init__")                         ? 2
			                                                    : 1;
		if (r > rank) {
			best = n;
			rank = r;
		}
	}
	while (best && !top_level(best))
		best = best->parent;
	return best;
}

/* "(helper in this file: .mla was not found)" in the title, where that is so. */
static void say_not_found(mla_fix *fix, const mla_latent *latent)
{
	const mla_node *maker = latent->maker, *alias;
	const mla_module *m = latent->n ? latent->up[0].init.owner.module : NULL;
	const char *title;
	mla_str module;

	while (maker && maker->kind == MLA_N_ATTRIBUTE)
		maker = maker->kid[0];
	alias = maker && m ? mla_module_alias(m, maker->name) : NULL;
	if (!alias || alias->parent->kind != MLA_N_IMPORT_FROM)
		return;
	module = alias->parent->name;
	if (maker != latent->maker && module.ptr[0] != '.')
		return;             /* nn.Linear of a framework is not expected here */
	if (maker != latent->maker) /* `from . import mla` */
		module = mla_arena_format(fix->edits.arena, "%.*s%s%.*s", MLA_ARG(module),
		                          mla_str_ends(module, ".") ? "" : ".",
		                          MLA_ARG(alias->name));
	title = mla_arena_format(fix->edits.arena, "%s (helper in this file: %.*s was not found)",
	                         fix->title, MLA_ARG(module))
	                .ptr;
	if (!strstr(fix->title, " was not found)"))
		fix->title = title;
}

/* The up-projection class as `user` names it, where it is a plain name there. */
static mla_str class_name_in(const mla_module *user, const mla_latent *latent)
{
	bool plain = latent->maker && latent->n && latent->maker->kind == MLA_N_NAME &&
	             latent->up[0].init.owner.module == user;

	return plain ? latent->maker->name : (mla_str){"", 0};
}

/* The name is there: defined here, or imported where the class is or without condition. */
static bool existing(mla_fix *fix, mla_project *project, mla_module *user, const mla_node *binder,
                     const mla_latent *latent, mla_form form)
{
	const mla_node *class;
	mla_symbol s;

	if (binder->kind != MLA_N_ALIAS)
		return own_helper(fix, user, form);
	class = mla_module_alias(user, class_name_in(user, latent));
	if (!top_level(binder->parent) && (!class || class->parent != binder->parent))
		return mla_fix_refuse(fix, "%s imports %s under a condition", user->path, name);
	s = mla_project_resolve(project, user, mla_str_c(name));
	if (!s.node)
		return mla_fix_refuse(fix, "%s imports a %s that was not found", user->path, name);
	if (!mla_str_is(s.node->name, name))
		return usable(fix, s.module, s.node, form);
	return own_helper(fix, s.module, form);
}

/* Does `from home import *` bring the name? */
static bool starred(mla_project *project, const mla_module *user, const mla_module *home)
{
	const mla_node *root = user->syntax.root;

	if (mla_module_binding(home, mla_str_c("__all__")))
		return false;
	for (uint32_t i = 0; i < root->n; i++)
		if (root->kid[i]->kind == MLA_N_IMPORT_FROM && root->kid[i]->n &&
		    mla_str_is(root->kid[i]->kid[0]->name, "*") &&
		    mla_project_import(project, user, root->kid[i]->name) == home)
			return true;
	return false;
}

/* The module that has the helper, or shall have it. */
static mla_module *home_of(mla_project *project, mla_module *user, const mla_latent *latent,
                           bool *found)
{
	mla_symbol s = mla_project_resolve(project, user, mla_str_c(name));

	if (!s.node && latent->maker && latent->n)
		s = mla_project_resolve_node(project, latent->up[0].init.owner.module,
		                             latent->maker);
	else if (s.node)
		return s.module;
	*found = s.node && s.node->kind == MLA_N_CLASS;
	return *found ? s.module : user;
}

bool mla_helper_require(mla_str *callee, mla_fix *fix, mla_project *project, mla_module *user,
                        const mla_node *function, const mla_latent *latent, mla_form form)
{
	const mla_node *binder = NULL, *before = NULL;
	uint32_t count = count_bindings(&binder, user);
	mla_module *home;
	bool found = true, insert;
	mla_str root;

	*callee = mla_str_c(name);
	if (is_local(function, *callee))
		return mla_fix_refuse(fix, "the name %s is local where the helper is needed", name);
	if (count > 1)
		return mla_fix_refuse(fix, "%s binds the name %s more than once", user->path, name);
	if (count == 1)
		return existing(fix, project, user, binder, latent, form);
	home = home_of(project, user, latent, &found);
	insert = count_bindings(&binder, home) == 0;
	if (!insert && !own_helper(fix, home, form))
		return false;
	if (insert && !(before = place_in_module(home)))
		return mla_fix_refuse(fix, "%s defines nothing to put the helper before",
		                      home->path);
	if (insert && before->has_error)
		return mla_fix_refuse(fix, "%s does not parse where the helper belongs",
		                      home->path);
	if (home != user && (insert || !starred(project, user, home)) &&
	    !mla_import_name(callee, &fix->refusal, &fix->edits, project, user, home,
	                     mla_str_c(name), class_name_in(user, latent)))
		return false;
	root = *callee;
	for (uint32_t i = 0; i < root.len; i++)
		if (root.ptr[i] == '.')
			root.len = i;
	if (is_local(function, root))
		return mla_fix_refuse(fix, "the name %.*s is local where the helper is needed",
		                      MLA_ARG(root));
	if (insert)
		insert_helper(&fix->edits, home, before, form);
	if (!found)
		say_not_found(fix, latent);
	return true;
}

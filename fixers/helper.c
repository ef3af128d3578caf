/* max_absorbed_queries(): written once beside the up-projection class. */
#include "fixers/helper.h"

#include "analyzer/str.h"
#include "fixers/import.h"

static const char name[] = "max_absorbed_queries";

/* Does a function of that name take r, n, v first, and a cached length where one is needed? */
static bool usable(const mla_node *function, mla_form form, const char **why)
{
	static const char *const sizes[] = {"kv_lora_rank", "qk_nope_head_dim", "v_head_dim"};
	const mla_node *list = mla_kid(function, 0);
	uint32_t n = list ? list->n : 0;

	*why = "a max_absorbed_queries with other parameters exists";
	for (uint32_t i = 0; i < 3; i++)
		if (i >= n || list->kid[i]->op || !mla_str_is(list->kid[i]->name, sizes[i]))
			return false;
	for (uint32_t i = 3; i < n; i++)
		if (!mla_kid(list->kid[i], 1) && !list->kid[i]->op)
			return false;
	*why = "the existing max_absorbed_queries takes no cached length";
	return form == MLA_FORM_GEOMETRY || (n > 3 && !list->kid[3]->op);
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
	mla_write_line(w, 2,
	               "return 1  # absorbed never loses here: keep the single-query behavior");
	if (cached) {
		mla_write_line(w, 1, "if cache_len is not None:");
		mla_write_line(w, 2, "rd = kv_lora_rank * d");
		mla_write_line(w, 2, "return max(1, rd * cache_len // (rd + denom * cache_len))");
	}
	mla_write_line(w, 1, "return max(1, kv_lora_rank * d // denom)");
}

/* The first line of a definition with its decorators and the comments that touch it. */
static uint32_t first_line(const mla_module *m, const mla_node *definition)
{
	uint32_t line = mla_text_line(m->text, definition->outer.start);

	while (line > 1) {
		mla_span above = mla_text_line_span(m->text, line - 1);
		mla_str text = mla_text_slice(m->text, above);

		if (!text.len || text.ptr[0] != '#')
			break;
		line--;
	}
	return line;
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
	mla_edits_add(e, m, (mla_span){at, at}, mla_writer_text(&w));
}

static const mla_node *top_level(const mla_node *n)
{
	while (n->parent && n->parent->kind != MLA_N_MODULE)
		n = n->parent;
	return n;
}

void mla_helper_require(mla_str *callee, mla_str *refusal, mla_edits *e, mla_project *project,
                        mla_module *user, const mla_node *anchor, const mla_latent *latent,
                        mla_form form)
{
	mla_symbol have = mla_project_resolve(project, user, mla_str_c(name)), class = {0};
	const mla_binding *there;
	mla_module *home = user;
	const mla_node *before = top_level(anchor);
	const char *why;

	if (have.node && have.node->kind == MLA_N_FUNCTION) {
		*callee = mla_str_c(name);
		if (!usable(have.node, form, &why))
			*refusal = mla_str_c(why);
		return;
	}
	if (latent->maker && latent->n)
		class = mla_project_resolve_node(project, latent->up[0].init.owner.module,
		                                 latent->maker);
	if (class.node && class.node->kind == MLA_N_CLASS) {
		home = class.module;
		before = top_level(class.node);
	}
	there = mla_module_binding(home, mla_str_c(name));
	if (there && there->node->kind == MLA_N_FUNCTION) {
		if (!usable(there->node, form, &why)) {
			*refusal = mla_str_c(why);
			return;
		}
	} else if (there) {
		*refusal = mla_arena_format(e->arena, "%s has another use of the name %s",
		                            home->path, name);
		return;
	} else {
		insert_helper(e, home, before, form);
	}
	mla_import_name(callee, refusal, e, project, user, home, mla_str_c(name),
	                latent->maker ? latent->maker->name : (mla_str){"", 0});
}

/*
 * What a commit says of itself: the defect, the sites, what was run and what was not. Numbers are
 * the engine's or follow from the sizes; nothing is claimed that was not run here.
 */
#include "cli/patch_letter.h"

#include "analyzer/str.h"

void mla_letter_paragraph(mla_letter *l, mla_str text)
{
	fputc('\n', l->to);
	mla_patch_fill(l->to, 0, text);
}

void mla_letter_list(mla_letter *l, mla_str heading)
{
	mla_letter_paragraph(l, heading);
	fputc('\n', l->to);
}

void mla_letter_item(mla_letter *l, mla_str text)
{
	fputs("- ", l->to);
	mla_patch_fill(l->to, 2, text);
}

static const mla_rule *rule_of(const mla_letter *l, const mla_fix *f)
{
	return mla_series_finding(l->s, f)->rule;
}

static uint32_t line_of(const mla_finding *f)
{
	return mla_text_line(f->module->text, f->span.start);
}

mla_str mla_letter_place(const mla_letter *l, const mla_finding *f)
{
	return mla_arena_format(l->arena, "%.*s:%u",
	                        MLA_ARG(mla_patch_line(l->arena, mla_str_c(f->module->path))),
	                        line_of(f));
}

static int index_of(const mla_rule *rule)
{
	int i = 0;

	while (mla_rules[i] != rule)
		i++;
	return i;
}

/* The rule of the commit's subject: the first in the list of rules, which has code before comments.
 */
static const mla_rule *main_rule(const mla_letter *l)
{
	int first = index_of(rule_of(l, l->c->fix[0]));

	for (uint32_t i = 1; i < l->c->n; i++) {
		int k = index_of(rule_of(l, l->c->fix[i]));

		first = k < first ? k : first;
	}
	return mla_rules[first];
}

/* With the end of the path that still fits, where the commit is that of a file. */
static mla_str subject(const mla_letter *l)
{
	enum { LONGEST = 71 };
	const mla_rule *rule = main_rule(l);
	mla_str base = mla_str_c(rule->commit_subject ? rule->commit_subject : rule->summary);
	mla_str path = {"", 0};

	if (l->s->scan->options->split == MLA_SPLIT_FILE)
		path = mla_patch_line(l->arena, mla_str_c(l->c->key));
	while (path.len && base.len + strlen(" in ") + path.len > LONGEST) {
		uint32_t n = 0;

		while (n < path.len && path.ptr[n] != '/')
			n++;
		n += n < path.len;
		path.ptr += n;
		path.len -= n;
	}
	base.len = base.len > LONGEST ? LONGEST : base.len;
	return mla_arena_format(l->arena, "%.*s%s%.*s", MLA_ARG(base), path.len ? " in " : "",
	                        MLA_ARG(path));
}

static void put_reasons(mla_letter *l)
{
	for (int r = 0; mla_rules[r]; r++)
		for (uint32_t i = 0; i < l->c->n; i++)
			if (rule_of(l, l->c->fix[i]) == mla_rules[r]) {
				const char *reason = mla_rules[r]->commit_reason;

				mla_letter_paragraph(
					l, reason ? mla_str_c(reason)
						  : mla_arena_format(l->arena, "%s.",
				                                     mla_rules[r]->summary));
				break;
			}
}

static void put_limits(mla_letter *l)
{
	if (mla_letter_uses(l, MLA_FORM_GEOMETRY))
		mla_letter_paragraph(
			l,
			mla_str_c("The limit is floor(r d / (2 r - d)) queries, d = n + v, taken "
		                  "from the layer's own r = kv_lora_rank, n = qk_nope_head_dim and "
		                  "v = v_head_dim: on a long cache, absorbing needs no more "
		                  "multiply-adds up to there."));
	if (mla_letter_uses(l, MLA_FORM_CACHE_LENGTH))
		mla_letter_paragraph(
			l,
			mla_str_c("The limit is floor(r d T / (r d + (2 r - d) T)) queries, d = n "
		                  "+ v, taken at each call from the cached length T with the new "
		                  "tokens and the layer's own r = kv_lora_rank, n = "
		                  "qk_nope_head_dim and v = v_head_dim: absorbing needs no more "
		                  "multiply-adds up to there."));
}

static void put_cold_cache(mla_letter *l)
{
	mla_letter_paragraph(
		l, mla_str_c("Cold cache: the limit is that of a long cache. With little or "
	                     "nothing cached, a chunk of up to that many tokens now absorbs as "
	                     "well, and does more multiply-adds than before. `mlalint patch "
	                     "--threshold cache-length` makes the form that takes the cached "
	                     "length into account."));
}

/* The lengths are compared for equality, so a trim in between makes them differ. */
static void put_trims(mla_letter *l)
{
	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_fix *f = l->c->fix[i];

		if (!f->pool || !f->pool->single || f->pool->follows_trim)
			continue;
		mla_letter_paragraph(
			l, mla_str_c("After a trim: where drafts were rejected and their tokens "
		                     "taken off the cache, it is no longer as long as the pool "
		                     "remembers, and the next step pools all keys again, as every "
		                     "step of several tokens did before. What gains is a step "
		                     "before which all drafts were accepted."));
		return;
	}
}

static void put_not_run(mla_letter *l)
{
	mla_letter_paragraph(
		l, mla_str_c(l->s->verdicts.v.n
	                             ? "Not run: a checkpoint, the framework itself, a GPU. No "
	                               "time was measured, and multiply-adds are not time."
	                             : "Nothing was run for this change: not the reference "
	                               "engine, a checkpoint, the framework or a GPU."));
}

static const char *why_left(const mla_fix *f)
{
	if (!f->edits.n)
		return "no fix";
	if (f->applicability == MLA_FIX_REJECTED)
		return "the fix was rejected";
	return f->applicability == MLA_FIX_SAFE ? "the fix overlaps another one"
	                                        : "the fix is not verified";
}

static bool is_made(const mla_letter *l, const mla_fix *f)
{
	for (uint32_t i = 0; i < l->s->commits.n; i++)
		for (uint32_t k = 0; k < l->s->commits.v[i].n; k++)
			if (l->s->commits.v[i].fix[k] == f)
				return true;
	return false;
}

/* Findings of this commit's kind that stay. */
static void put_left(mla_letter *l)
{
	bool first = true;

	for (uint32_t i = 0; i < l->s->tree->results.n; i++) {
		const mla_result *r = &l->s->tree->results.v[i];
		mla_str why = r->fix->edits.n ? r->fix->reason : r->fix->refusal;

		if (is_made(l, r->fix) || !mla_series_concerns(l->s, l->c, r->finding))
			continue;
		if (first) {
			mla_letter_list(l, mla_str_c("Found and left as it is:"));
		}
		first = false;
		mla_letter_item(l, mla_arena_format(l->arena, "%.*s: %s%s%.*s",
		                                    MLA_ARG(mla_letter_place(l, r->finding)),
		                                    why_left(r->fix), why.len ? ": " : "",
		                                    MLA_ARG(mla_patch_line(l->arena, why))));
	}
}

/* Files that may hold more of the same. */
static void put_unread(mla_letter *l)
{
	bool first = true;

	for (uint32_t i = 0; i < l->s->tree->tree->files.n; i++) {
		const mla_file *f = &l->s->tree->tree->files.v[i];

		if (f->state != MLA_FILE_FAILED && !f->doubtful)
			continue;
		if (first) {
			mla_letter_list(l, mla_str_c("Not analysed, or not all of it:"));
		}
		first = false;
		mla_letter_item(
			l,
			mla_arena_format(l->arena, "%.*s: %.*s",
		                         MLA_ARG(mla_patch_line(l->arena, mla_str_c(f->path))),
		                         MLA_ARG(mla_patch_line(l->arena, mla_str_c(f->reason)))));
	}
}

static void put_body(mla_letter *l)
{
	put_reasons(l);
	put_limits(l);
	mla_letter_places(l);
	mla_letter_evidence(l);
	if (mla_letter_uses(l, MLA_FORM_GEOMETRY))
		put_cold_cache(l);
	put_trims(l);
	mla_letter_notes(l);
	if (!main_rule(l)->about_suppressions)
		put_not_run(l);
	put_left(l);
	put_unread(l);
}

void mla_series_describe(mla_series *s)
{
	for (uint32_t i = 0; i < s->commits.n; i++) {
		mla_commit *c = &s->commits.v[i];
		mla_letter l = {.s = s, .c = c, .arena = s->scan->arena};
		char *text = NULL;
		size_t size = 0;

		l.to = open_memstream(&text, &size);
		put_body(&l);
		fclose(l.to);
		c->subject = subject(&l);
		c->body = mla_patch_message_clean(l.arena, (mla_str){text, (uint32_t)size});
		free(text);
	}
}

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

/* Does a fix of the commit insert this form of the threshold? */
static bool uses(const mla_letter *l, mla_form form)
{
	for (uint32_t i = 0; i < l->c->n; i++)
		if (l->c->fix[i]->site && l->c->fix[i]->form == form)
			return true;
	return false;
}

static const mla_rule *rule_of(const mla_letter *l, const mla_fix *f)
{
	return mla_series_finding(l->s, f)->rule;
}

static uint32_t count_sites(const mla_letter *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->c->n; i++)
		n += l->c->fix[i]->site != NULL;
	return n;
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

/* The rule of the commit's subject: one about code before one about comments. */
static const mla_rule *main_rule(const mla_letter *l)
{
	for (uint32_t i = 0; i < l->c->n; i++)
		if (!rule_of(l, l->c->fix[i])->about_suppressions)
			return rule_of(l, l->c->fix[i]);
	return rule_of(l, l->c->fix[0]);
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
	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_rule *rule = rule_of(l, l->c->fix[i]);
		bool said = false;

		for (uint32_t k = 0; k < i; k++)
			said |= rule_of(l, l->c->fix[k]) == rule;
		if (!said)
			mla_letter_paragraph(
				l, rule->commit_reason
					   ? mla_str_c(rule->commit_reason)
					   : mla_arena_format(l->arena, "%s.", rule->summary));
	}
}

static void put_limits(mla_letter *l)
{
	if (uses(l, MLA_FORM_GEOMETRY))
		mla_letter_paragraph(
			l,
			mla_str_c("The limit is floor(r d / (2 r - d)) queries, d = n + v, taken "
		                  "from the layer's own r = kv_lora_rank, n = qk_nope_head_dim and "
		                  "v = v_head_dim: on a long cache, absorbing needs no more "
		                  "multiply-adds up to there."));
	if (uses(l, MLA_FORM_CACHE_LENGTH))
		mla_letter_paragraph(
			l,
			mla_str_c("The limit is floor(r d T / (r d + (2 r - d) T)) queries, d = n "
		                  "+ v, taken at each call from the cached length T with the new "
		                  "tokens and the layer's own r = kv_lora_rank, n = "
		                  "qk_nope_head_dim and v = v_head_dim: absorbing needs no more "
		                  "multiply-adds up to there."));
}

/* A condition over many lines would make every row of a table that wide. */
static mla_str shorten(const mla_letter *l, mla_str s)
{
	enum { WIDEST = 60 };
	uint32_t n = 0;

	if (mla_text_width(s) <= WIDEST)
		return s;
	while (mla_text_width((mla_str){s.ptr, n + 1}) < WIDEST - 3)
		n++;
	while (n && ((unsigned char)s.ptr[n] & 0xC0) == 0x80)
		n--;
	return mla_arena_format(l->arena, "%.*s...", (int)n, s.ptr);
}

/* What a test is after the edits inside of it. */
static mla_str after(const mla_letter *l, const mla_fix *fix, const mla_module *m, mla_span span)
{
	mla_str bytes = mla_text_bytes(m->text), out = {"", 0};
	uint32_t at = span.start;

	for (uint32_t i = 0; i < fix->edits.n; i++) {
		const mla_file_edits *f = &fix->edits.file[i];

		for (uint32_t k = 0; f->module == m && k < f->n; k++) {
			mla_span e = f->v[k].span;

			if (e.start < at || e.end > span.end || e.start == e.end)
				continue;
			out = mla_arena_format(l->arena, "%.*s%.*s%.*s", MLA_ARG(out),
			                       (int)(e.start - at), bytes.ptr + at,
			                       MLA_ARG(f->v[k].text));
			at = e.end;
		}
	}
	out = mla_arena_format(l->arena, "%.*s%.*s", MLA_ARG(out), (int)(span.end - at),
	                       bytes.ptr + at);
	return shorten(l, mla_patch_line(l->arena, out));
}

static mla_str before(const mla_letter *l, const mla_test *t)
{
	mla_str text = mla_node_text(t->module->text, t->node);

	return shorten(l, mla_patch_line(l->arena, text));
}

/* Tests in one file that read the same, before and after, share a row. */
static void add_guards(mla_letter *l, mla_patch_table *table, uint32_t number, const mla_fix *fix,
                       const mla_str tail[3])
{
	const mla_site *s = fix->site;

	for (uint32_t i = 0, end; i < s->test_count; i = end) {
		const mla_module *m = s->test[i]->module;
		mla_str old = before(l, s->test[i]);
		mla_str new = after(l, fix, m, s->test[i]->node->span);
		mla_str where = mla_arena_format(
			l->arena, "%.*s:", MLA_ARG(mla_patch_line(l->arena, mla_str_c(m->path))));

		for (end = i; end < s->test_count; end++) {
			const mla_test *t = s->test[end];

			if (t->module != m || !mla_str_eq(before(l, t), old) ||
			    !mla_str_eq(after(l, fix, m, t->node->span), new))
				break;
			where = mla_arena_format(l->arena, "%.*s%s%u", MLA_ARG(where),
			                         end > i ? "," : "",
			                         mla_text_line(m->text, t->node->span.start));
		}
		if (i)
			mla_patch_cell(table, "%s", "");
		else
			mla_patch_cell(table, "%u", number);
		mla_patch_cell(table, "%.*s", MLA_ARG(where));
		mla_patch_cell(table, "%.*s", MLA_ARG(old));
		mla_patch_cell(table, "%.*s", MLA_ARG(new));
		for (int k = 0; k < 3; k++)
			mla_patch_cell(table, "%.*s", i ? 0 : (int)tail[k].len, tail[k].ptr);
	}
}

/* Limit, sizes and their source: as replayed; else as far as the source says them. */
static void sizes(const mla_letter *l, const mla_fix *fix, mla_str out[3])
{
	const mla_verdict *v = mla_series_verdict(l->s, fix);
	const mla_finding *f = mla_series_finding(l->s, fix);
	int64_t length = fix->form == MLA_FORM_GEOMETRY ? 0 : MLA_REPLAY_CACHE_LEN;
	mla_geometry g = v ? v->result.geometry : f->threshold.geometry;
	mla_source source = v ? v->result.source : f->threshold.source;
	uint32_t limit = v ? v->result.threshold : 0;

	if (!v && !f->threshold_known) {
		for (int i = 0; i < 3; i++)
			out[i] = mla_str_c("-");
		return;
	}
	/* A limit that was not observed follows from the sizes. */
	if (!limit)
		limit = mla_geometry_threshold(&g, length);
	out[0] = mla_arena_format(l->arena, "%u", limit);
	out[1] = mla_arena_format(l->arena, "%u/%u/%u", g.rank, g.nope, g.value);
	out[2] = mla_str_c(mla_source_name(source));
}

static void put_sites(mla_letter *l)
{
	mla_patch_table table = {.arena = l->arena, .align = "rlllrll"};
	static const char *const heading[] = {"#",     "site",  "before",    "after",
	                                      "limit", "r/n/v", "sizes from"};
	bool assumed = false;
	uint32_t number = 0;

	for (int i = 0; i < 7; i++)
		mla_patch_cell(&table, "%s", heading[i]);
	for (uint32_t i = 0; i < l->c->n; i++) {
		mla_str tail[3];

		if (!l->c->fix[i]->site)
			continue;
		sizes(l, l->c->fix[i], tail);
		assumed |= mla_str_is(tail[2], mla_source_name(MLA_SOURCE_ASSUMED));
		add_guards(l, &table, ++number, l->c->fix[i], tail);
	}
	mla_letter_paragraph(
		l, uses(l, MLA_FORM_CACHE_LENGTH)
			   ? mla_arena_format(l->arena,
	                                      "Sites, with their lines before this commit and the "
	                                      "limit at %d cached positions:",
	                                      MLA_REPLAY_CACHE_LEN)
			   : mla_str_c("Sites, with their lines before this commit:"));
	fputc('\n', l->to);
	mla_patch_table_put(l->to, &table);
	if (assumed)
		mla_letter_paragraph(
			l, mla_str_c("\"assumed\": the source gives no default for at least one "
		                     "size or setting; the usual one stands in for it here. The "
		                     "code uses the real sizes."));
}

/* What changes besides the sites: one list of comments, and one of code. */
static void put_others(mla_letter *l, bool comments, const char *heading)
{
	bool first = true;

	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_finding *f = mla_series_finding(l->s, l->c->fix[i]);

		if (l->c->fix[i]->site || f->rule->about_suppressions != comments)
			continue;
		if (first)
			mla_letter_list(l, mla_str_c(heading));
		first = false;
		mla_letter_item(l, mla_arena_format(l->arena, "%.*s: %.*s",
		                                    MLA_ARG(mla_letter_place(l, f)),
		                                    MLA_ARG(mla_patch_line(l->arena, f->message))));
	}
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
	if (count_sites(l)) {
		put_limits(l);
		put_sites(l);
	}
	put_others(l, false, "Other places, with their lines before this commit:");
	put_others(l, true, "Comments only:");
	mla_letter_evidence(l);
	if (uses(l, MLA_FORM_GEOMETRY))
		put_cold_cache(l);
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

/*
 * The places that a commit changes, as tables of its message. Every fix has a number, by which the
 * evidence names it; sites come first, then pools, then comments.
 */
#include "cli/patch_letter.h"

#include "analyzer/str.h"

typedef enum { SITE, POOL, COMMENT } kind;

/* Columns for a text in a table, and for one on lines of its own. */
enum { SIDE_BY_SIDE = 60, LONGEST = 2000 };

static kind kind_of(const mla_letter *l, uint32_t i)
{
	return l->c->fix[i]->site ? SITE : l->c->fix[i]->pool ? POOL : COMMENT;
}

uint32_t mla_letter_number(const mla_letter *l, uint32_t i)
{
	uint32_t number = 1;

	for (uint32_t k = 0; k < l->c->n; k++)
		number +=
			kind_of(l, k) < kind_of(l, i) || (kind_of(l, k) == kind_of(l, i) && k < i);
	return number;
}

/* Does a fix of the commit insert this form of the threshold? */
bool mla_letter_uses(const mla_letter *l, mla_form form)
{
	for (uint32_t i = 0; i < l->c->n; i++)
		if (l->c->fix[i]->site && l->c->fix[i]->form == form)
			return true;
	return false;
}

/* A condition over many lines would make every row of a table that wide. */
static mla_str shorten(const mla_letter *l, mla_str s, uint32_t widest)
{
	uint32_t n = 0;

	if (mla_text_width(s) <= widest)
		return s;
	while (mla_text_width((mla_str){s.ptr, n + 1}) < widest - 3)
		n++;
	while (n && ((unsigned char)s.ptr[n] & 0xC0) == 0x80)
		n--;
	return mla_arena_format(l->arena, "%.*s...", (int)n, s.ptr);
}

/* What a place is after the edits inside of it, and those right behind it. */
static mla_str after(const mla_letter *l, const mla_fix *fix, const mla_module *m, mla_span span)
{
	mla_str bytes = mla_text_bytes(m->text), out = {"", 0};
	uint32_t at = span.start;

	for (uint32_t i = 0; i < fix->edits.n; i++) {
		const mla_file_edits *f = &fix->edits.file[i];

		for (uint32_t k = 0; f->module == m && k < f->n; k++) {
			mla_span e = f->v[k].span;

			/* What is inserted before it belongs to another statement. */
			if (e.end <= at || e.start > span.end)
				continue;
			if (e.start <= span.start && e.end >= span.end)
				return mla_patch_line(l->arena, f->v[k].text);
			if (e.start < at || e.end > span.end)
				continue;
			out = mla_arena_format(l->arena, "%.*s%.*s%.*s", MLA_ARG(out),
			                       (int)(e.start - at), bytes.ptr + at,
			                       MLA_ARG(f->v[k].text));
			at = e.end;
		}
	}
	out = mla_arena_format(l->arena, "%.*s%.*s", MLA_ARG(out), (int)(span.end - at),
	                       bytes.ptr + at);
	return mla_patch_line(l->arena, out);
}

static mla_str before(const mla_letter *l, const mla_test *t)
{
	mla_str text = mla_node_text(t->module->text, t->node);

	return mla_patch_line(l->arena, text);
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
		mla_patch_cell(table, "%.*s", MLA_ARG(shorten(l, old, SIDE_BY_SIDE)));
		if (mla_str_eq(old, new))
			mla_patch_cell(table, "unchanged");
		else
			mla_patch_cell(table, "%.*s", MLA_ARG(shorten(l, new, SIDE_BY_SIDE)));
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

	for (int i = 0; i < 7; i++)
		mla_patch_cell(&table, "%s", heading[i]);
	for (uint32_t i = 0; i < l->c->n; i++) {
		mla_str tail[3];

		if (kind_of(l, i) != SITE)
			continue;
		sizes(l, l->c->fix[i], tail);
		assumed |= mla_str_is(tail[2], mla_source_name(MLA_SOURCE_ASSUMED));
		add_guards(l, &table, mla_letter_number(l, i), l->c->fix[i], tail);
	}
	mla_letter_paragraph(
		l, mla_letter_uses(l, MLA_FORM_CACHE_LENGTH)
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

/* One of the two texts of a place, in full: what differs may be at the end of a long condition. */
static void put_text(mla_letter *l, const char *which, mla_str text)
{
	enum { HANGING = 15 };

	fprintf(l->to, "       %-8s", which);
	mla_patch_fill(l->to, HANGING, text);
}

static void put_place(mla_letter *l, uint32_t i)
{
	const mla_fix *fix = l->c->fix[i];
	const mla_finding *f = mla_series_finding(l->s, fix);
	mla_span span = fix->pool ? fix->pool->gate->span : f->span;
	mla_str old = mla_patch_line(l->arena, mla_text_slice(f->module->text, span));
	mla_str new = after(l, fix, f->module, span);

	fprintf(l->to, "    %u  %.*s\n", mla_letter_number(l, i), MLA_ARG(mla_letter_place(l, f)));
	put_text(l, "before", shorten(l, old, LONGEST));
	put_text(l, "after", new.len ? shorten(l, new, LONGEST) : mla_str_c("removed"));
}

static void put_places(mla_letter *l, kind which, const char *title)
{
	bool first = true;

	for (uint32_t i = 0; i < l->c->n; i++) {
		if (kind_of(l, i) != which)
			continue;
		if (first)
			mla_letter_list(l, mla_str_c(title));
		first = false;
		put_place(l, i);
	}
}

void mla_letter_places(mla_letter *l)
{
	for (uint32_t i = 0; i < l->c->n; i++)
		if (kind_of(l, i) == SITE) {
			put_sites(l);
			break;
		}
	put_places(l, POOL,
	           "Conditions for extending pooled keys, with their lines before this commit:");
	put_places(l, COMMENT, "Comments, with their lines before this commit:");
}

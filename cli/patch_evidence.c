/* The evidence in a commit message: what the engine measured, and what it did not say. */
#include "cli/patch_letter.h"

#include "analyzer/str.h"

#include <math.h>

/* The verdict, where the engine said yes. */
static const mla_site_verdict *verified(const mla_letter *l, const mla_fix *f)
{
	const mla_verdict *v = f->site ? mla_series_verdict(l->s, f) : NULL;

	return v && v->result.outcome == MLA_VERIFIED ? &v->result : NULL;
}

/* The worst of a site's cases, and what they span. */
typedef struct {
	uint32_t width[MLA_SITE_CASES], narrow, alone[MLA_SITE_CASES], f64_only;
	uint32_t cached[MLA_SITE_CASES];
	bool batch[3], quantised, sparse; /* 1, 2, left-padded */
	double max_abs, ulp, rms_rel, rel_f64;
	uint32_t single, single_same; /* cases of one query; of those, both on the same path */
} worst;

static void add_case(worst *w, const mla_site_case *c, uint32_t i)
{
	w->cached[i] = c->cached;
	w->batch[c->padded ? 2 : c->batch > 1] = true;
	w->quantised |= c->quantised;
	w->sparse |= c->topk != 0;
	w->rel_f64 = fmax(w->rel_f64, c->rel_f64);
	if (c->width == 1) {
		w->single++;
		w->single_same += c->before == c->after;
	}
	if (!c->has_bf16) {
		w->alone[w->f64_only++] = c->width;
		return;
	}
	w->width[w->narrow++] = c->width;
	w->max_abs = fmax(w->max_abs, c->max_abs);
	w->ulp = fmax(w->ulp, c->ulp);
	w->rms_rel = fmax(w->rms_rel, c->rms_rel);
}

static worst worst_of(const mla_site_verdict *v)
{
	worst w = {0};

	for (uint32_t i = 0; i < v->case_count; i++)
		add_case(&w, &v->cases[i], i);
	return w;
}

static void add_verified(mla_letter *l, mla_patch_table *table, uint32_t number,
                         const mla_site_verdict *v)
{
	worst w = worst_of(v);
	mla_str wide = mla_patch_ranges(l->arena, w.alone, w.f64_only);

	mla_patch_cell(table, "%u", number);
	mla_patch_cell(table, "%s", mla_outcome_name(v->outcome));
	mla_patch_cell(table, "%.*s", MLA_ARG(mla_patch_ranges(l->arena, w.width, w.narrow)));
	mla_patch_cell(table, "%.*s", MLA_ARG(wide));
	mla_patch_cell(table, "%.*s", MLA_ARG(mla_patch_ranges(l->arena, w.cached, v->case_count)));
	mla_patch_cell(table, "%s%s%s", w.batch[0] ? "1" : "", w.batch[1] ? ",2" : "",
	               w.batch[2] ? ",2p" : "");
	mla_patch_cell(table, "%.2e", w.max_abs);
	mla_patch_cell(table, "%.2f", w.ulp);
	mla_patch_cell(table, "%.2e", w.rms_rel);
	mla_patch_cell(table, "%.2e", w.rel_f64);
}

/* What holds of all verified sites together. */
typedef struct {
	double max_abs, ulp, rms_rel, rel_f64, low, high; /* low, high: RMS at width 8 to width 2 */
	uint32_t single, single_same, sites, bits;
	bool quantised, sparse;
} summary;

static summary summarise(const mla_letter *l)
{
	summary s = {.low = INFINITY};

	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_site_verdict *v = verified(l, l->c->fix[i]);
		worst w;

		if (!v)
			continue;
		w = worst_of(v);
		s.sites++;
		s.bits = v->bits;
		s.max_abs = fmax(s.max_abs, w.max_abs);
		s.ulp = fmax(s.ulp, w.ulp);
		s.rms_rel = fmax(s.rms_rel, w.rms_rel);
		s.rel_f64 = fmax(s.rel_f64, w.rel_f64);
		s.single += w.single;
		s.single_same += w.single_same;
		s.quantised |= w.quantised;
		s.sparse |= w.sparse;
		if (v->rms_ratio > 0) {
			s.low = fmin(s.low, v->rms_ratio);
			s.high = fmax(s.high, v->rms_ratio);
		}
	}
	return s;
}

static const char *interval(mla_arena *arena, double low, double high)
{
	mla_str a = mla_arena_format(arena, "%.2f", low), b = mla_arena_format(arena, "%.2f", high);

	return mla_str_eq(a, b) ? a.ptr : mla_arena_format(arena, "%s to %s", a.ptr, b.ptr).ptr;
}

static void put_differences(mla_letter *l, const summary *s)
{
	mla_str ratio = {"", 0}, same = {"", 0};

	if (s->high > 0)
		ratio = mla_arena_format(l->arena,
		                         " The RMS error at 8 queries is %s times that at 2.",
		                         interval(l->arena, s->low, s->high));
	if (s->single && s->single == s->single_same)
		same = mla_arena_format(l->arena,
		                        " At one query the output was bit-identical before and "
		                        "after in all %u cases.",
		                        s->single);
	mla_letter_paragraph(
		l,
		mla_arena_format(
			l->arena,
			"Not bit-identical at two or more queries: the two paths multiply in "
			"another order. The largest differences in bf16 are %.2e absolute, %.2f "
			"ULP and %.2e RMS relative; in f64 %.2e relative.%.*s%.*s",
			s->max_abs, s->ulp, s->rms_rel, s->rel_f64, MLA_ARG(ratio), MLA_ARG(same)));
}

/* Who computed: f64 is always the oracle. */
static const char *engine_of(const mla_letter *l)
{
	const mla_replay_device *d = &l->s->verdicts.device;

	if (strcmp(d->kind, "cpu") == 0)
		return "its reference engine on the CPU";
	return mla_arena_format(l->arena, "its reference engine; bf16 on %s", d->label).ptr;
}

static void put_verified(mla_letter *l)
{
	static const char *const heading[] = {"#",     "verdict", "widths", "f64 only", "cached",
	                                      "batch", "max abs", "ULP",    "RMS rel",  "f64 rel"};
	mla_patch_table table = {.arena = l->arena, .align = "rlllllrrrr"};
	summary s = summarise(l);

	if (!s.sites)
		return;
	for (int i = 0; i < 10; i++)
		mla_patch_cell(&table, "%s", heading[i]);
	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_site_verdict *v = verified(l, l->c->fix[i]);

		if (v)
			add_verified(l, &table, mla_letter_number(l, i), v);
	}
	mla_letter_paragraph(
		l,
		mla_arena_format(
			l->arena,
			"Verification (mlalint " MLA_VERSION
			", %s): each method was executed from its source before and after this "
			"change, "
			"with random weights and inputs, the sizes above and few heads, in f64 and "
			"in bf16 with %u-bit up-projections. The table has the largest difference "
			"of a site after this change from its materialised path; 2p is a "
			"left-padded batch of 2. The limits of these sites are those observed.%s%s",
			engine_of(l), s.bits, s.quantised ? " Quantised caches were run too." : "",
			s.sparse ? " Sparse selection was run both dropping rows and not." : ""));
	fputc('\n', l->to);
	mla_patch_table_put(l->to, &table);
	put_differences(l, &s);
}

static const mla_pool_verdict *verified_pool(const mla_letter *l, const mla_fix *f)
{
	const mla_verdict *v = f->pool ? mla_series_verdict(l->s, f) : NULL;

	return v && v->pool.outcome == MLA_VERIFIED ? &v->pool : NULL;
}

static void add_pool(mla_letter *l, mla_patch_table *table, uint32_t number,
                     const mla_pool_verdict *v)
{
	uint32_t width[MLA_POOL_CASES], trims = 0, most = 0, scratch = 0, cached = 0;
	double ulp = 0;

	for (uint32_t i = 0; i < v->case_count; i++) {
		const mla_pool_case *c = &v->cases[i];

		width[i] = c->width;
		trims += c->trimmed != 0;
		ulp = fmax(ulp, c->ulp);
		if (c->trimmed || c->cached < cached)
			continue;
		cached = c->cached;
		most = c->windows;
		scratch = c->scratch;
	}
	mla_patch_cell(table, "%u", number);
	mla_patch_cell(table, "%s", mla_outcome_name(v->outcome));
	mla_patch_cell(table, "%.*s", MLA_ARG(mla_patch_ranges(l->arena, width, v->case_count)));
	mla_patch_cell(table, "%u", v->case_count);
	mla_patch_cell(table, "%u", trims);
	mla_patch_cell(table, "%u of %u at %u", most, scratch, cached);
	mla_patch_cell(table, "%.2f", ulp);
}

static void put_pools(mla_letter *l)
{
	static const char *const heading[] = {"#",       "verdict",        "new tokens", "calls",
	                                      "trimmed", "windows pooled", "ULP"};
	mla_patch_table table = {.arena = l->arena, .align = "rllrrlr"};

	for (int i = 0; i < 7; i++)
		mla_patch_cell(&table, "%s", heading[i]);
	for (uint32_t i = 0; i < l->c->n; i++)
		if (verified_pool(l, l->c->fix[i]))
			add_pool(l, &table, mla_letter_number(l, i),
			         verified_pool(l, l->c->fix[i]));
	if (table.cell.n == 7) {
		mla_vec_free(&table.cell);
		return;
	}
	mla_letter_paragraph(
		l, mla_str_c("Verification of the pools (mlalint " MLA_VERSION
	                     ", its reference engine on the CPU, f32): each method was executed "
	                     "from its source, call after call on one cache, after this change "
	                     "against pooling from scratch; before some calls the cache was "
	                     "trimmed. All that is kept and returned agreed. The table has how "
	                     "many windows the longest call without a trim pooled, of how many at "
	                     "which length, and the largest difference of pooled keys:"));
	fputc('\n', l->to);
	mla_patch_table_put(l->to, &table);
}

static void put_unverified(mla_letter *l)
{
	bool first = true;

	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_fix *f = l->c->fix[i];
		mla_str why = mla_patch_line(l->arena, f->reason);

		if (f->applicability == MLA_FIX_SAFE)
			continue;
		if (first)
			mla_letter_list(l,
			                mla_str_c("NOT verified; here the change is an argument, "
			                          "not a measurement:"));
		first = false;
		mla_letter_item(
			l, mla_arena_format(l->arena, "%u: %.*s", mla_letter_number(l, i),
		                            MLA_ARG(why.len ? why : mla_str_c("not replayed"))));
	}
}

/* How far two notes agree, up to a blank. */
static uint32_t shared(const char *a, const char *b)
{
	uint32_t n = 0, word = 0;

	for (; a[n] && a[n] == b[n]; n++)
		if (a[n] == ' ')
			word = n;
	return word;
}

static bool has_note(const mla_site_verdict *v, const char *note)
{
	for (uint32_t i = 0; v && i < v->notes; i++)
		if (strcmp(v->note[i], note) == 0)
			return true;
	return false;
}

/* The numbers of the sites with this note; empty when the list was printed at an earlier site. */
static mla_str numbers(const mla_letter *l, uint32_t first, const char *note)
{
	uint32_t *list = mla_arena_array(l->arena, l->c->n, sizeof(*list)), n = 0;

	for (uint32_t i = 0; i < l->c->n; i++) {
		if (!has_note(verified(l, l->c->fix[i]), note))
			continue;
		if (i < first)
			return (mla_str){"", 0};
		list[n++] = mla_letter_number(l, i);
	}
	return mla_patch_ranges(l->arena, list, n);
}

/* What the engine has to say of each site; of several notes that begin alike, the first. */
void mla_letter_notes(mla_letter *l)
{
	enum { ALIKE = 32 };
	bool first = true;

	for (uint32_t i = 0; i < l->c->n; i++) {
		const mla_site_verdict *v = verified(l, l->c->fix[i]);

		for (uint32_t k = 0, end; v && k < v->notes; k = end) {
			mla_str at = numbers(l, i, v->note[k]);

			end = k + 1;
			while (end < v->notes && shared(v->note[k], v->note[end]) >= ALIKE)
				end++;
			if (!at.len)
				continue;
			if (first) {
				mla_letter_list(l, mla_str_c("Notes, by site:"));
			}
			first = false;
			mla_letter_item(
				l, mla_arena_format(
					   l->arena, "%.*s: %.*s%s", MLA_ARG(at),
					   MLA_ARG(mla_patch_line(l->arena, mla_str_c(v->note[k]))),
					   end > k + 1 ? " (and others like it)" : ""));
		}
	}
}

void mla_letter_evidence(mla_letter *l)
{
	put_verified(l);
	put_pools(l);
	put_unverified(l);
}

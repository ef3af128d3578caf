/* The tables of bench. */
#include "cli/bench.h"

/* What a kind calls its two sides and its columns. */
static const struct {
	const char *what, *width, *side[2], *choice;
} words[MLA_BENCH_KINDS] = {
	[MLA_BENCH_ATTENTION] = {"attention of one layer",
                                 "L",
                                 {"materialised", "absorbed"},
                                 "threshold"},
	[MLA_BENCH_POOL] = {"pooling of one indexer, windows of 4 rows of 128",
                            "S",
                            {"stock", "suffix only"},
                            "both run"},
	[MLA_BENCH_SPARSE] = {"attention of one sparse layer",
                              "L",
                              {"stock", "patched"},
                              "both run"},
};

static void head(FILE *to, const mla_bench_report *r)
{
	const mla_bench_spec *s = &r->spec;

	fprintf(to, "%s", words[s->kind].what);
	if (s->kind != MLA_BENCH_POOL)
		fprintf(to, ", %u/%u/%u/%u, %u heads", s->geometry.rank, s->geometry.nope,
		        s->geometry.rope, s->geometry.value, s->heads);
	if (s->kind == MLA_BENCH_SPARSE)
		fprintf(to, ", top-k %u", s->top_k);
	fprintf(to, "; %s", r->backend);
	if (r->threads)
		fprintf(to, ", %u thread%s", r->threads, r->threads == 1 ? "" : "s");
	fprintf(to,
	        "\nmilliseconds: median of %u or more (quartile-quartile); ratio: median of pairs "
	        "(95 %% interval)%s\n",
	        r->effort.samples, r->interrupted ? "; interrupted" : "");
}

static void put_ms(FILE *to, const mla_bench_stats *s)
{
	char text[80];

	snprintf(text, sizeof(text), "%.4g (%.4g-%.4g)", s->median, s->q1, s->q3);
	fprintf(to, "  %-28s", text);
}

/* Four digits, but no exponent for large ones. */
static void put_ratio(FILE *to, const mla_bench_paired *r)
{
	double m = r->stats.median;
	int digits = m < 10 ? 3 : m < 100 ? 2 : m < 1000 ? 1 : 0;
	char text[80];

	snprintf(text, sizeof(text), "%.*f (%.*f-%.*f)", digits, m, digits, r->low, digits,
	         r->high);
	fprintf(to, "  %-24s", text);
}

static const char *choice(const mla_bench_point *p, const mla_bench_length *l, mla_bench_kind kind)
{
	if (mla_bench_same(p))
		return mla_bench_arm_name(p->arm[0]);
	if (kind == MLA_BENCH_ATTENTION)
		return p->width <= l->threshold ? "absorbed" : "materialised";
	return "";
}

static void row(FILE *to, const mla_bench_point *p, const mla_bench_length *l, mla_bench_kind kind)
{
	const char *what = choice(p, l, kind);
	int ahead = mla_bench_ahead(p);

	fprintf(to, "%6u", p->width);
	put_ms(to, &p->ms[1]);
	put_ms(to, &p->ms[0]);
	put_ratio(to, &p->ratio);
	fprintf(to, *what ? "  %-13s%s\n" : "  %s%s\n",
	        mla_bench_same(p) ? "same arm"
	        : ahead < 0       ? "-"
	                          : words[kind].side[ahead],
	        what);
}

static bool listed(const mla_bench_report *r, const mla_bench_point *p)
{
	return p->measured && !mla_bench_second(p) &&
	       !(r->spec.kind == MLA_BENCH_ATTENTION && mla_bench_same(p));
}

static void crossover(FILE *to, const mla_bench_length *l)
{
	fprintf(to, "measured: ");
	if (l->absorbed_to && l->materialised_from)
		fprintf(to, "absorbed is ahead up to %u, materialised from %u", l->absorbed_to,
		        l->materialised_from);
	else if (l->absorbed_to)
		fprintf(to, "absorbed is ahead up to %u", l->absorbed_to);
	else if (l->materialised_from)
		fprintf(to, "materialised is ahead from %u", l->materialised_from);
	else
		fprintf(to, "neither is clearly ahead");
	fprintf(to, "; the formula's threshold: %u\n", l->threshold);
}

static void validity(FILE *to, const mla_bench_length *l)
{
	if (l->has_same)
		fprintf(to, "the same arm twice: %.2f %% apart (+-%.2f %%): %s\n", l->apart * 100,
		        l->spread * 50, l->valid ? "valid" : "INVALID (more than 2 %)");
}

static void table(FILE *to, const mla_bench_report *r, const mla_bench_length *l)
{
	mla_bench_kind kind = r->spec.kind;

	fprintf(to, "\nT = %u", l->cached);
	if (kind == MLA_BENCH_ATTENTION)
		fprintf(to, ": threshold %u for this length, %u for any",
		        mla_geometry_threshold(&r->spec.geometry, l->cached),
		        mla_geometry_threshold(&r->spec.geometry, 0));
	fprintf(to, "\n%6s  %-28s  %-28s  %-24s  %-13s%s\n", words[kind].width, words[kind].side[1],
	        words[kind].side[0], "ratio", "ahead", words[kind].choice);
	for (uint32_t i = 0; i < r->n; i++)
		if (r->points[i].cached == l->cached && listed(r, &r->points[i]))
			row(to, &r->points[i], l, kind);
	if (kind == MLA_BENCH_ATTENTION)
		crossover(to, l);
	validity(to, l);
}

static void put_more(FILE *to, const mla_bench_paired *p)
{
	char text[80];

	snprintf(text, sizeof(text), "%.4g (%.4g-%.4g)", p->stats.median, p->low, p->high);
	fprintf(to, "  %-28s", text);
}

/* Lengths at which only the second query was measured say nothing else, but that it is valid. */
static void second_query(FILE *to, const mla_bench_lengths *lengths)
{
	fprintf(to,
	        "\nwhat the second query costs (L = 2 minus L = 1), milliseconds: median of pairs "
	        "(95 %% interval)\n%8s  %-28s  %-28s  same arm twice\n",
	        "T", "stock", "patched");
	for (uint32_t i = 0; i < lengths->n; i++) {
		const mla_bench_length *l = &lengths->v[i];

		if (!l->has_second)
			continue;
		fprintf(to, "%8u", l->cached);
		put_more(to, &l->second[0]);
		put_more(to, &l->second[1]);
		fprintf(to, "  %.2f %% apart (+-%.2f %%)%s\n", l->apart * 100, l->spread * 50,
		        l->valid ? "" : ": INVALID");
	}
}

void mla_bench_text(FILE *to, const mla_bench_report *r)
{
	mla_bench_lengths lengths = {0};
	bool second = false;

	mla_bench_report_lengths(&lengths, r);
	head(to, r);
	for (uint32_t i = 0; i < lengths.n; i++) {
		second |= lengths.v[i].has_second;
		if (r->spec.kind != MLA_BENCH_ATTENTION || lengths.v[i].swept > 1)
			table(to, r, &lengths.v[i]);
	}
	if (second && r->spec.kind == MLA_BENCH_ATTENTION)
		second_query(to, &lengths);
	if (!mla_bench_valid(r->points, r->n))
		fprintf(to, "\nINVALID: the same arm twice is more than 2 %% apart, or known no "
		            "better than that; the machine was too restless, so trust no number "
		            "above\n");
	mla_vec_free(&lengths);
}

/* Which charts a run makes: one for each cached length swept, or for each width over lengths. */
#include "cli/bench.h"

#include "cli/svg.h"

typedef MLA_VEC(mla_chart) chart_list;

static void add(mla_chart_series *s, double x, const mla_bench_stats *ms)
{
	mla_vec_push(&s->points, ((mla_chart_point){x, ms->median, ms->q1, ms->q3}));
}

static mla_chart *new_chart(chart_list *list, const char *stock, const char *patched)
{
	mla_chart c = {.n_series = 2, .series = {{.name = stock}, {.name = patched}}};

	snprintf(c.y_label, sizeof(c.y_label),
	         "milliseconds, median; bars from quartile to quartile; both axes logarithmic");
	mla_vec_push(list, c);
	return &list->v[list->n - 1];
}

static void sizes(char *out, size_t size, const mla_bench_report *r)
{
	const mla_geometry *g = &r->spec.geometry;

	snprintf(out, size, "%u/%u/%u/%u, %u heads, %s", g->rank, g->nope, g->rope, g->value,
	         r->spec.heads, r->backend);
}

static void sweep(chart_list *list, const mla_bench_report *r, const mla_bench_length *l)
{
	mla_chart *c = new_chart(list, "materialised", "absorbed");
	char what[112];

	sizes(what, sizeof(what), r);
	snprintf(c->title, sizeof(c->title), "%u cached positions: %.95s", l->cached, what);
	snprintf(c->x_label, sizeof(c->x_label), "queries in a step");
	for (uint32_t i = 0; i < r->n; i++)
		for (int side = 0; side < 2; side++)
			if (r->points[i].cached == l->cached && r->points[i].measured &&
			    !mla_bench_same(&r->points[i]) && !mla_bench_second(&r->points[i]))
				add(&c->series[side], r->points[i].width, &r->points[i].ms[side]);
	c->mark[0].x = l->threshold;
	snprintf(c->mark[0].label, sizeof(c->mark[0].label), "threshold %u", l->threshold);
	c->n_marks = 1;
}

static void second_query(chart_list *list, const mla_bench_report *r,
                         const mla_bench_lengths *lengths)
{
	mla_chart *c = new_chart(list, "stock", "patched");
	char what[112];

	sizes(what, sizeof(what), r);
	snprintf(c->title, sizeof(c->title), "The second query: %.100s", what);
	snprintf(c->y_label, sizeof(c->y_label),
	         "milliseconds, L = 2 minus L = 1, median; bars: 95 %% interval; both axes "
	         "logarithmic");
	snprintf(c->x_label, sizeof(c->x_label), "cached positions");
	for (uint32_t i = 0; i < lengths->n; i++)
		for (int side = 0; side < 2; side++)
			if (lengths->v[i].has_second) {
				const mla_bench_paired *p = &lengths->v[i].second[side];

				mla_vec_push(&c->series[side].points,
				             ((mla_chart_point){lengths->v[i].cached,
				                                p->stats.median, p->low, p->high}));
			}
}

static bool seen_before(const mla_bench_report *r, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (r->points[i].measured && r->points[i].width == r->points[at].width)
			return true;
	return false;
}

/* Pooling and sparse attention: a width over the cached lengths. */
static void over_lengths(chart_list *list, const mla_bench_report *r, uint32_t width)
{
	bool pool = r->spec.kind == MLA_BENCH_POOL;
	mla_chart *c = new_chart(list, "stock", pool ? "suffix only" : "patched");
	char what[112];

	sizes(what, sizeof(what), r);
	snprintf(c->title, sizeof(c->title), "%u new token%s: %.90s", width, width == 1 ? "" : "s",
	         pool ? r->backend : what);
	snprintf(c->x_label, sizeof(c->x_label), "cached positions");
	for (uint32_t i = 0; i < r->n; i++)
		for (int side = 0; side < 2; side++)
			if (r->points[i].width == width && r->points[i].measured)
				add(&c->series[side], r->points[i].cached, &r->points[i].ms[side]);
	if (pool)
		return;
	c->mark[0].x = r->spec.top_k;
	snprintf(c->mark[0].label, sizeof(c->mark[0].label), "top-k %u", r->spec.top_k);
	c->n_marks = 1;
}

void mla_bench_plot(FILE *to, const mla_bench_report *r)
{
	bool attention = r->spec.kind == MLA_BENCH_ATTENTION, second = false;
	mla_bench_lengths lengths = {0};
	chart_list charts = {0};

	mla_bench_report_lengths(&lengths, r);
	for (uint32_t i = 0; i < lengths.n && attention; i++) {
		second |= lengths.v[i].has_second;
		if (lengths.v[i].swept > 1)
			sweep(&charts, r, &lengths.v[i]);
	}
	if (second)
		second_query(&charts, r, &lengths);
	for (uint32_t i = 0; i < r->n && !attention; i++)
		if (r->points[i].measured && !seen_before(r, i))
			over_lengths(&charts, r, r->points[i].width);
	if (!charts.n)
		new_chart(&charts, "stock", "patched");
	mla_svg_write(to, charts.v, charts.n);
	for (uint32_t i = 0; i < charts.n; i++)
		for (int side = 0; side < 2; side++)
			mla_vec_free(&charts.v[i].series[side].points);
	mla_vec_free(&charts);
	mla_vec_free(&lengths);
}

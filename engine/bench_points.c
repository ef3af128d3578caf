/* Which points a run measures, and how much work each is. */
#include "engine/bench.h"

#include <stdlib.h>

#include "analyzer/vec.h"

typedef MLA_VEC(mla_bench_point) point_list;
typedef MLA_VEC(uint32_t) number_list;

/* Keeps the list ascending and without repetitions. */
static void insert(number_list *list, uint32_t value)
{
	uint32_t at = 0;

	while (at < list->n && list->v[at] < value)
		at++;
	if (at < list->n && list->v[at] == value)
		return;
	mla_vec_push(list, value);
	for (uint32_t i = list->n - 1; i > at; i--)
		list->v[i] = list->v[i - 1];
	list->v[at] = value;
}

static void add_lengths(number_list *out, const mla_bench_spec *spec)
{
	static const uint32_t usual[MLA_BENCH_KINDS][3] = {
		[MLA_BENCH_ATTENTION] = {2048, 8192},
		[MLA_BENCH_POOL] = {8192, 32768, 131072},
	};

	for (uint32_t i = 0; i < spec->n_cached; i++)
		insert(out, spec->cached[i]);
	if (spec->n_cached)
		return;
	for (int i = 0; i < 3 && usual[spec->kind][i]; i++)
		insert(out, usual[spec->kind][i]);
	/* Two lengths below the budget, the budget, two above it. */
	for (int i = -2; i <= 2 && spec->kind == MLA_BENCH_SPARSE; i++)
		insert(out, i < 0 ? spec->top_k >> -i : spec->top_k << i);
}

/*
 * The steps of speculative decoding, powers of two up to the threshold, and beyond it in steps fine
 * enough to say between which widths the arms cross.
 */
static void add_widths(number_list *out, const mla_bench_spec *spec, uint32_t cached)
{
	uint32_t threshold;

	if (spec->kind != MLA_BENCH_ATTENTION) {
		for (uint32_t w = 1; w <= 8 && w <= cached; w = w < 4 ? w + 1 : 2 * w)
			insert(out, w);
		return;
	}
	threshold = mla_geometry_threshold(&spec->geometry, cached);
	for (uint32_t w = 1; w <= 5; w++)
		insert(out, w);
	for (uint32_t w = 8; w < threshold; w *= 2)
		insert(out, w);
	for (uint32_t quarter = 4; quarter <= 8; quarter++)
		insert(out, (uint32_t)((uint64_t)threshold * quarter / 4));
	insert(out, threshold + 1);
	while (out->n && out->v[out->n - 1] > cached)
		out->n--;
}

static mla_bench_point point(const mla_bench_spec *spec, uint32_t cached, uint32_t width)
{
	mla_bench_point p = {
		.cached = cached,
		.width = width,
		.arm = {MLA_BENCH_MATERIALISED, MLA_BENCH_ABSORBED},
	};

	/* At one new token the stock runtime does what the patched one does. */
	if (spec->kind == MLA_BENCH_POOL) {
		p.arm[0] = width == 1 ? MLA_BENCH_POOL_SUFFIX : MLA_BENCH_POOL_ALL;
		p.arm[1] = MLA_BENCH_POOL_SUFFIX;
	} else if (spec->kind == MLA_BENCH_SPARSE && cached > spec->top_k) {
		p.arm[0] = p.arm[1] = MLA_BENCH_GATHERED;
	} else if (spec->kind == MLA_BENCH_SPARSE && width == 1) {
		p.arm[0] = MLA_BENCH_ABSORBED;
	}
	return p;
}

static void push(point_list *out, uint32_t cached, uint32_t width, mla_bench_arm a, mla_bench_arm b)
{
	mla_vec_push(out, ((mla_bench_point){.cached = cached, .width = width, .arm = {a, b}}));
}

/* Whether the run is valid, and what the second query costs. */
static void add_head(point_list *out, uint32_t cached)
{
	push(out, cached, 1, MLA_BENCH_ABSORBED, MLA_BENCH_ABSORBED);
	if (cached < 2)
		return;
	push(out, cached, 2, MLA_BENCH_ONE_QUERY, MLA_BENCH_MATERIALISED);
	push(out, cached, 2, MLA_BENCH_ONE_QUERY, MLA_BENCH_ABSORBED);
}

static int add_sweep(point_list *out, const mla_bench_spec *spec, uint32_t cached)
{
	number_list widths = {0};
	int error = 0;

	for (uint32_t i = 0; i < spec->n_widths; i++)
		insert(&widths, spec->width[i]);
	if (!spec->n_widths)
		add_widths(&widths, spec, cached);
	insert(&widths, 1);
	if (cached > 1)
		insert(&widths, 2);
	if (widths.v[widths.n - 1] > cached)
		error = mla_error(MLA_ECONFIG,
		                  "a step of %u queries needs as many cached positions; %u are too "
		                  "few",
		                  widths.v[widths.n - 1], cached);
	if (spec->kind == MLA_BENCH_ATTENTION)
		add_head(out, cached);
	for (uint32_t i = 0; i < widths.n && error == 0; i++)
		mla_vec_push(out, point(spec, cached, widths.v[i]));
	mla_vec_free(&widths);
	return error;
}

/* Attention: the second query at shorter lengths than the sweep's too. */
static void add_second_query(number_list *out, const mla_bench_spec *spec)
{
	const uint32_t shortest = 512;
	uint32_t longest = out->v[out->n - 1];

	for (uint32_t t = shortest; t < longest && spec->kind == MLA_BENCH_ATTENTION; t *= 2)
		insert(out, t);
}

static bool has(const number_list *list, uint32_t value)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->v[i] == value)
			return true;
	return false;
}

int mla_bench_points(mla_bench_point **out, uint32_t *n, const mla_bench_spec *spec)
{
	number_list lengths = {0}, swept = {0};
	point_list points = {0};
	int error = 0;

	add_lengths(&swept, spec);
	for (uint32_t i = 0; i < swept.n; i++)
		insert(&lengths, swept.v[i]);
	add_second_query(&lengths, spec);
	for (uint32_t i = 0; i < lengths.n && error == 0; i++)
		if (has(&swept, lengths.v[i])) {
			error = add_sweep(&points, spec, lengths.v[i]);
		} else {
			add_head(&points, lengths.v[i]);
		}
	mla_vec_free(&lengths);
	mla_vec_free(&swept);
	if (error < 0) {
		mla_vec_free(&points);
		return error;
	}
	*out = points.v;
	*n = points.n;
	return 0;
}

double mla_bench_work(const mla_bench_spec *spec, const mla_bench_point *p, mla_bench_arm arm)
{
	double r = spec->geometry.rank, d = (double)spec->geometry.nope + spec->geometry.value;
	double l = p->width, t = p->cached, h = spec->heads;

	switch (arm) {
	case MLA_BENCH_MATERIALISED:
		return h * (t * r * d + l * t * d);
	case MLA_BENCH_ABSORBED:
		return h * (l * r * d + 2 * l * t * r);
	case MLA_BENCH_ONE_QUERY:
		return h * (r * d + 2 * t * r);
	case MLA_BENCH_GATHERED:
		return h * (l * r * d + 2 * l * spec->top_k * r);
	default:
		return arm == MLA_BENCH_POOL_ALL ? t * 128 : l * 128;
	}
}

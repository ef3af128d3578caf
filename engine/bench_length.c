/* What follows from the points of one cached length. */
#include "engine/bench.h"

#include <math.h>

static void add_swept(mla_bench_length *out, const mla_bench_point *p, bool *unbroken)
{
	int ahead = mla_bench_ahead(p);

	out->swept++;
	*unbroken &= ahead == 1;
	if (*unbroken)
		out->absorbed_to = p->width;
	if (ahead != 0)
		out->materialised_from = 0;
	else if (!out->materialised_from)
		out->materialised_from = p->width;
}

bool mla_bench_length_of(mla_bench_length *out, const mla_bench_point *points, uint32_t n,
                         const mla_bench_spec *spec, uint32_t cached)
{
	const mla_bench_point *first = NULL, *second = NULL;
	bool unbroken = true, any = false;

	*out = (mla_bench_length){.cached = cached, .valid = true};
	if (spec->kind != MLA_BENCH_POOL)
		out->threshold = mla_geometry_threshold(&spec->geometry, cached);
	for (uint32_t i = 0; i < n; i++) {
		const mla_bench_point *p = &points[i];

		if (p->cached != cached || !p->measured)
			continue;
		any = true;
		if (mla_bench_same(p)) {
			out->has_same = true;
			out->apart = fmax(out->apart, mla_bench_apart(p));
			out->spread = fmax(out->spread, mla_bench_spread(&p->ratio));
			out->valid &= mla_bench_agrees(p);
			first = p->width == 1 ? p : first;
		} else {
			add_swept(out, p, &unbroken);
		}
		second = p->width == 2 ? p : second;
	}
	if (first && second) {
		out->has_second = true;
		for (int side = 0; side < 2; side++)
			out->second[side] = second->ms[side].median - first->ms[side].median;
	}
	return any;
}

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
		} else if (mla_bench_second(p)) {
			out->second[p->arm[1] == MLA_BENCH_ABSORBED] = p->more;
			out->has_second |= p->arm[1] == MLA_BENCH_ABSORBED;
		} else {
			add_swept(out, p, &unbroken);
		}
	}
	return any;
}

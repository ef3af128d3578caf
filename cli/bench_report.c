/* A run as the reports see it. */
#include "cli/bench.h"

void mla_bench_report_free(mla_bench_report *r)
{
	free(r->points);
	r->points = NULL;
	r->n = 0;
}

void mla_bench_report_lengths(mla_bench_lengths *out, const mla_bench_report *r)
{
	mla_bench_length length;

	for (uint32_t i = 0; i < r->n; i++)
		if ((i == 0 || r->points[i].cached != r->points[i - 1].cached) &&
		    mla_bench_length_of(&length, r->points, r->n, &r->spec, r->points[i].cached))
			mla_vec_push(out, length);
}

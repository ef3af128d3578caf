/* Counting by shape-only runs. Knows the tails, not their formula. */
#include "engine/count.h"

#include <inttypes.h>

static int count_arm(uint64_t *out, const mla_tail_spec *spec, mla_tail_arm arm)
{
	mla_engine *e = mla_engine_new(&(mla_engine_options){.shapes_only = true});
	mla_tail_weights weights;
	mla_tail_inputs in;
	mla_tensor *result;
	int error;

	if ((error = mla_tail_draw_weights(&weights, e, spec)) < 0 ||
	    (error = mla_tail_draw(&in, e, spec, &weights)) < 0 ||
	    (error = mla_tail_run(&result, e, &in, arm)) < 0)
		goto done;
	*out = mla_engine_work(e, MLA_WORK_MATMUL).operations;
done:
	mla_engine_free(e);
	return error;
}

int mla_count_call(mla_counts *out, const mla_geometry *g, int64_t queries, int64_t cache_len)
{
	mla_tail_spec spec = {.geometry = *g,
	                      .heads = 1,
	                      .batch = 1,
	                      .queries = queries,
	                      .cache_len = cache_len,
	                      .bits = 4};
	int error;

	if ((error = count_arm(&out->absorbed, &spec, MLA_ABSORBED)) < 0)
		return error;
	return count_arm(&out->materialised, &spec, MLA_MATERIALISED);
}

int mla_count_per_token(mla_counts *out, const mla_geometry *g, int64_t queries)
{
	mla_counts one, two, three;
	int64_t len = 1;
	int error;

	while (len < queries)
		len *= 2;
	if ((error = mla_count_call(&one, g, queries, len)) < 0 ||
	    (error = mla_count_call(&two, g, queries, 2 * len)) < 0 ||
	    (error = mla_count_call(&three, g, queries, 3 * len)) < 0)
		return error;
	if (three.absorbed - two.absorbed != two.absorbed - one.absorbed ||
	    three.materialised - two.materialised != two.materialised - one.materialised)
		return mla_error(MLA_EBUG, "multiply-adds are not linear in the cached length");
	out->absorbed = (two.absorbed - one.absorbed) / (uint64_t)len;
	out->materialised = (two.materialised - one.materialised) / (uint64_t)len;
	return 0;
}

int mla_count_at(mla_counts *out, const mla_geometry *g, int64_t queries, int64_t cache_len)
{
	return cache_len > 0 ? mla_count_call(out, g, queries, cache_len)
	                     : mla_count_per_token(out, g, queries);
}

int mla_count_crossover(uint32_t *out, const mla_geometry *g, int64_t cache_len)
{
	/* Both counts grow with the queries along straight lines, so they cross once. The limit
	 * leaves room for the three lengths of mla_count_per_token. */
	int64_t most = cache_len > 0 ? cache_len : MLA_DIM_MAX / 4;
	int64_t low = 0, high = most + 1;

	while (low + 1 < high) {
		int64_t middle = low + (high - low) / 2;
		mla_counts c;
		int error;

		if ((error = mla_count_at(&c, g, middle, cache_len)) < 0)
			return error;
		if (c.absorbed <= c.materialised)
			low = middle;
		else
			high = middle;
	}
	*out = (uint32_t)low;
	return 0;
}

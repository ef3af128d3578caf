/* The two tails against each other, the counts against the formula, and that the check can fail. */
#include "tests/unit/test.h"

#include "engine/tail_check.h"
#include "engine/view.h"

#include <math.h>
#include <string.h>

static const mla_geometry glm = {512, 192, 64, 256};
static const mla_geometry small = {64, 32, 16, 32};

/* Absorbed against materialised, in one precision. */
static mla_comparison compared(mla_geometry g, int64_t queries, int64_t cached, uint32_t bits,
                               bool oracle)
{
	mla_engine *e = mla_engine_new(&(mla_engine_options){.oracle = oracle});
	mla_tail_spec spec = {.geometry = g,
	                      .heads = 2,
	                      .batch = 1,
	                      .queries = queries,
	                      .cache_len = cached + queries,
	                      .bits = bits,
	                      .seed = 11};
	mla_tail_weights weights;
	mla_tail_inputs in;
	mla_tensor *a, *b;
	mla_comparison c;

	assert_int_equal(mla_tail_draw_weights(&weights, e, &spec), 0);
	assert_int_equal(mla_tail_draw(&in, e, &spec, &weights), 0);
	assert_int_equal(mla_tail_run(&a, e, &in, MLA_ABSORBED), 0);
	assert_int_equal(mla_tail_run(&b, e, &in, MLA_MATERIALISED), 0);
	assert_int_equal(a->ndim, 4);
	assert_int_equal(a->shape[2], queries);
	assert_int_equal(a->shape[3], g.value);
	assert_int_equal(a->dtype, oracle ? MLA_F64 : MLA_BF16);
	assert_int_equal(mla_compare(&c, a, b, MLA_BF16), 0);
	mla_engine_free(e);
	return c;
}

static void bf16_is_a_few_units_apart(void **state)
{
	mla_comparison narrow = compared(glm, 2, 513, 4, false);
	mla_comparison wide = compared(glm, 8, 513, 4, false);

	(void)state;
	assert_true(narrow.finite && wide.finite);
	assert_true(narrow.ulp <= 2 && wide.ulp <= 2);
	/* Not identical: that would mean one arm ran twice. */
	assert_true(narrow.max_abs > 0 && wide.max_abs > 0);
	assert_true(wide.rms_rel >= 0.8 * narrow.rms_rel);
	assert_true(wide.rms_rel <= 1.25 * narrow.rms_rel);
	/* "magnitude near 0.1" */
	assert_true(wide.max_reference > 0.05 && wide.max_reference < 0.2);
}

static void f64_is_the_same_function(void **state)
{
	mla_comparison c = compared(glm, 8, 64, 4, true);

	(void)state;
	assert_true(c.finite && c.rel < 1e-10 && c.rel > 0);
	assert_true(compared(glm, 2, 0, 8, true).rel < 1e-10);
	assert_true(compared((mla_geometry){512, 256, 0, 256}, 3, 64, 4, true).rel < 1e-10);
	assert_true(compared((mla_geometry){5, 3, 1, 7}, 4, 9, 4, true).rel < 1e-10);
	assert_true(compared((mla_geometry){1, 1, 0, 1}, 1, 0, 4, true).rel < 1e-10);
}

/* An independent computation of the layer: naive loops over the drawn inputs, no operation used. */
static double naive(const mla_tail_inputs *in, const mla_tensor *wk, const mla_tensor *wv,
                    mla_geometry g, int64_t queries, int64_t len, int64_t head, int64_t query,
                    int64_t column)
{
	double weight[64], sum = 0, out = 0;
	int64_t row = head * queries + query;

	for (int64_t t = 0; t <= len - queries + query; t++) {
		double score = 0;

		for (int64_t j = 0; j < g.rope; j++)
			score += mla_tensor_at(in->q_pe, row * g.rope + j) *
			         mla_tensor_at(in->rope_key, t * g.rope + j);
		for (int64_t i = 0; i < g.rank; i++)
			for (int64_t j = 0; j < g.nope; j++)
				score += mla_tensor_at(in->q_nope, row * g.nope + j) *
				         mla_tensor_at(wk, (head * g.rank + i) * g.nope + j) *
				         mla_tensor_at(in->latent, t * g.rank + i);
		weight[t] = exp(score / sqrt(g.nope + g.rope));
		sum += weight[t];
	}
	for (int64_t t = 0; t <= len - queries + query; t++)
		for (int64_t i = 0; i < g.rank; i++)
			out += weight[t] / sum * mla_tensor_at(in->latent, t * g.rank + i) *
			       mla_tensor_at(wv, (head * g.value + column) * g.rank + i);
	return out;
}

static void oracle_is_latent_attention(void **state)
{
	mla_engine *e = mla_engine_new(&(mla_engine_options){.oracle = true});
	mla_tail_spec spec = {.geometry = {32, 5, 3, 7},
	                      .heads = 3,
	                      .batch = 1,
	                      .queries = 4,
	                      .cache_len = 9,
	                      .bits = 4,
	                      .seed = 3};
	mla_tail_weights w;
	mla_tail_inputs in;
	mla_tensor *out[2], *wk, *wv;

	(void)state;
	assert_int_equal(mla_tail_draw_weights(&w, e, &spec), 0);
	assert_int_equal(mla_tail_draw(&in, e, &spec, &w), 0);
	assert_int_equal(mla_tail_run(&out[0], e, &in, MLA_ABSORBED), 0);
	assert_int_equal(mla_tail_run(&out[1], e, &in, MLA_MATERIALISED), 0);
	assert_int_equal(mla_dequantise(&wk, e, &w.up_key), 0);
	assert_int_equal(mla_dequantise(&wv, e, &w.up_value), 0);
	for (int64_t i = 0; i < out[0]->count; i++) {
		double expected = naive(&in, wk, wv, spec.geometry, 4, 9, i / 28, i / 7 % 4, i % 7);

		assert_true(fabs(mla_tensor_at(out[0], i) - expected) < 1e-13);
		assert_true(fabs(mla_tensor_at(out[1], i) - expected) < 1e-13);
	}
	mla_engine_free(e);
}

static mla_tail_check checked(mla_geometry g, void (*tamper)(mla_tail_inputs *, void *),
                              void *payload)
{
	mla_tail_check_options o = {.geometry = g, .seed = 1, .tamper = tamper, .payload = payload};
	mla_tail_check c;

	assert_int_equal(mla_tail_check_run(&c, &o), 0);
	return c;
}

static void a_check_passes(void **state)
{
	mla_tail_check c = checked(small, NULL, NULL);
	mla_tail_check_options o;

	(void)state;
	assert_true(c.passes);
	assert_int_equal(c.n, 14);
	assert_int_equal(c.cases[0].width, 2);
	assert_int_equal(c.cases[0].cached, 0);
	assert_int_equal(c.cases[13].width, 2);
	assert_int_equal(c.cases[13].cached, 2048);
	assert_int_equal(c.group_key, 32);
	assert_int_equal(c.group_value, 64);
	for (uint32_t i = 0; i < c.n; i++) {
		assert_int_equal(c.cases[i].dtype, MLA_BF16);
		assert_int_equal(c.cases[i].bits, 4);
		assert_int_equal(c.cases[i].batch, 1);
		assert_true(c.cases[i].max_abs > 0 && c.cases[i].rel_f64 > 0);
	}
	o = (mla_tail_check_options){
		.geometry = small, .heads = 3, .batch = 2, .bits = 8, .seed = 2};
	assert_int_equal(mla_tail_check_run(&c, &o), 0);
	assert_true(c.passes);
	assert_int_equal(c.cases[5].batch, 2);
	assert_int_equal(c.cases[5].bits, 8);
	assert_true(checked((mla_geometry){5, 3, 1, 7}, NULL, NULL).passes);
	assert_true(checked((mla_geometry){96, 64, 0, 32}, NULL, NULL).passes);
}

static void drop_mask(mla_tail_inputs *in, void *payload)
{
	(void)payload;
	in->mask = NULL;
}

static void scale_wrongly(mla_tail_inputs *in, void *payload)
{
	in->scale *= *(const double *)payload;
}

static void exchange_halves(mla_tensor *t)
{
	size_t half = (size_t)t->count / 2 * mla_dtype_size(t->dtype);
	char *data = mla_tensor__data(t), aside[4096];

	assert_true(half <= sizeof(aside));
	memcpy(aside, data, half);
	memcpy(data, data + half, half);
	memcpy(data + half, aside, half);
}

/* Two heads; the reference has been computed when this runs, and the next case swaps them back. */
static void swap_heads(mla_tail_inputs *in, void *payload)
{
	mla_quantised *w = payload ? &in->weights.up_key : &in->weights.up_value;

	exchange_halves(w->codes);
	exchange_halves(w->scales);
	exchange_halves(w->biases);
}

static void poison(mla_tail_inputs *in, void *payload)
{
	(void)payload;
	/* All bits set is a NaN in f64 and in bf16. */
	memset(mla_tensor__data(in->latent), 0xff, mla_dtype_size(in->latent->dtype));
}

static void mutants_are_noticed(void **state)
{
	double little = 1.001, much = 1.5;
	mla_tail_check c = checked(small, drop_mask, NULL);

	(void)state;
	assert_false(c.f64_agrees);
	assert_false(c.passes);
	c = checked(small, scale_wrongly, &little);
	assert_false(c.f64_agrees);
	assert_false(c.passes);
	c = checked(small, scale_wrongly, &much);
	assert_false(c.bf16_agrees);
	c = checked(small, swap_heads, NULL);
	assert_false(c.f64_agrees);
	assert_false(c.bf16_agrees);
	c = checked(small, swap_heads, &little);
	assert_false(c.f64_agrees);
	assert_false(c.bf16_agrees);
	c = checked(small, poison, NULL);
	assert_false(c.f64_agrees);
	assert_false(c.bf16_agrees);
	assert_false(c.rms_steady);
	assert_false(c.mask_matters);
	assert_false(c.passes);
	for (uint32_t i = 0; i < c.n; i++)
		assert_true(isnan(c.cases[i].max_abs) && isnan(c.cases[i].rel_f64));
}

/* The numbers of the specification, which come from the formula; the counts know no formula. */
static void counts_reproduce_the_formula(void **state)
{
	const struct {
		mla_geometry g;
		uint32_t floor, at_8192, at_512;
	} rows[] = {
		{{512, 128, 64, 128}, 170, 167, 128},
		{{512, 192, 64, 256}, 398, 379, 224},
		{{512, 256, 0, 256}, 512, 481, 256},
	};
	mla_counts c;
	uint32_t crossover;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(mla_count_crossover(&crossover, &rows[i].g, 0), 0);
		assert_int_equal(crossover, rows[i].floor);
		assert_int_equal(mla_count_crossover(&crossover, &rows[i].g, 8192), 0);
		assert_int_equal(crossover, rows[i].at_8192);
		assert_int_equal(mla_count_crossover(&crossover, &rows[i].g, 512), 0);
		assert_int_equal(crossover, rows[i].at_512);
	}
	assert_int_equal(mla_count_crossover(&crossover, &glm, 131072), 0);
	assert_int_equal(crossover, 397);
	assert_int_equal(mla_count_per_token(&c, &rows[0].g, 170), 0);
	assert_int_equal(c.absorbed, 184960);
	assert_int_equal(c.materialised, 185472);
	/* L r d + 2 L T r + L T p, and T r d + L T d + L T p */
	assert_int_equal(mla_count_call(&c, &glm, 2, 100), 0);
	assert_int_equal(c.absorbed, 2 * 512 * 448 + 2 * 2 * 100 * 512 + 2 * 100 * 64);
	assert_int_equal(c.materialised, 100 * 512 * 448 + 2 * 100 * 448 + 2 * 100 * 64);
}

/* 2 r <= d: absorbed never loses once the cache is warm, and the threshold is 1 by convention. */
static void wide_heads(void **state)
{
	mla_geometry g = {8, 32, 4, 32};
	mla_tail_check c = checked(g, NULL, NULL);

	(void)state;
	assert_int_equal(c.threshold, 1);
	assert_true(c.crossover > 100000);
	assert_true(c.counts_match && c.passes);
}

static int run(mla_tail_check_options o)
{
	mla_tail_check c;

	return mla_tail_check_run(&c, &o);
}

static void refusals(void **state)
{
	mla_engine *e = mla_engine_new(NULL);
	mla_tail_spec spec = {
		.geometry = small, .heads = 1, .batch = 1, .queries = 4, .cache_len = 3, .bits = 4};
	mla_tail_weights w;
	mla_counts c;

	(void)state;
	assert_int_equal(mla_tail_spec_check(&spec), MLA_ECONFIG);
	assert_string_equal(mla_error_last(), "4 queries, but only 3 positions after the update");
	spec.queries = 0;
	assert_int_equal(mla_tail_spec_check(&spec), MLA_ECONFIG);
	spec.queries = 1;
	spec.bits = 5;
	assert_int_equal(mla_tail_draw_weights(&w, e, &spec), MLA_ECONFIG);
	spec.bits = 4;
	spec.cache_len = MLA_CACHE_LEN_MAX + 1;
	assert_int_equal(mla_tail_spec_check(&spec), MLA_ELIMIT);
	assert_int_equal(mla_count_call(&c, &small, 8, 4), MLA_ECONFIG);
	assert_int_equal(mla_count_call(&c, &small, 8, INT64_MAX), MLA_ELIMIT);
	/* Legal sizes, but more memory or more work than a check may take. */
	assert_int_equal(
		run((mla_tail_check_options){.geometry = {1 << 20, 1 << 20, 1 << 20, 1 << 20}}),
		MLA_ELIMIT);
	assert_int_equal(run((mla_tail_check_options){.geometry = small, .max_work = 1000}),
	                 MLA_ELIMIT);
	assert_int_equal(run((mla_tail_check_options){.geometry = {0, 1, 1, 1}}), MLA_ECONFIG);
	assert_int_equal(run((mla_tail_check_options){.geometry = small, .bits = 2}), MLA_ECONFIG);
	mla_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bf16_is_a_few_units_apart),
		cmocka_unit_test(f64_is_the_same_function),
		cmocka_unit_test(oracle_is_latent_attention),
		cmocka_unit_test(a_check_passes),
		cmocka_unit_test(mutants_are_noticed),
		cmocka_unit_test(counts_reproduce_the_formula),
		cmocka_unit_test(wide_heads),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The tails, written with the operations only; owns the scale of their random inputs. */
#include "engine/tails.h"

#include "engine/attention.h"
#include "engine/elementwise.h"
#include "engine/matmul.h"
#include "engine/random.h"
#include "engine/view.h"

#include <inttypes.h>
#include <math.h>

/* Values of deviation 0.4 give outputs near 0.1 over some hundred cached positions. */
#define VALUE_DEVIATION 0.4
#define QUERY_DEVIATION 0.5

const char *mla_tail_arm_name(mla_tail_arm arm)
{
	return arm == MLA_ABSORBED ? "absorbed" : "materialised";
}

int mla_tail_spec_check(const mla_tail_spec *spec)
{
	int error;

	if ((error = mla_geometry_check(&spec->geometry)) < 0)
		return error;
	if (spec->heads < 1 || spec->batch < 1)
		return mla_error(MLA_ECONFIG, "heads and batch must be at least 1");
	if (spec->queries < 1)
		return mla_error(MLA_ECONFIG, "queries must be at least 1, not %" PRId64,
		                 spec->queries);
	if (spec->cache_len < spec->queries)
		return mla_error(MLA_ECONFIG,
		                 "%" PRId64 " queries, but only %" PRId64
		                 " positions after the update",
		                 spec->queries, spec->cache_len);
	if (spec->heads > MLA_DIM_MAX || spec->batch > MLA_DIM_MAX ||
	    spec->cache_len > MLA_CACHE_LEN_MAX)
		return mla_error(MLA_ELIMIT,
		                 "%u heads, batch %u, %" PRId64 " positions: %d of each allowed",
		                 spec->heads, spec->batch, spec->cache_len, MLA_DIM_MAX);
	return 0;
}

/* One input of its own stream: adding another one later does not change the numbers of this. */
static int draw(mla_tensor **out, mla_engine *e, const mla_tail_spec *spec, uint64_t stream,
                double deviation, int64_t a, int64_t b, int64_t c)
{
	int64_t shape[] = {spec->batch, a, b, c};
	mla_random r = mla_random_stream(spec->seed, stream);

	return mla_random_normals(out, e, mla_engine_dtype(e, MLA_BF16), MLA_BF16, 4, shape, &r,
	                          deviation);
}

static int draw_weight(mla_quantised *out, mla_engine *e, const mla_tail_spec *spec,
                       uint64_t stream, double deviation, int64_t outputs, int64_t inputs)
{
	int64_t shape[] = {spec->heads, outputs, inputs};
	mla_random r = mla_random_stream(spec->seed, stream);
	mla_tensor *w;
	int error;

	if ((error = mla_random_normals(&w, e, MLA_BF16, MLA_BF16, 3, shape, &r, deviation)) < 0)
		return error;
	error = mla_quantise(out, e, w, spec->bits);
	mla_tensor_drop(e, w);
	return error;
}

int mla_tail_draw_weights(mla_tail_weights *out, mla_engine *e, const mla_tail_spec *spec)
{
	const mla_geometry *g = &spec->geometry;
	double by_rank = 1 / sqrt(g->rank);
	int error;

	if ((error = mla_tail_spec_check(spec)) < 0 ||
	    (error = draw_weight(&out->up_key, e, spec, 1, by_rank, g->rank, g->nope)) < 0)
		return error;
	return draw_weight(&out->up_value, e, spec, 2, VALUE_DEVIATION * by_rank, g->value,
	                   g->rank);
}

int mla_tail_draw(mla_tail_inputs *out, mla_engine *e, const mla_tail_spec *spec,
                  const mla_tail_weights *weights)
{
	const mla_geometry *g = &spec->geometry;
	const double dq = QUERY_DEVIATION;
	mla_tail_inputs in = {.weights = *weights};
	int error;

	if ((error = mla_tail_spec_check(spec)) < 0)
		return error;
	in.scale = 1 / sqrt((double)g->nope + g->rope);
	if ((error = draw(&in.latent, e, spec, 3, 1, 1, spec->cache_len, g->rank)) < 0 ||
	    (error = draw(&in.rope_key, e, spec, 4, 1, 1, spec->cache_len, g->rope)) < 0 ||
	    (error = draw(&in.q_nope, e, spec, 5, dq, spec->heads, spec->queries, g->nope)) < 0 ||
	    (error = draw(&in.q_pe, e, spec, 6, dq, spec->heads, spec->queries, g->rope)) < 0)
		return error;
	if (spec->queries > 1 &&
	    (error = mla_causal_mask(&in.mask, e, spec->queries, spec->cache_len)) < 0)
		return error;
	*out = in;
	return 0;
}

/* The rotary scores with the mask in them, which the attention call adds to its own. */
static int rotary_scores(mla_tensor **out, mla_engine *e, const mla_tail_inputs *in)
{
	mla_tensor *scaled, *turned, *lowest;
	int error;

	if ((error = mla_binary_number(&scaled, e, MLA_EW_MUL, in->q_pe, in->scale)) < 0 ||
	    (error = mla_view_swapaxes(&turned, e, in->rope_key, -1, -2)) < 0 ||
	    (error = mla_matmul(out, e, scaled, turned)) < 0 || !in->mask)
		return error;
	if ((error = mla_tensor_number(&lowest, e, MLA_F64, mla_dtype_lowest((*out)->dtype))) < 0)
		return error;
	return mla_where(out, e, in->mask, *out, lowest);
}

static int absorbed(mla_tensor **out, mla_engine *e, const mla_tail_inputs *in,
                    const mla_tensor *scores)
{
	mla_tensor *q, *attended;
	int error;

	if ((error = mla_quantised_matmul(&q, e, in->q_nope, &in->weights.up_key, true)) < 0 ||
	    (error = mla_attention(&attended, e, q, in->latent, in->latent, in->scale, scores)) < 0)
		return error;
	return mla_quantised_matmul(out, e, attended, &in->weights.up_value, true);
}

static int materialised(mla_tensor **out, mla_engine *e, const mla_tail_inputs *in,
                        const mla_tensor *scores)
{
	mla_tensor *k, *v;
	int error;

	if ((error = mla_quantised_matmul(&k, e, in->latent, &in->weights.up_key, false)) < 0 ||
	    (error = mla_quantised_matmul(&v, e, in->latent, &in->weights.up_value, true)) < 0)
		return error;
	return mla_attention(out, e, in->q_nope, k, v, in->scale, scores);
}

int mla_tail_run(mla_tensor **out, mla_engine *e, const mla_tail_inputs *in, mla_tail_arm arm)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	mla_tensor *scores;
	int error;

	*out = NULL;
	if ((error = rotary_scores(&scores, e, in)) == 0)
		error = (arm == MLA_ABSORBED ? absorbed : materialised)(out, e, in, scores);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}

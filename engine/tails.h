/*
 * The two attention tails of latent attention, at any geometry: what follows once the latent, the
 * rotary key and the queries exist. They are the same function in exact arithmetic and differ in
 * the order of the multiplications.
 *
 *     absorbed       q' = q_nope W_k;  o = softmax(scale (q' c^T + q_pe k_pe^T)) c;  out = o W_v
 *     materialised   k = c W_k^T, v = c W_v for every cached position;
 *                    out = softmax(scale (q_nope k^T + q_pe k_pe^T)) v
 *
 * The sequence of operations is that of public runtimes: rotary scores first, masked, and then
 * added as the mask of an attention call over the part without positions. An oracle engine computes
 * all of it in f64; another one stores bf16 after every operation and multiplies by quantised
 * projections.
 */
#ifndef MLA_ENGINE_TAILS_H
#define MLA_ENGINE_TAILS_H

#include "analyzer/geometry.h"
#include "engine/quant.h"

typedef enum { MLA_ABSORBED, MLA_MATERIALISED } mla_tail_arm;

const char *mla_tail_arm_name(mla_tail_arm arm); /* "absorbed", "materialised" */

typedef struct {
	mla_geometry geometry;
	uint32_t heads, batch;
	int64_t queries;   /* L >= 1, the last L of the cached positions */
	int64_t cache_len; /* T >= L, counted after the update */
	uint32_t bits;     /* of the up-projections, 4 or 8 */
	uint64_t seed;
} mla_tail_spec;

/* MLA_ECONFIG with the number that is out of range; more than 2^20 heads, batch or T: MLA_ELIMIT.
 */
int mla_tail_spec_check(const mla_tail_spec *spec);

typedef struct {
	mla_quantised up_key;   /* [heads, rank, nope] */
	mla_quantised up_value; /* [heads, value, rank] */
} mla_tail_weights;

typedef struct {
	mla_tensor *latent;   /* c, [batch, 1, T, rank]: what kv_a_layernorm leaves, deviation 1 */
	mla_tensor *rope_key; /* [batch, 1, T, rope] */
	mla_tensor *q_nope;   /* [batch, heads, L, nope] */
	mla_tensor *q_pe;     /* [batch, heads, L, rope] */
	mla_tensor *mask;     /* bool [L, T]; NULL at one query */
	mla_tail_weights weights;
	double scale; /* (nope + rope)^-1/2 */
} mla_tail_inputs;

/*
 * From the seed, the same bf16 numbers in an oracle engine as in any other. Outputs have a
 * magnitude near 0.1 over some hundred positions. Scores have a deviation near 0.5: with peaked
 * scores (1 and more) the rounding of a stored bf16 score, which the two arms do not share, moves
 * single rows by several units, and no tolerance tells that from a fault.
 *
 * The weights depend on the geometry, heads, bits and seed only, so that one set serves many calls.
 * Everything belongs to `e`; in shape-only mode there are shapes only.
 */
int mla_tail_draw_weights(mla_tail_weights *out, mla_engine *e, const mla_tail_spec *spec);
int mla_tail_draw(mla_tail_inputs *out, mla_engine *e, const mla_tail_spec *spec,
                  const mla_tail_weights *weights);

/* [batch, heads, L, value]. What it needs on the way is dropped. */
int mla_tail_run(mla_tensor **out, mla_engine *e, const mla_tail_inputs *in, mla_tail_arm arm);

#endif

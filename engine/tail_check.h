/*
 * The numbers beside a site whose own code was not run: the generic tails at its geometry, compared
 * over the widths and cached lengths of a verdict, and the counts behind its threshold.
 */
#ifndef MLA_ENGINE_TAIL_CHECK_H
#define MLA_ENGINE_TAIL_CHECK_H

#include "engine/compare.h"
#include "engine/count.h"

/* Widths 2, 3, 4, 8 at 0, 64, 513 cached positions, and 1, 2 at 2048. */
enum { MLA_TAIL_CASES = 14 };

/* The max_work of one check in either precision: some 15 s. Common geometries need a tenth. */
#define MLA_TAIL_WORK ((uint64_t)1 << 36)

typedef struct {
	mla_geometry geometry;
	uint32_t heads; /* few are enough: all are alike. 0: 2 */
	uint32_t batch; /* 0: 1 */
	uint32_t bits;  /* 4 or 8; 0: 4 */
	uint64_t seed;
	int64_t cache_len;    /* of the threshold: 0 for the geometry form */
	uint64_t max_work;    /* 0: MLA_TAIL_WORK */
	mla_backend *backend; /* of bf16, see mla_engine_options */
	/*
	 * NULL, or what a test does to the inputs of the absorbed arm in either precision: a check
	 * that cannot fail shows nothing.
	 */
	void (*tamper)(mla_tail_inputs *inputs, void *payload);
	void *payload;
} mla_tail_check_options;

/* The materialised arm is the reference: it is what runs before the fix. */
typedef struct {
	uint32_t width, cached, batch;
	bool padded;
	mla_dtype dtype; /* of max_abs, ulp and rms_rel */
	uint32_t bits;
	mla_tail_arm before, after;
	double max_abs, ulp, rms_rel;
	double rel_f64;
	bool agrees_bf16, agrees_f64;
} mla_tail_case;

typedef struct {
	mla_tail_case cases[MLA_TAIL_CASES];
	uint32_t n;
	uint32_t group_key, group_value; /* quantisation groups; 0: dense bf16 */
	uint32_t threshold;              /* of the formula */
	uint32_t crossover;              /* of the counts, see mla_count_crossover() */
	mla_counts at_threshold;         /* per cached token, or of the call at cache_len */
	double rms_ratio;                /* width 8 to width 2, 513 cached */
	/* Each of them must hold. */
	bool f64_agrees, bf16_agrees, rms_steady;
	bool mask_matters; /* the comparison notices a missing mask */
	/* The counts cross where the formula says, or the threshold is the conventional 1. */
	bool counts_match;
	bool passes; /* all of these */
} mla_tail_check;

/*
 * Fills `out`; a disagreement is a result, not an error. Errors: MLA_ECONFIG for sizes out of
 * range, MLA_ELIMIT for sizes that are legal but too large to compute.
 */
int mla_tail_check_run(mla_tail_check *out, const mla_tail_check_options *options);

#endif

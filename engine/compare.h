/*
 * How far two results are apart, and what counts as agreement.
 */
#ifndef MLA_ENGINE_COMPARE_H
#define MLA_ENGINE_COMPARE_H

#include "engine/tensor.h"

/*
 * Relative to the largest magnitude of the reference, never element by element: near zero that
 * would be noise. The tolerances are those of the specification of a verdict; for bf16 2^-6 because
 * two orders of the same multiplications were seen 2^-7.1 apart.
 */
#define MLA_TOLERANCE_F64 1e-10
#define MLA_TOLERANCE_BF16 0x1p-6

/* RMS errors relative to the reference at width 8 and width 2 are to be in this proportion. */
#define MLA_RMS_RATIO_MIN 0.8
#define MLA_RMS_RATIO_MAX 1.25

typedef struct {
	bool finite; /* no NaN and no infinity on either side; without it nothing agrees */
	double max_abs, max_reference; /* max |a - reference|, max |reference| */
	double rms_abs, rms_reference; /* root mean squares of the same */
	double ulp;                    /* max_abs in units in the last place at max_reference */
	double rel;                    /* max_abs / max_reference; 0 when both are 0 */
	double rms_rel;                /* rms_abs / rms_reference */
} mla_comparison;

/*
 * `ulp` counts in format `d`. MLA_ERAISE when the shapes differ, MLA_EBUG without data. Two empty
 * tensors agree.
 */
int mla_compare(mla_comparison *out, const mla_tensor *a, const mla_tensor *reference, mla_dtype d);

/*
 * Row by row along the last axis: the largest difference in units in the last place, of format `d`,
 * at the largest magnitude of its row of the reference. NaN when anything is not finite.
 */
int mla_compare_rows(double *ulp, const mla_tensor *a, const mla_tensor *reference, mla_dtype d);

/* Same shape, same format, and every number the same and finite (0 and -0 are the same). */
bool mla_compare_identical(const mla_tensor *a, const mla_tensor *b);

bool mla_compare_agrees(const mla_comparison *c, double tolerance);

#endif

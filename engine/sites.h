/*
 * The verdict of an absorb site: its own method, replayed before and after the fix.
 *
 *   verified    every check of the specification held, on this code
 *   rejected    the patched method differs from the one it replaces, fails where that one runs, or
 *               takes an arm at a width where it is the dearer one
 *   unverified  nothing can be said: a construct that is not understood, an error before the fix
 *               too, a limit, an arm that was not reached
 *
 * Prints nothing; knows nothing of fixes: `after` is a project in which they were made.
 */
#ifndef MLA_ENGINE_SITES_H
#define MLA_ENGINE_SITES_H

#include "analyzer/facts.h"
#include "engine/tails.h"

typedef enum { MLA_UNVERIFIED, MLA_VERIFIED, MLA_REJECTED } mla_outcome;

const char *mla_outcome_name(mla_outcome o);

/* One width at one cached length: the method after the fix against the materialised arm. */
typedef struct {
	uint32_t width, cached, batch;
	bool padded;
	bool quantised; /* a cache of codes, scales and biases */
	uint32_t topk;  /* of a sparse selection that drops rows; 0: it keeps all */
	bool has_bf16;  /* else f64 alone was run */
	mla_tail_arm before, after;
	bool split_before;            /* its tests took both sides, so that before says nothing */
	double max_abs, ulp, rms_rel; /* bf16 */
	double rel_f64;
} mla_site_case;

enum { MLA_SITE_CASES = 96, MLA_SITE_NOTES = 20, MLA_SITE_TEXT = 320 };

typedef struct {
	mla_outcome outcome;
	char reason[MLA_SITE_TEXT]; /* empty when verified */
	mla_geometry geometry;
	mla_source source;
	uint32_t bits;
	uint32_t threshold; /* observed: the largest width that took the absorbed arm; 0: unknown */
	char note[MLA_SITE_NOTES][MLA_SITE_TEXT];
	uint32_t notes;
	mla_site_case cases[MLA_SITE_CASES];
	uint32_t case_count;
	/* Multiply-adds of one head, per cached token or of the call at cache_len. */
	bool counted;
	uint64_t absorbed_at_t, materialised_at_t, absorbed_above, materialised_above;
	uint32_t crossover; /* the largest width at which absorbed is not the dearer one */
	double rms_ratio;   /* of widths 8 and 2; 0: not measured */
	mla_uses uses;      /* who computed the bf16 runs */
	bool limited;       /* a limit was hit: the source asks for too much */
} mla_site_verdict;

typedef struct {
	const mla_settings *settings; /* may be NULL */
	int64_t cache_len;            /* at which the cache-length form is looked at; 0: geometry */
	uint64_t seed;
	mla_backend *backend; /* of what is not the f64 oracle; NULL: this code */
	bool padded_only;     /* for tests: of the cases, only left-padded batches */
} mla_site_options;

/* The sizes of a site, as far as its source gives them. */
void mla_site_geometry(mla_site_verdict *out, const mla_latent *latent);

/*
 * `before` is the project of the site, `after` the one with the fix made, or NULL when there is no
 * fix: then the two arms are only compared with each other, and nothing is verified.
 */
void mla_site_verify(mla_site_verdict *out, mla_project *before, mla_project *after,
                     const mla_site *site, const mla_site_options *options);

#endif

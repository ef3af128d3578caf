/*
 * The latent projections of an attention class: which attributes are up-projections (n -> r for
 * the query and the keys, r -> v for the values) and where the sizes r, n and v are said.
 */
#ifndef MLA_ANALYZER_LATENT_H
#define MLA_ANALYZER_LATENT_H

#include "analyzer/evaluate.h"
#include "analyzer/geometry.h"

typedef enum {
	MLA_UP_KEY,   /* n -> r (embed_q, w_kc, wk_b ...) */
	MLA_UP_VALUE, /* r -> v (unembed_out, w_vc, wv_b ...) */
	MLA_UP_BOTH,  /* kv_b_proj and its slices: both in one matrix */
} mla_up_role;

typedef struct {
	mla_str attribute;
	mla_up_role role;
	const mla_node *call; /* the constructor call it was recognised by; NULL: by name */
	mla_method init;
} mla_up;

/* One of the three sizes the threshold is made of. */
typedef struct {
	mla_str attribute; /* the attribute of self that holds it; empty: none does */
	const mla_node
		*expr;   /* the constructor's expression; NULL when only the attribute is known */
	mla_method init; /* the constructor that has the expression or sets the attribute */
	mla_number number;
} mla_size;

enum { MLA_UP_MAX = 8 };

typedef struct {
	mla_up up[MLA_UP_MAX];
	uint32_t n;
	mla_size rank, nope, value;
	mla_number rope;
	bool several;       /* there are pairs of up-projections of different sizes */
	mla_str class_name; /* of the up-projection class as the constructor writes it,
	                       "MultiLinear" */
	const mla_node
		*maker; /* the callee expression in up[].call; NULL when found by name only */
} mla_latent;

/* The up-projections of a class; its sizes are left alone. */
void mla_latent_find(mla_latent *out, const mla_constructors *constructors);

/*
 * Adds the sizes, following config classes into other files. A size that is not found has neither
 * attribute nor expression.
 */
void mla_latent_measure(mla_latent *l, mla_project *p, const mla_settings *settings,
                        const mla_lineage *lineage, const mla_constructors *constructors);

/* Where the source is not asked: what the user says of the sizes, if anything. */
void mla_latent_given(mla_latent *l, const mla_settings *settings);

/* The up-projection that `attribute` names, by construction first, by its name second. */
bool mla_latent_up(mla_up_role *role, const mla_latent *l, mla_str attribute);

/* The threshold of the geometry form, where all of r, n and v are numbers. */
typedef struct {
	mla_geometry geometry; /* rope 0 when it is not known */
	bool rope_known;
	uint32_t queries;
	mla_source source; /* the weakest of the three sizes' sources */
} mla_threshold;

bool mla_latent_threshold(mla_threshold *out, const mla_latent *l);

/* By name alone, for code whose class is not known. */
bool mla_up_by_name(mla_up_role *role, mla_str name);

#endif

/*
 * The conditions under which a place is reached, and the tests that hold there. Private to pool*.c.
 */
#ifndef MLA_ANALYZER_POOL_GATE_H
#define MLA_ANALYZER_POOL_GATE_H

#include "analyzer/pool_trace.h"

/* A condition that a place stands under. */
typedef struct {
	const mla_trace_frame *frame;
	const mla_node *expr;
	bool holds;              /* the place is reached when it is true */
	const mla_node *chooser; /* the IF, CONDITION ... that it decides */
	bool before; /* the chooser leaves in the other case; the place comes after it */
} mla_pool_condition;

/* A part of a condition that is known to be true, or false. */
typedef struct {
	const mla_trace_frame *frame;
	const mla_node *node;
	bool holds;
	const mla_node *operand; /* of the condition; the node itself, or what stands for it */
	uint32_t condition;      /* its index */
} mla_pool_atom;

enum { MLA_POOL_CONDITIONS = 24, MLA_POOL_ATOMS = 48 };
typedef struct {
	mla_pool_condition v[MLA_POOL_CONDITIONS]; /* the innermost first */
	uint32_t n;
	mla_pool_atom atom[MLA_POOL_ATOMS];
	uint32_t atoms;
} mla_pool_guards;

/* Adds the conditions of a place in the frame's function, then those of the call it was entered by.
 */
void mla_pool_conditions(mla_pool_guards *out, const mla_trace_frame *fr, const mla_node *place);

/* Takes the conditions apart, through flags and functions. */
void mla_pool_atoms(mla_pool_guards *g, mla_trace *t);

/* Is it a test that lets one new token pass, and no more? */
bool mla_pool_is_single(mla_trace *t, const mla_pool_atom *a);

/* Does it say that the recorded length is the cached one less the new tokens? *one: less 1. */
bool mla_pool_is_length(mla_trace *t, const mla_pool_atom *a, bool *one);

/* The arm that is taken when the condition does not hold; NULL: what comes after the chooser. */
const mla_node *mla_pool_other_arm(const mla_pool_condition *c);

/* What a name is bound to by its only assignment, seen from its use; NULL: it is not one. */
const mla_node *mla_pool_flag(const mla_trace_frame *fr, const mla_node *name);

/* What a flag stands for, without a `not` in front, which turns *holds; another condition as it is.
 */
const mla_node *mla_pool_written(const mla_trace_frame *fr, const mla_node *n, bool *holds);

#endif

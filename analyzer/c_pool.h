/*
 * Pools of indexer keys in C: a remembered length says from which window on keys are pooled again,
 * under a condition; else all are. Private to c_pool*.c and c_facts.c.
 */
#ifndef MLA_ANALYZER_C_POOL_H
#define MLA_ANALYZER_C_POOL_H

#include "analyzer/c_flow.h"
#include "analyzer/pool.h"

/* Those of every source of the flow's functions, by file and place. */
void mla_c_pools_find(mla_pools *out, mla_arena *arena, mla_c_flow *f);

/* One function with a remembered length, and the window that it starts again from. */
typedef struct {
	mla_arena *arena;
	mla_c_flow *flow;
	const mla_c_entry *entry;
	const mla_node *store; /* ASSIGN of the new length to the remembered one */
	uint64_t recorded;     /* the declaration of the remembered length */
	uint64_t alias[4];     /* locals that only ever are it */
	uint32_t alias_count;
	const mla_node *start;  /* recorded / window, or the like */
	const mla_node *length; /* `recorded` in it */
} mla_c_resume;

/* Without casts and dereferences. */
const mla_node *mla_c_bare(const mla_node *n);

/* The declaration that a plain expression names; 0: none. */
uint64_t mla_c_id_of(const mla_node *n);

/* Is it the remembered length, or a local that was given it? */
bool mla_c_is_recorded(const mla_c_resume *r, const mla_node *n);

/* Fills what is known of the condition that `start` is under. False: it is under none that keeps
 * a pool from being pooled as a whole. */
bool mla_c_pool_gate(mla_pool *out, const mla_c_resume *r);

/* c_pool_full.c: is there a path besides that pools from the first window on? */
bool mla_c_pools_all(const mla_c_resume *r, const mla_node *under);

#endif

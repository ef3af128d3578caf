/*
 * Pooled-key caches of sparse indexers: where completed windows of keys are kept between calls, the
 * path that pools only what is new, and the test that lets it run. Says nothing about good or bad;
 * that is for the rules. Language-neutral, as facts.h is.
 */
#ifndef MLA_ANALYZER_POOL_H
#define MLA_ANALYZER_POOL_H

#include "analyzer/class.h"

/* Why a pool can be reported but not patched. */
typedef enum {
	MLA_POOL_FIXABLE,
	MLA_POOL_ONE_TOKEN, /* one token is assumed elsewhere */
	MLA_POOL_NO_LENGTH, /* the length the pool remembers is not kept, or not at hand */
	MLA_POOL_NO_TOTAL,  /* the cached length is not at hand where the test is made */
	MLA_POOL_NO_COUNT,  /* the number of new tokens is not */
	MLA_POOL_ALONE,     /* the one-token test stands alone: nothing says that there is a pool */
	MLA_POOL_MIXED,     /* the conditions are joined in a way that an operand cannot leave */
	MLA_POOL_PADDING,   /* a flag of the full path says that nothing is padded */
	MLA_POOL_SYNTAX,    /* the source around it does not parse */
} mla_pool_refusal;

/*
 * One incremental path. The gate is the condition it runs under, the alternative being the path
 * that pools all keys: an expression, or the test of the flag it is bound to.
 */
typedef struct {
	mla_module *module;
	const mla_node *function; /* the one with the gate */
	mla_class owner;          /* of that function; node NULL: a free function */
	mla_str symbol;
	const mla_node *entry;     /* the method that is called from outside */
	const mla_node *extend;    /* kept windows are joined with new ones here */
	const mla_node *suffix;    /* the keys to be pooled again are cut off here */
	const mla_node *gate;      /* the whole condition */
	bool gate_holds;           /* the incremental path runs when it is true */
	bool selects;              /* it is told as a select: either path is code of its own */
	const mla_node *single;    /* the test for one new token, or NULL */
	const mla_node *single_in; /* the operand of the gate that it is, or stands for */
	const mla_node
		*length; /* the test of the recorded length against the cached one, or NULL */
	bool length_one; /* it adds or takes away 1 in place of the number of new tokens */
	/* As they can be written at the gate; empty: not at hand. */
	mla_str recorded, total, fresh;
	const mla_node *assumes; /* where one new token is assumed elsewhere */
	/* A flag among the gate's operands that only the full path sets, and what the new tokens
	 * have to satisfy in its stead: an operand of an `or`. */
	const mla_node *padding;
	mla_str padding_test;
	bool follows_trim; /* it is made shorter with its cache */
	mla_pool_refusal refusal;
	const mla_node *refusal_at;
	mla_module *refusal_module; /* NULL: the same */
} mla_pool;

typedef struct {
	mla_pool *const *v; /* by the position of the gate */
	uint32_t n;
} mla_pools;

/* Those with a gate in this module. They live in `arena`. */
void mla_pools_find(mla_pools *out, mla_arena *arena, mla_project *project, mla_module *module);

#endif

/*
 * What an expression derives from, asked backwards from the expression: through the assignments
 * that reach it, the arguments of the call that was followed and the results of functions of the
 * project. Private to pool*.c.
 */
#ifndef MLA_ANALYZER_POOL_TRACE_H
#define MLA_ANALYZER_POOL_TRACE_H

#include "analyzer/evaluate.h"
#include "analyzer/pool_memo.h"

enum {
	MLA_TR_MEMORY = 1 << 0,   /* read back: an earlier call left it there */
	MLA_TR_CACHE = 1 << 1,    /* a cache object */
	MLA_TR_NEW = 1 << 2,      /* made of this step's tokens */
	MLA_TR_ROWS = 1 << 3,     /* holds all cached positions */
	MLA_TR_SUFFIX = 1 << 4,   /* from some position on */
	MLA_TR_WINDOWS = 1 << 5,  /* split into windows, with an axis of its own for them */
	MLA_TR_POOLED = 1 << 6,   /* reduced over that axis */
	MLA_TR_COUNT = 1 << 7,    /* a number: this step's tokens */
	MLA_TR_LENGTH = 1 << 8,   /* a number: all positions */
	MLA_TR_QUOTIENT = 1 << 9, /* of a division: a number of windows, or what is left of one */
	MLA_TR_ONE = 1 << 10,     /* a constant 1 was added or taken away */
	MLA_TR_ARRAY =
		1 << 12, /* made by arange() and the like: no number, whatever it is made of */
	MLA_TR_STEP = 1 << 11, /* the number of this step's tokens was */
};

/* One function, as an entry point or as it is called from another one. */
typedef struct mla_trace_frame {
	const struct mla_trace_frame *caller;
	const mla_node *call; /* in the caller's function; NULL for an entry point */
	bool bound;           /* the call supplies self */
	const mla_node *function;
	mla_module *module;
	mla_class owner; /* of self; node NULL: a free function */
} mla_trace_frame;

typedef struct {
	mla_arena *arena;
	mla_project *project;
	uint32_t steps, depth;
	mla_pool_memo values, frames;
	/* The last slice that was found to begin at a position, and where. */
	const mla_node *suffix;
	const mla_trace_frame *suffix_frame;
} mla_trace;

uint32_t mla_trace_tags(mla_trace *t, const mla_trace_frame *fr, const mla_node *expr);

/* Part `i` of `n` of a value that is unpacked; -1: the whole. */
uint32_t mla_trace_part(mla_trace *t, const mla_trace_frame *fr, const mla_node *value, int32_t i,
                        uint32_t n);

/* One assignment that reaches a use of a name. */
typedef struct {
	const mla_node *target; /* NAME or ATTRIBUTE */
	const mla_node *value;  /* what is assigned, before unpacking; NULL: a loop, a with */
	int32_t part;           /* of the value, when it is unpacked; else -1 */
	uint32_t parts;
} mla_reaching;

enum { MLA_REACHING_MAX = 8 };
typedef struct {
	mla_reaching v[MLA_REACHING_MAX];
	uint32_t n;
	bool open; /* the name may keep what it had when the function was entered */
} mla_reachings;

/* `name` is a NAME or a dotted ATTRIBUTE; the function is the one around it. */
void mla_trace_reach(mla_reachings *out, const mla_trace_frame *fr, const mla_node *name);

/* The function that a call runs, as a frame below `fr`; NULL: it is not in the project. */
const mla_trace_frame *mla_trace_enter(mla_trace *t, const mla_trace_frame *fr,
                                       const mla_node *call);

/* What the call of the frame gives to a parameter; NULL: its default, or nothing. */
const mla_node *mla_trace_argument(const mla_trace_frame *fr, const mla_node *parameter);

/* Is it the instance whose method the frame runs? */
bool mla_trace_is_self(const mla_trace_frame *fr, const mla_node *n);

/* Does a dotted name begin with an imported module? */
bool mla_trace_is_library(const mla_trace_frame *fr, const mla_node *n);

/* Does control not go past the end of this statement or block? */
bool mla_trace_exits(const mla_node *n);

/* Is it a joining of arrays? *first gets the index of its first part, *list the node that has
 * them. */
bool mla_trace_joins(const mla_node *call, const mla_node **list, uint32_t *first);

#endif

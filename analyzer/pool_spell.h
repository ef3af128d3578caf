/* What a fix of a pool can write at its gate, or why it can write nothing. Private to pool*.c. */
#ifndef MLA_ANALYZER_POOL_SPELL_H
#define MLA_ANALYZER_POOL_SPELL_H

#include "analyzer/pool.h"
#include "analyzer/pool_gate.h"

typedef struct {
	mla_trace *trace;
	const mla_pool_condition *gate;
	const mla_pool_guards *guards;
	const mla_pool_atom *single, *length; /* NULL: there is none */
	const mla_trace_frame *extend_frame, *suffix_frame;
	const mla_node *start; /* of the slice; NULL: not a slice from a position */
} mla_pool_site;

void mla_pool_spell(mla_pool *p, const mla_pool_site *s);

/* pool_padding.c: fills in the flag of the gate that only the full path sets, if there is one. */
void mla_pool_padding(mla_pool *p, const mla_pool_site *s);

#endif

/* Weights that a loader drops although a draft head is made of them. */
#ifndef MLA_ANALYZER_WEIGHTS_H
#define MLA_ANALYZER_WEIGHTS_H

#include "analyzer/project.h"

typedef struct {
	const mla_node *test; /* the part of a condition that tells these weights by their name */
	mla_str prefix;       /* as it is written, without quotes: "model.mtp."; or "layers.61" */
	mla_str symbol;       /* "Model.sanitize" */
} mla_dropped;

typedef struct {
	const mla_dropped *v; /* in source order, one for each condition */
	uint32_t n;
} mla_dropped_list;

/*
 * Looks at functions that sanitize weights (`sanitize` is the name runtimes give the hook), for
 * names of multi-token-prediction or next-n weights, and for layers beyond num_hidden_layers, where
 * checkpoints keep them. What is renamed or stored elsewhere is not dropped.
 */
void mla_weights_dropped(mla_dropped_list *out, mla_arena *arena, mla_module *module);

#endif

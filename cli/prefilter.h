/*
 * Which files are worth parsing: those with a word of latent projections and a comparison that
 * could be a query test. Everything else cannot hold a finding.
 */
#ifndef MLA_CLI_PREFILTER_H
#define MLA_CLI_PREFILTER_H

#include "analyzer/base.h"

typedef struct mla_prefilter mla_prefilter;

mla_prefilter *mla_prefilter_new(void);
void mla_prefilter_free(mla_prefilter *p);

/* A word of latent projections or pooled keys, and a comparison with a small number or a name. */
bool mla_prefilter_candidate(const mla_prefilter *p, mla_str bytes);

/* The comparison alone, or a suppression comment: what --show-kept needs to see. */
bool mla_prefilter_listed(mla_str bytes);

/* The words, NULL-terminated: the benchmark searches for the same ones. */
extern const char *const mla_prefilter_words[];

#endif

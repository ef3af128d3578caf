/*
 * Which files are worth parsing: those with a comparison that could be a query test and a word of
 * latent projections, or the name of a class that inherits them. Decides from bytes alone.
 */
#ifndef MLA_CLI_PREFILTER_H
#define MLA_CLI_PREFILTER_H

#include "analyzer/base.h"

typedef struct mla_prefilter mla_prefilter;

mla_prefilter *mla_prefilter_new(void);
void mla_prefilter_free(mla_prefilter *p);

/* A word of latent projections, and a comparison or a constructor; or a suppression comment. */
bool mla_prefilter_candidate(const mla_prefilter *p, mla_str bytes);

/* The comparison alone, or a suppression comment: what --show-kept needs to see. */
bool mla_prefilter_listed(mla_str bytes);

/* A function that sanitizes weights, and layers or a draft head. */
bool mla_prefilter_loads(mla_str bytes);

/* The same for C, C++ and Objective-C, where nearly every file compares: words alone. */
bool mla_prefilter_c(mla_str bytes);

/* The parts of the above, for a piece of a file. */
bool mla_prefilter_compares(mla_str bytes);
bool mla_prefilter_word(const mla_prefilter *p, mla_str bytes);

/* Names of classes that have up-projections; `names`, NULL-terminated, are borrowed. */
typedef struct mla_base_names mla_base_names;

mla_base_names *mla_base_names_new(const char *const *names);
void mla_base_names_free(mla_base_names *n);

/* A class derived from one of them, or one of them patched or renamed. */
bool mla_base_names_candidate(const mla_base_names *n, mla_str bytes);

/* The words, NULL-terminated: the benchmark searches for the same ones. */
extern const char *const mla_prefilter_words[];

#endif

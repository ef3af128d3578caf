/* The one place of a file where the function that computes the threshold is defined. */
#ifndef MLA_FIXERS_C_HOME_H
#define MLA_FIXERS_C_HOME_H

#include "analyzer/facts.h"

typedef struct {
	mla_module *module;
	uint32_t at;
	bool below; /* something stands right above the place */
} mla_c_home;

/*
 * Every test of the site sees it, and it is the same for all decisions that see it, whichever of
 * them are fixed: before the first function with a decision of the file they are all in, or of a
 * header that the others include; else behind the struct of the sizes in its header. False with
 * *why when there is none.
 */
bool mla_c_home_find(mla_c_home *out, const char **why, mla_arena *arena, mla_project *project,
                     const mla_site *s);

#endif

/* Facts of the C, C++ and Objective-C sources of a scan, in the form that the rules look at. */
#ifndef MLA_ANALYZER_C_FACTS_H
#define MLA_ANALYZER_C_FACTS_H

#include "analyzer/c_source.h"
#include "analyzer/facts.h"

/* A comparison that looks like a decision, in code that could not be analysed. */
typedef struct {
	mla_module *module;
	mla_span span;
} mla_unanalysed;

typedef struct mla_c_facts mla_c_facts;

/* Looks at every such source of the project at once: a decision may be spread over several. */
int mla_c_facts_build(mla_c_facts **out, mla_arena *arena, mla_project *project);

/* The part that is in one module. Its decisions get the sizes that the settings name. */
void mla_c_facts_of(mla_facts *out, const mla_c_facts *f, const mla_settings *settings,
                    mla_module *module);

const mla_unanalysed *mla_c_facts_unanalysed(const mla_c_facts *f, uint32_t *n);

#endif

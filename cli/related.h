/* What else a report names beside a finding: the rest of its decision. */
#ifndef MLA_CLI_RELATED_H
#define MLA_CLI_RELATED_H

#include "rules/rule.h"

typedef struct {
	const mla_module *module;
	mla_span span;
	const char
		*role; /* "select", ... or "cached-length": asked with the decision, not edited */
} mla_related;

/* Every other test of the finding's decision, its pair first, and conditions that go with it. */
uint32_t mla_related_list(const mla_related **out, mla_arena *arena, const mla_finding *f);

#endif

/* Running rules with suppression comments applied in between. */
#ifndef MLA_RULES_SUPPRESSION_H
#define MLA_RULES_SUPPRESSION_H

#include "rules/rule.h"

/*
 * Runs every rule for which `on` is set (indexed like mla_rules): first those that look at code;
 * then covered findings are taken out; then the rules about suppressions themselves.
 */
int mla_rules_run(mla_findings *out, const mla_facts *facts, const bool *on);

/* Did comment `index` of the facts' module suppress something under its `code`-th code? */
bool mla_suppression_used(const mla_findings *f, uint32_t index, uint32_t code);

#endif

/* The constructor statement that keeps the threshold on the layer. */
#ifndef MLA_FIXERS_ATTRIBUTE_H
#define MLA_FIXERS_ATTRIBUTE_H

#include "fixers/fix.h"

/*
 * Makes `self.name` hold the threshold in instances of class `c`: a statement in the most derived
 * constructor that sets one of r, n and v, after the last of them, with the helper and its import.
 * No edit when an equal statement runs there already. When it cannot be done safely, the fix's
 * refusal says why.
 */
void mla_attribute_require(mla_fix *fix, mla_project *project, mla_class c, mla_str name,
                           mla_form form);

/* r, n, v for i = 0, 1, 2 */
const mla_size *mla_size_at(const mla_latent *l, int i);

#endif

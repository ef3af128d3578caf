/* The function that computes the threshold: its text, its place, and reuse of one that exists. */
#ifndef MLA_FIXERS_HELPER_H
#define MLA_FIXERS_HELPER_H

#include "fixers/fix.h"

/*
 * Makes the helper callable in `function` of `user`; *callee is how to call it there. Adds to the
 * fix's title where the helper goes when the up-projection class is not in the project. False: it
 * cannot be done, the fix's refusal says why, and no edit is added.
 */
bool mla_helper_require(mla_str *callee, mla_fix *fix, mla_project *project, mla_module *user,
                        const mla_node *function, const mla_latent *latent, mla_form form);

#endif

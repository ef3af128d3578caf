/* The function that computes the threshold: its text, its place, and reuse of one that exists. */
#ifndef MLA_FIXERS_HELPER_H
#define MLA_FIXERS_HELPER_H

#include "fixers/fix.h"

/*
 * Makes the helper callable in `user`; *callee is how to call it there. `anchor` is a definition in
 * `user` to put the helper before when the up-projection class is not in the project. When it
 * cannot be done, *refusal says why and no edit is added.
 */
void mla_helper_require(mla_str *callee, mla_str *refusal, mla_edits *e, mla_project *project,
                        mla_module *user, const mla_node *anchor, const mla_latent *latent,
                        mla_form form);

#endif

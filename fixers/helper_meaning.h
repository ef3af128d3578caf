/* Whether a function that exists computes the threshold. Evaluates syntax; runs no code. */
#ifndef MLA_FIXERS_HELPER_MEANING_H
#define MLA_FIXERS_HELPER_MEANING_H

#include "analyzer/project.h"

/*
 * Called with (r, n, v), and with `cached` also with (r, n, v, T), does `function` of module `m`
 * return mla_geometry_threshold() for a few geometries and cached lengths? One less passes where
 * the quotient is exact: both forms cost the same there, and a float may come out below it.
 * Understands assignment, if, return, arithmetic, comparison, max, min, int, float, math.floor and
 * math.ceil; with anything else in the way the answer is no.
 */
bool mla_helper_means(const mla_module *m, const mla_node *function, bool cached);

#endif

/* What can be written where a C test is made: the latent sizes and the cached length. */
#ifndef MLA_FIXERS_C_SCOPE_H
#define MLA_FIXERS_C_SCOPE_H

#include "fixers/fix.h"

typedef struct {
	mla_str size[3];          /* r, n and v as expressions */
	const mla_record *record; /* the struct they are members of, or NULL */
} mla_c_sizes;

/* The sizes at the test. False with *why when they are not all there, or not only once. */
bool mla_c_scope_sizes(mla_c_sizes *out, const char **why, mla_arena *arena, const mla_test *t);

/* The cached length after this step's rows have been added. False: it has no name there. */
bool mla_c_scope_length(mla_str *out, mla_arena *arena, const mla_test *t);

#endif

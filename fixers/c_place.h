/* Lines of a C file where a declaration of its own can be put. */
#ifndef MLA_FIXERS_C_PLACE_H
#define MLA_FIXERS_C_PLACE_H

#include "analyzer/project.h"

typedef struct mla_record mla_record;

/*
 * Before the outermost declaration around `first` and the comments above it, outside of conditions
 * that end before `last`: everything from `first` to `last` sees what is put there. False: that
 * line holds something else too.
 */
bool mla_c_place_before(uint32_t *out, const mla_module *m, uint32_t first, uint32_t last);

/* Behind the line that ends a definition. False: there is no line behind it. */
bool mla_c_place_after(uint32_t *out, const mla_module *m, const mla_node *definition);

/* The definition of the struct with these members, at file level; NULL: it is not here. */
const mla_node *mla_c_definition(const mla_module *m, const mla_record *r);

#endif

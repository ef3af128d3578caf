/* Makes a name of one module importable in another, in the style the importer has. */
#ifndef MLA_FIXERS_IMPORT_H
#define MLA_FIXERS_IMPORT_H

#include "fixers/edit.h"

/*
 * After the edits, *callee can be written in `user` for `name` of module `home`: the bare name
 * (an existing from-import extended, or a new one), or `mla.name` where `user` has the module
 * itself under a name. `beside` is a name that `user` has from `home`, or empty: only the import
 * that brings it is extended where it stands under a condition. False: it cannot be done safely,
 * *refusal says why, and no edit is added.
 */
bool mla_import_name(mla_str *callee, mla_str *refusal, mla_edits *e, mla_project *project,
                     mla_module *user, mla_module *home, mla_str name, mla_str beside);

/* Is `n` under `if TYPE_CHECKING:` or `if False:`, which do not run? */
bool mla_never_runs(const mla_module *m, const mla_node *n);

#endif

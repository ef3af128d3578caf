/* Makes a name of one module importable in another, in the style the importer has. */
#ifndef MLA_FIXERS_IMPORT_H
#define MLA_FIXERS_IMPORT_H

#include "fixers/edit.h"

/*
 * After the edits, *callee can be written in `user` for `name` of module `home`: the bare name
 * (an existing from-import extended, or a new one), or `mla.name` where `user` has the module
 * itself under a name. No edit when it is imported already.
 */
void mla_import_name(mla_str *callee, mla_edits *e, mla_project *project, mla_module *user,
                     mla_module *home, mla_str name);

#endif

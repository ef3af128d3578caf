/* Patterns of .gitignore files. */
#ifndef MLA_CLI_GLOB_H
#define MLA_CLI_GLOB_H

#include "analyzer/base.h"

/* As gitignore(5): `*`, `?` and `[...]` stay between slashes, `**` between slashes crosses them.
 * The time is at most the product of the lengths. `fold`: letters match in either case. */
bool mla_glob(mla_str pattern, mla_str path, bool fold);

#endif

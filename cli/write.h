/* Writing fixed files: all of one fix or none, never half a file. */
#ifndef MLA_CLI_WRITE_H
#define MLA_CLI_WRITE_H

#include "cli/files.h"
#include "fixers/apply.h"

/*
 * Writes every change under `tree`: new files beside the old ones first, then the renames. A file
 * that is no longer what was read, or cannot be written, stops it before anything is renamed; a
 * rename that fails is undone for those before it. The message says which file. Mode and, where
 * that is allowed, owner stay; a file with several links keeps them and is written in place.
 */
int mla_write_changes(const mla_tree *tree, const mla_change *const *change, uint32_t n);

#endif

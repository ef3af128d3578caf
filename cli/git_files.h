/* The paths of a command line inside a revision. */
#ifndef MLA_CLI_GIT_FILES_H
#define MLA_CLI_GIT_FILES_H

#include "cli/git_tree.h"

/* mla_fileset_collect() for --rev: paths mean places in the tree, in the repository they are in. */
int mla_git_collect(mla_fileset *out, const mla_options *o, const char *const *path, uint32_t n);

/* `relative` seen from `folder`, with "." and ".." worked out. False: it leaves the tree, or is too
 * long for `size`. */
bool mla_git_join(char *out, size_t size, const char *folder, const char *relative);

#endif

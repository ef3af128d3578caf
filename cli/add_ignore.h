/* check --add-ignore: every finding gets a comment that suppresses it. */
#ifndef MLA_CLI_ADD_IGNORE_H
#define MLA_CLI_ADD_IGNORE_H

#include "cli/scan.h"

/*
 * Writes the comments for the findings of the scan, with the reason of the options: under each root
 * all of its files or none. The number of files that changed. MLA_ECONFIG and others with a message
 * when a finding can take none or a file cannot be written.
 */
int mla_add_ignore(uint32_t *files, mla_scan *s);

/* A reason is one line of text that says something. */
int mla_add_ignore_check(const char *reason);

#endif

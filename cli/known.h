/* Findings that are known already: a base revision has them, or a baseline lists them. */
#ifndef MLA_CLI_KNOWN_H
#define MLA_CLI_KNOWN_H

#include "cli/scan.h"

/* Takes them out of the results of one tree and counts them in the scan. */
int mla_known_take_out(mla_scan *s, mla_scan_tree *t);

#endif

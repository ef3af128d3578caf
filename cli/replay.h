/* The engine's verdict on a fix: the project as it is, and as it is with the fix made. */
#ifndef MLA_CLI_REPLAY_H
#define MLA_CLI_REPLAY_H

#include "cli/scan.h"
#include "engine/sites.h"

/* The length at which the cache-length form is looked at. */
enum { MLA_REPLAY_CACHE_LEN = 8192 };

/* An error is one of ours; whatever the source does is a verdict. */
int mla_replay_fix(mla_site_verdict *out, const mla_scan *s, const mla_scan_tree *t,
                   const mla_fix *fix);

#endif

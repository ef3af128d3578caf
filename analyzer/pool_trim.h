/* Whether a pool is let go of when its cache is trimmed. Private to pool*.c. */
#ifndef MLA_ANALYZER_POOL_TRIM_H
#define MLA_ANALYZER_POOL_TRIM_H

#include "analyzer/pool_trace.h"

/*
 * `kept` is read back from an attribute that a class of this module, or one that it imports, sets
 * anew in the method that makes its cache shorter: no trim leaves windows behind then.
 * *cut: something of it is left.
 */
bool mla_pool_is_trimmed(mla_trace *t, const mla_trace_frame *fr, const mla_node *kept, bool *cut);

#endif

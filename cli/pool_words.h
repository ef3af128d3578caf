/*
 * Could a Python file hold an incremental pool? From its text alone, so that most files need not
 * be parsed. Every pool that analyzer/pool.h finds passes, whatever things are called: only what
 * the joining, the cutting off and the pooling of windows look like counts.
 */
#ifndef MLA_CLI_POOL_WORDS_H
#define MLA_CLI_POOL_WORDS_H

#include "analyzer/base.h"

/* `code` is free of comments and strings (code_only.h); with them, more may pass. */
bool mla_may_pool(mla_str code);

#endif

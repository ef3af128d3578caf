/* The two ways to print what the engine says about a pool. */
#ifndef MLA_CLI_VERIFY_POOL_H
#define MLA_CLI_VERIFY_POOL_H

#include "cli/replay.h"

#include <jansson.h>
#include <stdio.h>

void mla_verify_pool_text(FILE *to, const mla_verdict *v);
json_t *mla_verify_pool_json(const mla_verdict *v);

#endif

/* Which files a part of a sharded run reports, and what tells its parts from those of others. */
#ifndef MLA_CLI_SHARD_H
#define MLA_CLI_SHARD_H

#include "cli/scan.h"

enum { MLA_SHARDS_MAX = 4096 };

/* The shard, from 1, of a path from the root of its repository. It depends on nothing else. Paths
 * that a report writes alike are in one shard: their findings are counted together. */
uint32_t mla_shard_of(const char *path, uint32_t shards);

/* The same for all parts of one run: what is in it by its options and files. */
uint64_t mla_shard_run(const mla_options *o, const mla_tree *t);

/* Leaves in the scan of a tree what is about files of the shard that the options name. */
void mla_shard_take(mla_scan *s, mla_scan_tree *t);

#endif

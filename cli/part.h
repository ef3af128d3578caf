/* What a part of a sharded run holds besides its report: merge takes it away again. */
#ifndef MLA_CLI_PART_H
#define MLA_CLI_PART_H

#include "cli/json.h"
#include "cli/report.h"

/* {"index": ..., "count": ..., "run": ..., "files": ..., "status": ...} */
json_t *mla_part_shard(const mla_report *r);

/* Gives an entry of a part the place of its file among all files of the run, under the key "order".
 * A path alone would not do: JSON has no word for one that is not UTF-8. Nothing without shards. */
void mla_part_mark(json_t *entry, const mla_scan *s, const char *path);

/* A part that was read back. */
typedef struct {
	json_t *root;
	const char *name; /* of its file */
	const char *run;
	json_int_t index, count, files, status;
} mla_part;

/* MLA_ECONFIG: "NAME: not a part ...: WHAT" */
int mla_part_refuse(const mla_part *p, const char *what);

/* An entry of a part. */
typedef struct {
	json_t *entry; /* belongs to its part */
	json_int_t order;
	json_int_t shard;
	size_t at; /* in its list: entries of one file stay in order */
} mla_part_entry;

typedef MLA_VEC(mla_part_entry) mla_part_entries;

/* Adds the entries of a list and takes their marks away; these are in the entry or, as SARIF wants
 * it, in its bag of properties. */
int mla_part_entries_add(mla_part_entries *out, const mla_part *p, const json_t *list,
                         bool in_properties);

/* In the order of the whole. MLA_ECONFIG: two parts tell of the same file. */
int mla_part_entries_sort(mla_part_entries *v);

/* A whole from parts of one format; n of them, at least one. Parts are not what they were then. */
typedef int mla_merger(json_t **out, const mla_part *p, uint32_t n);
mla_merger mla_merge_json, mla_merge_sarif;

#endif

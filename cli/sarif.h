/* The parts of a SARIF 2.1.0 log that the results and the run share. */
#ifndef MLA_CLI_SARIF_H
#define MLA_CLI_SARIF_H

#include "cli/json.h"
#include "cli/report.h"

/* The results of a scan, most of MLA_SARIF_LIMIT; *left_out is how many there are besides. */
enum { MLA_SARIF_LIMIT = 25000 };
json_t *mla_sarif_results(const mla_scan *s, uint32_t *left_out);

/* {"text": ...} */
json_t *mla_sarif_text(mla_str s);

/* The region of a span. */
json_t *mla_sarif_region(const mla_module *m, mla_span span);

/* A place in the tree-th root of the scan; `region` is taken, and may be NULL. */
json_t *mla_sarif_place(const char *path, uint32_t tree, json_t *region);

/* "%SRCROOT%": the root that paths are relative to. Valid until the next call with this buffer. */
enum { MLA_SARIF_ROOT_SIZE = 24 };
const char *mla_sarif_root(char buffer[MLA_SARIF_ROOT_SIZE], uint32_t tree);

/* "note", "warning", "error" are what SARIF calls them; -1: it is none of these. */
const char *mla_sarif_level(mla_severity s);
int mla_sarif_severity(const char *level);

/* The log of a run, its `results` and `invocation` taken; NULL: without them. */
json_t *mla_sarif_log(mla_arena *arena, uint32_t roots, json_t *results, json_t *invocation);

/* Files by state: the names, in the order of the numbers. */
enum { MLA_SARIF_COUNTS = 4 };
extern const char *const mla_sarif_counts[MLA_SARIF_COUNTS];

/* Takes the notifications. */
json_t *mla_sarif_invocation(bool successful, int status, json_t *notifications,
                             const json_int_t counts[MLA_SARIF_COUNTS]);

/* The notification that results are left out, the same on standard error, and whether one is that.
 */
json_t *mla_sarif_left_out(mla_arena *arena, json_int_t left_out);
void mla_sarif_say_left_out(json_int_t left_out);
bool mla_sarif_is_limit(const json_t *notification);

/* Is one about code that was not analysed? These come after those about files. */
bool mla_sarif_is_unanalysed(const json_t *notification);

/* mla_part_mark() of a result or a notification. */
void mla_sarif_mark(json_t *o, const mla_scan *s, const char *path);

/* Cuts the numbers of findings by severity to what there is room for: the less severe are left out.
 * Returns the room that is left. */
uint32_t mla_sarif_budget(uint32_t budget[MLA_ERROR + 1], uint32_t room);

#endif

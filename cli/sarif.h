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

/* A place in the tree-th root of the scan; `region` is taken, and may be NULL. */
json_t *mla_sarif_place(const char *path, uint32_t tree, json_t *region);

/* "%SRCROOT%": the root that paths are relative to. Valid until the next call with this buffer. */
enum { MLA_SARIF_ROOT_SIZE = 24 };
const char *mla_sarif_root(char buffer[MLA_SARIF_ROOT_SIZE], uint32_t tree);

/* "none", "note", "warning", "error" are what SARIF calls them. */
const char *mla_sarif_level(mla_severity s);

#endif

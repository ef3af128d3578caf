/* One scan: files to modules to facts to findings to fixes. */
#ifndef MLA_CLI_SCAN_H
#define MLA_CLI_SCAN_H

#include "analyzer/c_facts.h"
#include "cli/config.h"
#include "cli/files.h"
#include "cli/fingerprint.h"
#include "cli/prefilter.h"
#include "fixers/apply.h"

/* A finding with its fix. Findings of one decision share the fix. */
typedef struct {
	const mla_finding *finding;
	mla_fix *fix;
	const mla_file_settings *settings; /* of the finding's file */
} mla_result;

typedef struct {
	mla_module *module;
	const mla_test *test;
} mla_kept_test;

/* The part of a scan under one root. */
typedef struct {
	mla_tree *tree;
	mla_project *project;
	mla_c_arguments *c_arguments;
	mla_c_facts *c_facts;        /* NULL: no such source */
	MLA_VEC(mla_site *) sites;   /* decisions with a test in a checked file */
	MLA_VEC(mla_heir) heirs;     /* classes that inherit a decision from another file */
	MLA_VEC(mla_result) results; /* by path, then position, then code */
	MLA_VEC(const mla_finding *) suppressed; /* by a comment; in the same order */
	MLA_VEC(mla_kept_test) kept;
	const mla_unanalysed *unanalysed; /* in C sources */
	uint32_t unanalysed_count;
	MLA_VEC(mla_fix *) fixes; /* each once, in the order of the findings */
} mla_scan_tree;

typedef struct {
	const mla_options *options;
	mla_configs *configs;
	mla_settings sizes; /* of a checkpoint; --geometry and configurations come on top */
	mla_fileset files;
	mla_arena *arena; /* facts, findings, fixes */
	mla_prefilter *prefilter;
	MLA_VEC(mla_scan_tree) trees;
	uint32_t checked, partial, skipped, failed; /* files */
	uint32_t named_skipped; /* of those skipped, files that the user named */
	uint32_t doubtful;      /* of those partial, files that may have lost a finding */
	uint32_t findings, fixable, kept, suppressed;
	uint32_t in_base, in_baseline; /* findings that are known and therefore left out */
	bool has_baseline;             /* given, or in a configuration */
	uint32_t baseline_gone;        /* entries of the baseline that are no longer found */
	uint32_t base_failed;          /* files of the base that could not be compared with */
	mla_fingerprint *accepted;     /* for --write-baseline: all findings there were */
	uint32_t accepted_count;
	uint64_t run;            /* of a shard: the same in all parts of one run */
	uint32_t run_files;      /* and the files of the whole */
	uint32_t fixes_left_out; /* offered, but the result would be no file that can be read */
} mla_scan;

/* Scans what the options say. Findings are no error; what could not be done is. */
int mla_scan_run(mla_scan *out, const mla_options *o);
/* The same for files that were collected already, which it takes over. */
int mla_scan_files(mla_scan *out, const mla_options *o, mla_fileset *files);
void mla_scan_free(mla_scan *s);

/* What holds for the file of the first finding that the fix is for. */
const mla_file_settings *mla_scan_settings(const mla_scan_tree *t, const mla_fix *fix);

/* Is there a file without a verdict: one that failed, one named by the user and skipped, or one
 * that may have lost a finding where it could not be analysed? */
bool mla_scan_incomplete(const mla_scan *s);

#endif

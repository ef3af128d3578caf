/* The command line: one table of options makes parsing, --help and the manual page agree. */
#ifndef MLA_CLI_OPTIONS_H
#define MLA_CLI_OPTIONS_H

#include "fixers/fix.h"

#define MLA_VERSION "0.1.0"

typedef enum {
	MLA_VERB_CHECK,
	MLA_VERB_PATCH,
	MLA_VERB_VERIFY,
	MLA_VERB_THRESHOLD,
	MLA_VERB_BENCH,
	MLA_VERB_PLAN,
	MLA_VERB_RULE,
	MLA_VERB_VERSION,
	MLA_VERB_CONFIG,
	MLA_VERB_MERGE,
	MLA_VERB_HELP,
} mla_verb;

typedef enum {
#define MLA_FORMAT(id, name, check, ...) MLA_FORMAT_##id,
#include "cli/formats.def"
#undef MLA_FORMAT
	MLA_FORMATS /* their number */
} mla_format;

/* One report of a run: its format, and the file it goes to ("-": standard output). */
typedef struct {
	mla_format format;
	const char *path;
} mla_target;

enum { MLA_OUTPUTS_MAX = 16 };

typedef enum { MLA_SPLIT_NOTHING, MLA_SPLIT_RULE, MLA_SPLIT_FILE } mla_split;
typedef enum { MLA_COLOR_AUTO, MLA_COLOR_ALWAYS, MLA_COLOR_NEVER } mla_color;

typedef struct {
	mla_verb verb;
	bool verb_given;
	const char *const *args; /* paths, or what the verb takes; borrowed from argv */
	uint32_t arg_count;
	/* comma-separated, as given; NULL: not given */
	const char *select, *ignore, *extend_select, *exclude;
	const char *config; /* the only file that settings come from */
	bool isolated, force_exclude;
	bool dump, check; /* config --dump, --check */
	mla_form form;
	bool has_form;
	mla_format format;
	mla_color color;
	mla_target output[MLA_OUTPUTS_MAX]; /* at least one, but for patch */
	uint32_t output_count;
	const char *branch, *mbox; /* patch; NULL: not asked for */
	mla_split split;
	const char *model_config;
	const char *stdin_filename;
	const char *add_ignore; /* the reason; NULL: not given */
	const char *rev;        /* NULL: the files on disk */
	const char *diff_base, *baseline, *write_baseline;
	mla_geometry geometry;
	bool has_geometry;
	bool show_kept, show_suppressed, statistics, exit_zero, no_ignore, diff, fix, unsafe_fixes,
		verify, no_verify, quiet, verbose;
	bool all; /* rule --all */
	bool has_help_of;
	mla_verb help_of; /* help */
	uint32_t jobs;
	uint32_t shard, shards;                              /* from 1; 0: the whole */
	int64_t rank, nope, value, cache_length;             /* threshold; -1: not given */
	const char *backend, *widths, *cached, *plot, *from; /* lists as given; NULL: not given */
	int64_t heads, top_k, samples, patience;             /* bench; 0: not given */
	bool pool, keep_invalid;
	const char *accept, *verify_ms, *bench; /* plan */
	double draft_ms, decode_ms;             /* plan; -1: not given */
	int64_t layers;                         /* plan; 0: not given */
} mla_options;

/* MLA_ECONFIG on any mistake. Help that is asked for in whatever way is the verb help. */
int mla_options_parse(mla_options *out, int argc, char **argv);

/* Does a path of an output mean standard output? */
bool mla_output_is_stdout(const char *path);

/* "512/128/64/128"; with `heads`, also "512/128/64/128x16", and 0 there without the last part. */
int mla_options_geometry(mla_geometry *out, int64_t *heads, const char *text);

/* A decimal number, not negative, of `len` bytes and nothing else. */
bool mla_options_number(double *out, const char *text, size_t len);

/* "cache-length" */
int mla_options_form(mla_form *out, const char *text);

/* The tables, for the manual page and the completions; false after the last. */
typedef struct {
	const char *name;
	int letter; /* 0: none */
	const char *argument, *verbs, *help;
} mla_option_text;

typedef struct {
	const char *name;
	char letter; /* that stands for it in the verbs of an option */
	const char *usage, *summary;
	const char *status; /* what 0, 1 and 2 mean */
} mla_verb_text;

bool mla_options_at(mla_option_text *out, uint32_t i);
bool mla_options_verb(mla_verb_text *out, uint32_t i);

#endif

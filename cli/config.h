/*
 * Settings from files: [tool.mlalint] in pyproject.toml, mlalint.toml or .mlalint.toml. The one
 * closest above a file holds for it, alone; the command line goes before it.
 */
#ifndef MLA_CLI_CONFIG_H
#define MLA_CLI_CONFIG_H

#include "cli/files.h"
#include "cli/selection.h"

typedef enum {
#define MLA_KEY(id, name, kind, help) MLA_KEY_##id,
#include "cli/config.def"
#undef MLA_KEY
	MLA_KEY_COUNT
} mla_key;

extern const char *const mla_key_names[]; /* NULL-terminated */

typedef struct {
	mla_str pattern; /* without the ! */
	bool others;     /* the files that do not match */
	mla_strs codes;
	mla_geometry geometry;
	const char *text; /* of the geometry, as written */
} mla_for_path;

typedef struct {
	mla_str code;
	mla_severity severity;
} mla_for_code;

typedef struct {
	const char *path;             /* as it is shown; NULL: there is no file, all is default */
	const char *base;             /* absolute folder that patterns are relative to */
	uint32_t line[MLA_KEY_COUNT]; /* 0: not given */
	mla_strs select, ignore, extend_select, exclude;
	bool force_exclude;
	const char *baseline; /* relative to `base`; NULL: none */
	mla_form form;
	const mla_for_path *per_file_ignores, *geometry;
	uint32_t per_file_ignore_count, geometry_count;
	const mla_for_code *severity;
	uint32_t severity_count;
} mla_config;

/* Fills the keys from the text of a file that is named `path`; whether the text holds settings at
 * all is in *found (a pyproject.toml may hold none). MLA_ECONFIG with "path:line: reason". */
int mla_config_read(mla_config *out, bool *found, mla_arena *arena, const char *path, mla_str text);

/* All configurations of a run. */
typedef struct mla_configs mla_configs;

int mla_configs_new(mla_configs **out, const mla_options *o);
void mla_configs_free(mla_configs *c); /* NULL is fine */

/* One file, whatever its name; its patterns are relative to the working directory. */
int mla_configs_read(const mla_config **out, mla_configs *c, const char *path);

/* What holds for one file. */
typedef struct {
	bool on[MLA_RULES_MAX]; /* indexed like mla_rules */
	mla_severity severity[MLA_RULES_MAX];
	mla_form form;
	const mla_geometry *geometry; /* NULL: none is given */
} mla_file_settings;

mla_severity mla_settings_severity(const mla_file_settings *s, const mla_rule *rule);

/* The configuration above a file of the tree, which need not exist. */
int mla_configs_find(const mla_config **out, mla_configs *c, const mla_tree *tree,
                     const char *path);

/* Lives as long as the configurations. */
int mla_configs_file(const mla_file_settings **out, mla_configs *c, const mla_tree *tree,
                     const char *path);

/* Is a folder excluded that was met on the way, and not named? The tree keeps count. */
int mla_configs_leave_out(bool *out, mla_configs *c, mla_tree *tree, const char *folder);

/* Takes what is excluded out of the files that were collected, and notes how many. */
int mla_configs_exclude(mla_configs *c, mla_fileset *files);

#endif

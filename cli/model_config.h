/* Sizes from a checkpoint's config.json. */
#ifndef MLA_CLI_MODEL_CONFIG_H
#define MLA_CLI_MODEL_CONFIG_H

#include "analyzer/evaluate.h"

/*
 * Reads every integer of the file's object, and of its text_config, language_config or llm_config
 * when it has one (that one wins). MLA_ECONFIG for what is no such file. Free with
 * mla_model_config_free().
 */
int mla_model_config_read(mla_settings *out, const char *path);
void mla_model_config_free(mla_settings *s);

/* All four sizes; MLA_ECONFIG names the one that is missing or out of range. A missing
 * qk_rope_head_dim is 0. */
int mla_model_config_geometry(mla_geometry *out, const mla_settings *s, const char *path);

/* The same where the source may say what the file does not: *missing is the first size that is not
 * there, NULL when all are. MLA_ECONFIG for one that is out of range. */
int mla_model_config_check(const char **missing, const mla_settings *s, const char *path);

#endif

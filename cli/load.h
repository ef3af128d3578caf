/* Reading, prefiltering and parsing the files of a scan, on several threads. */
#ifndef MLA_CLI_LOAD_H
#define MLA_CLI_LOAD_H

#include "cli/files.h"
#include "analyzer/c_source.h"

typedef struct {
	mla_tree *tree;
	mla_file *file;
	mla_module *module; /* NULL: not parsed, nothing in it concerns us */
	mla_c_arguments *c; /* for sources in C */
	mla_str bytes;      /* of a file that was not parsed; ptr NULL: to be read again */
} mla_load;

/* Loads every file that is to be checked; the order of `v` decides nothing but its own. */
int mla_load_all(mla_load *v, uint32_t n, uint32_t threads, bool with_kept, bool with_loaders);

/* Of the files not parsed yet, loads those that derive from a class among `names`. */
int mla_load_derived(mla_load *v, uint32_t n, uint32_t threads, const char *const *names);

void mla_load_free(mla_load *v, uint32_t n); /* the bytes, not the modules */

#endif

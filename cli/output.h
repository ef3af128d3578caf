/* Where reports go. One that replaces a file is complete or not there at all. */
#ifndef MLA_CLI_OUTPUT_H
#define MLA_CLI_OUTPUT_H

#include "cli/options.h"

#include <stdio.h>

typedef struct {
	mla_format format;
	const char *path; /* as given; "-" is standard output */
	FILE *to;
	char *file, *aside; /* it is written to `aside` first; NULL: straight to its place */
} mla_output;

typedef struct {
	mla_output v[MLA_OUTPUTS_MAX];
	uint32_t n;
} mla_outputs;

/* Opens every output of the options; on failure none is left open. */
int mla_outputs_open(mla_outputs *out, const mla_options *o);

/* What was written must be seen before what follows on standard error. */
void mla_outputs_flush(mla_outputs *s);

/* Puts every report in its place; MLA_EXIT_NO_VERDICT after a message for each that did not get
 * there, else `status`. A status of no verdict with nothing written leaves an old report as it is.
 */
int mla_outputs_close(mla_outputs *s, int status);

/* The same for a verb that only prints. */
int mla_stdout_close(int status);

#endif

/* The bench verb in parts: what to measure, the report, the charts, and reading a report back. */
#ifndef MLA_CLI_BENCH_H
#define MLA_CLI_BENCH_H

#include "analyzer/vec.h"
#include "cli/options.h"
#include "engine/bench.h"

#include <stdio.h>

enum { MLA_BENCH_HEADS = 16 }; /* unless xH says otherwise: both arms grow with them alike */

/* A run, complete or stopped. */
typedef struct {
	mla_bench_spec spec;
	char backend[64], note[256]; /* note: why auto fell back, or "" */
	uint32_t threads;            /* of the processor; 0 on a GPU */
	mla_bench_effort effort;
	mla_bench_point *points;
	uint32_t n;
	bool interrupted;
} mla_bench_report;

void mla_bench_report_free(mla_bench_report *r);

/* From --geometry, --model-config or the sources of a path. */
int mla_bench_spec_from(mla_bench_spec *out, const mla_options *o);

/* What follows from each cached length that has a measurement, ascending. */
typedef MLA_VEC(mla_bench_length) mla_bench_lengths;
void mla_bench_report_lengths(mla_bench_lengths *out, const mla_bench_report *r);

typedef void mla_bench_printer(FILE *to, const mla_bench_report *r);
mla_bench_printer mla_bench_text, mla_bench_json, mla_bench_plot;

/* The numbers of mla_bench_paired: their keys are NAME, this and the unit. */
typedef struct {
	const char *key;
	size_t at;
} mla_bench_field;
enum { MLA_BENCH_FIELDS = 7, MLA_BENCH_KEY = 32 };
extern const mla_bench_field mla_bench_fields[MLA_BENCH_FIELDS];

/* MLA_ECONFIG says what makes FILE no report of bench. What is not ASCII text is a question mark.
 */
int mla_bench_json_read(mla_bench_report *out, const char *path);

#endif

/*
 * Watching a long measurement: a bar with the time left on a terminal, and the interrupt key. The
 * signal stays blocked while something is measured and is asked for between samples, so what was
 * measured so far can be reported; after mla_bench_watch_end() it ends the program again.
 */
#ifndef MLA_CLI_BENCH_WATCH_H
#define MLA_CLI_BENCH_WATCH_H

#include "engine/bench.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

typedef struct {
	FILE *bar; /* NULL: no terminal */
	bool shown;
	struct timespec start;
	sigset_t old;
} mla_bench_watcher;

/* Before any thread is started: threads must not take the signal either. */
mla_bench_watch mla_bench_watch_begin(mla_bench_watcher *w, bool quiet);
void mla_bench_watch_end(mla_bench_watcher *w);

/* "1:05" or "1:02:03" for what is left after `seconds` for a share `done` of the work; "" while
 * there is nothing to go by. */
void mla_bench_time_left(char out[24], double done, double seconds);

#endif

/*
 * Being asked to stop: SIGINT, SIGTERM, SIGHUP. The program then ends as if it knew nothing of
 * signals, but takes along the files that are not in their place yet, says what it has written, and
 * does not end between two files that belong together.
 */
#ifndef MLA_CLI_STOP_H
#define MLA_CLI_STOP_H

#include "analyzer/base.h"

#include <stdio.h>

/* Once, before threads are started. */
void mla_stop_start(void);

/* Between these two a signal waits. The second one ends the program if one came. */
void mla_stop_hold(void);
void mla_stop_release(void);

/* Is one waiting? */
bool mla_stop_asked(void);

/* A file to remove, until it is forgotten; to be called while signals wait. `path` has to live that
 * long. */
void mla_stop_temporary(const char *path);
void mla_stop_forget(const char *path);

/* From now on, who stops the program is told what was written. */
void mla_stop_expect_writing(void);

/* Something of the user's has a new content now; to be called while signals wait. */
void mla_stop_written(const char *what);

/* "mlalint: nothing was written" or a line for each. */
void mla_stop_say_written(FILE *to);

#endif

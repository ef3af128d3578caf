/* The verbs. Each returns the exit status: 0, 1, or 2 after a message on standard error. */
#ifndef MLA_CLI_VERBS_H
#define MLA_CLI_VERBS_H

#include "cli/options.h"

#include <stdio.h>

enum { MLA_EXIT_CLEAN = 0, MLA_EXIT_FINDINGS = 1, MLA_EXIT_NO_VERDICT = 2 };

int mla_verb_check(const mla_options *o);
int mla_verb_patch(const mla_options *o);
int mla_verb_verify(const mla_options *o);
int mla_verb_threshold(const mla_options *o);
int mla_verb_bench(const mla_options *o);
int mla_verb_plan(const mla_options *o);
int mla_verb_rule(const mla_options *o);
int mla_verb_version(const mla_options *o);
int mla_verb_merge(const mla_options *o);
int mla_verb_config(const mla_options *o);
int mla_verb_help(const mla_options *o);

/* Prints the last error to standard error; MLA_EXIT_NO_VERDICT. */
int mla_fail(void);

/* Text of a user for a terminal: control characters but the tab are escaped. */
void mla_put_clean(FILE *to, mla_str s);
/* The same on one line: line ends become a blank, with the blanks around them. */
void mla_put_joined(FILE *to, mla_str s);

bool mla_use_color(const mla_options *o, FILE *f);

#endif

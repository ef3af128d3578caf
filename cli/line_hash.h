/* The value by which GitHub's code scanning follows a line from one upload to the next. */
#ifndef MLA_CLI_LINE_HASH_H
#define MLA_CLI_LINE_HASH_H

#include "analyzer/text.h"

typedef struct {
	uint64_t hash;
	uint32_t occurrence; /* from 1, among the lines so far with this hash */
} mla_line_hash;

/*
 * primaryLocationLineHash of every line; [0] is that of line 1, and there are as many as lines.
 * GitHub's upload action computes the same where it is missing: a hash of the 100 UTF-16 units from
 * the start of the line on, over following lines too, without blanks and tabs. free() it.
 */
mla_line_hash *mla_line_hashes(const mla_text *t);

#endif

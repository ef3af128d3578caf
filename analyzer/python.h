/* Python front end: source text to syntax. */
#ifndef MLA_ANALYZER_PYTHON_H
#define MLA_ANALYZER_PYTHON_H

#include "analyzer/syntax.h"

/* One per thread; reusable for any number of texts. */
typedef struct mla_python mla_python;

/* MLA_EPARSE when the tree-sitter library and the grammar do not fit each other. */
int mla_python_new(mla_python **out);
void mla_python_free(mla_python *p); /* NULL is fine */

/* Always gives a tree, with ERROR nodes where the source is broken; names point into `text`. */
int mla_python_parse(mla_syntax *out, mla_python *p, const mla_text *text, mla_arena *arena);

/* "0.20.x ABI 13..14, grammar ABI 14" and so on, for `version`. */
unsigned mla_python_grammar_abi(void);
void mla_python_library_abi(unsigned *min, unsigned *max);

#endif

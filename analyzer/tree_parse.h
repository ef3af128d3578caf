/* Running tree-sitter on text that nobody vouches for. */
#ifndef MLA_ANALYZER_TREE_PARSE_H
#define MLA_ANALYZER_TREE_PARSE_H

#include "analyzer/arena.h"

#include <tree_sitter/api.h>

/*
 * Its memory is guarded (tree_memory.h). With the language set; NULL: the library does not read
 * grammars of this one's ABI. ts_parser_delete() gives it back.
 */
TSParser *mla_tree_parser(const TSLanguage *language);

/*
 * To recover from errors takes time that may grow with the cube of what is wrong: minutes for some
 * 100 KB. NULL: not done within `seconds`. The parser can be used again.
 */
TSTree *mla_tree_parse(TSParser *parser, mla_str text, int seconds);

#endif

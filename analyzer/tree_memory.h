/* The memory of tree-sitter. */
#ifndef MLA_ANALYZER_TREE_MEMORY_H
#define MLA_ANALYZER_TREE_MEMORY_H

/* Before a parser is made; any thread, any number of times. */
void mla_tree_memory_guard(void);

#endif

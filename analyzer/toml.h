/*
 * TOML 1.0 text to a tree of tables, arrays and values. Knows nothing of what the keys mean.
 */
#ifndef MLA_ANALYZER_TOML_H
#define MLA_ANALYZER_TOML_H

#include "analyzer/arena.h"
#include "analyzer/text.h"

typedef enum {
	MLA_TOML_TABLE,
	MLA_TOML_ARRAY,
	MLA_TOML_STRING,
	MLA_TOML_INTEGER,
	MLA_TOML_FLOAT, /* its value is not kept: no setting is one */
	MLA_TOML_BOOL,
	MLA_TOML_DATE, /* any of the four kinds of date and time; its value is not kept */
} mla_toml_kind;

typedef struct mla_toml mla_toml;
struct mla_toml {
	mla_toml_kind kind;
	mla_str key;                   /* in a table: decoded, may hold any character */
	uint32_t at;                   /* offset of the key, in an array of the value */
	mla_str string;                /* decoded */
	int64_t integer;               /* of an integer, or 0 and 1 for a boolean */
	mla_toml *first, *last, *next; /* of a table or an array, in the order of the file */
	/* How a table may still grow. Only of use while the file is read. */
	bool has_header, is_closed, is_list; /* [t], a value in one piece, [[t]] */
	uint32_t dotted;                     /* the header under which a dotted key made it */
};

/* Tables, arrays and dotted keys in one another; more is refused. */
enum { MLA_TOML_DEPTH_MAX = 128 };

/* MLA_ECONFIG with "path:line: reason" for what is not TOML 1.0. The tree lives in `arena`. */
int mla_toml_parse(mla_toml **out, mla_arena *arena, const mla_text *text);

/* NULL when the table has no such key. */
const mla_toml *mla_toml_get(const mla_toml *table, const char *key);

/* "a string", for messages. */
const char *mla_toml_kind_name(mla_toml_kind k);

unsigned mla_toml_grammar_abi(void);

#endif

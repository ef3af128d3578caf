/* What the names of C code say: projections, the latent, queries, sizes. Spelling only. */
#ifndef MLA_ANALYZER_C_NAMES_H
#define MLA_ANALYZER_C_NAMES_H

#include "analyzer/base.h"

/* What a value is made of; also what a name promises. */
enum {
	MLA_C_KEY = 1 << 0,      /* the up-projection n -> r, or a slice of it */
	MLA_C_VALUE = 1 << 1,    /* the up-projection r -> v */
	MLA_C_BOTH = 1 << 2,     /* both in one matrix */
	MLA_C_QUERY = 1 << 3,    /* a query per head */
	MLA_C_FOLDED = 1 << 4,   /* the same in latent space */
	MLA_C_LATENT = 1 << 5,   /* cached latent rows */
	MLA_C_NEW = 1 << 6,      /* latent rows of this step only */
	MLA_C_EXPANDED = 1 << 7, /* keys or values out of an up-projection */
	MLA_C_SCORES = 1 << 8,
	MLA_C_ATTENDED = 1 << 9, /* scores times latent rows */
	MLA_C_CHOSEN = 1 << 10,  /* indices of a top-k */
	MLA_C_ROTARY = 1 << 11,  /* the rotary part of keys */
	/* integers */
	MLA_C_RANK = 1 << 12,
	MLA_C_NOPE = 1 << 13,
	MLA_C_VDIM = 1 << 14,
	MLA_C_ROPE = 1 << 15,
	MLA_C_HEAD_K = 1 << 16,    /* n plus the rotary size */
	MLA_C_COUNT = 1 << 17,     /* the number of new queries */
	MLA_C_LENGTH = 1 << 18,    /* the number of cached rows */
	MLA_C_NEW_INDEX = 1 << 19, /* runs over the rows of this step */

	MLA_C_WEIGHT = MLA_C_KEY | MLA_C_VALUE | MLA_C_BOTH,
	MLA_C_TENSOR = (1 << 12) - 1,
};

/* The parts of a name in lower case: "numHeads", "n_heads" -> num heads, n heads. */
enum { MLA_WORDS_MAX = 12 };
typedef struct {
	char text[96];
	const char *v[MLA_WORDS_MAX];
	uint32_t n;
} mla_name_words;

void mla_name_split(mla_name_words *out, mla_str name);
bool mla_name_has(const mla_name_words *w, const char *word);
bool mla_name_has_any(const mla_name_words *w, const char *const *words);

/* Is it the name of an up-projection and of nothing that is computed, such as `q_absorb` may be? */
bool mla_name_is_weight(mla_str name);

uint32_t mla_name_tensor(mla_str name);  /* tags of a tensor or pointer of that name */
uint32_t mla_name_integer(mla_str name); /* tags of an integer of that name */

/* Does the name alone say that it counts queries or tokens, and not rows of anything? */
bool mla_name_counts_queries(mla_str name);

/* Does the name have to do with latent attention at all? */
bool mla_name_is_evidence(mla_str name);

/* A hint to the compiler that has the value of its first argument: __builtin_expect */
bool mla_name_passes_condition(mla_str name);

/* What a function that is not in sight does, from its name. */
typedef enum {
	MLA_C_PASS, /* its result is made of its arguments */
	MLA_C_PRODUCT,
	MLA_C_ATTEND,
	MLA_C_FOLD,     /* absorbs the query */
	MLA_C_EXPAND,   /* materialises keys and values */
	MLA_C_FOLLOWUP, /* projects the attended latent */
	MLA_C_GATHER,
	MLA_C_TOP_K,
	MLA_C_LAYOUT,
	MLA_C_ALLOCATE,
} mla_c_function;

mla_c_function mla_name_function(mla_str name);

#endif

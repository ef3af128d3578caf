/*
 * What only a C compiler knows of a node: the declaration it means, its type, its value, and
 * whether it is spelled in the file at all. Filled by the clang front end, read by c_*.c.
 */
#ifndef MLA_ANALYZER_C_INFO_H
#define MLA_ANALYZER_C_INFO_H

#include "analyzer/syntax.h"

typedef enum {
	MLA_DECL_NONE,
	MLA_DECL_LOCAL,
	MLA_DECL_PARAMETER,
	MLA_DECL_FIELD, /* instance variables too */
	MLA_DECL_GLOBAL,
	MLA_DECL_CONSTANT, /* an enumerator, or a value parameter of a template */
	MLA_DECL_FUNCTION,
} mla_decl;

typedef struct mla_record mla_record;

typedef struct {
	mla_str name;
	const mla_record *record; /* the struct it is or points to; NULL: none */
	bool pointer, integer;
} mla_field;

struct mla_record {
	uint64_t id;
	mla_str name;
	const mla_field *field;
	uint32_t n;
};

struct mla_c_info {
	uint64_t id;              /* of the declaration, the same in every file; 0: not known */
	int64_t value;            /* of a constant */
	const mla_record *record; /* the struct of the value or what it points to */
	uint8_t decl;             /* mla_decl */
	bool value_known;
	bool macro; /* spelled in the body of a macro */
	bool boolean, integer, pointer, array;
	bool unsigned_long; /* an unsigned integer that may have 64 bits */
	bool size; /* made of integers that may have 64 bits: sizes and strides, no tensor's data */
	bool constant;   /* declared const or constexpr */
	bool internal;   /* a function that other files cannot call */
	bool call_const; /* a method that cannot change its object */
};

static inline mla_decl mla_decl_of(const mla_node *n)
{
	return n && n->c ? (mla_decl)n->c->decl : MLA_DECL_NONE;
}

/* bool too */
static inline bool mla_c_is_integer(const mla_node *n)
{
	return n && n->c && (n->c->integer || n->c->boolean);
}

/* The id of the struct that a pointer leads to; 0: it is none. */
static inline uint64_t mla_c_pointee(const mla_node *n)
{
	return n && n->c && n->c->pointer && n->c->record ? n->c->record->id : 0;
}

static inline const mla_node *mla_c_without_casts(const mla_node *n)
{
	while (n && n->kind == MLA_N_CAST)
		n = mla_kid(n, 0);
	return n;
}

/* Without address operators too: what `(T *)&x` names. */
static inline const mla_node *mla_c_named(const mla_node *n)
{
	while (n && (n->kind == MLA_N_CAST || (n->kind == MLA_N_UNARY && n->op == MLA_OP_ADDRESS)))
		n = mla_kid(n, 0);
	return n;
}

#endif

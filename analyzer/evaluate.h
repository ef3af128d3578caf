/*
 * What a size is, read from the source: a constructor's expressions, followed through attributes,
 * config classes and their defaults to an integer. Runs no code; what it cannot follow is unknown.
 */
#ifndef MLA_ANALYZER_EVALUATE_H
#define MLA_ANALYZER_EVALUATE_H

#include "analyzer/class.h"
#include "analyzer/geometry.h"

/* Where a number comes from, the weakest source of all that went into it. */
typedef enum {
	MLA_SOURCE_FILE,    /* the same file */
	MLA_SOURCE_CLASS,   /* a config class in another file */
	MLA_SOURCE_MODEL,   /* a checkpoint's config (--model-config) */
	MLA_SOURCE_OPTION,  /* --geometry */
	MLA_SOURCE_ASSUMED, /* nobody says; a usual value */
} mla_source;

const char *mla_source_name(mla_source s);

typedef enum { MLA_UNKNOWN, MLA_IS_NONE, MLA_IS_INT, MLA_IS_BOOL } mla_known;

typedef struct {
	mla_known known;
	mla_source source;
	int64_t value; /* the integer; 0 or 1 for a boolean */
} mla_number;

/* What the user says about sizes, in place of the source's defaults. */
typedef struct {
	const char *name;
	int64_t value;
} mla_setting;

typedef struct {
	const mla_setting *v; /* fields of a checkpoint's config, replacing defaults of that name */
	uint32_t n;
	const mla_geometry *geometry; /* all sizes at once, or NULL */
} mla_settings;

/* Where an expression stands: inside a constructor (or any method) of a class. */
typedef struct {
	mla_project *project;
	const mla_settings *settings;         /* may be NULL */
	const mla_constructors *constructors; /* for `self.x`; may be NULL */
	mla_module *module;
	const mla_node *function; /* for parameters and locals; NULL at module level */
} mla_scope;

mla_number mla_evaluate(const mla_scope *scope, const mla_node *expr);

/* +, -, *, //, % and exact /; unknown when an operand is, or the result is no size any more. */
mla_number mla_number_arithmetic(mla_op op, mla_number a, mla_number b);

/* The class of the object that `expr` is, from annotations and assignments; node NULL: unknown. */
mla_class mla_evaluate_class(const mla_scope *scope, const mla_node *expr);

/* The default of a field of a config class: what is assigned in its body, or the default of that
 * parameter of its constructor. */
mla_number mla_evaluate_field(const mla_scope *scope, mla_class config, mla_str name);

#endif

/*
 * mslgen: reads the kernels after macro expansion, refuses what the disciplined subset does not
 * allow, and emits the code that runs them. It parses declarations and statements only as far as
 * that needs; types and expressions are left to the compilers.
 */
#ifndef MLA_ENGINE_TOOLS_MSLGEN_H
#define MLA_ENGINE_TOOLS_MSLGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyzer/arena.h"

typedef enum { MSL_WORD, MSL_NUMBER, MSL_STRING, MSL_PUNCT, MSL_END } msl_kind;

typedef struct {
	msl_kind kind;
	mla_str text;     /* into the source */
	const char *file; /* from the preprocessor's line markers */
	unsigned line;
} msl_token;

typedef enum { MSL_BUFFER, MSL_ARGS, MSL_GROUP, MSL_BUILTIN } msl_arg_kind;

typedef struct {
	msl_arg_kind kind;
	mla_str type;   /* without address space, name and attribute; MSL_BUILTIN: the attribute */
	unsigned index; /* buffer(index), threadgroup(index) */
	size_t first, last; /* tokens [first, last) */
} msl_arg;

enum { MSL_ARGS_MAX = 24 };

typedef struct {
	mla_str name;
	bool kernel;
	size_t at;                 /* token of the name */
	size_t params, params_end; /* tokens between the parentheses */
	size_t body, body_end;     /* tokens between the braces; equal for a prototype */
	msl_arg arg[MSL_ARGS_MAX]; /* kernels only */
	unsigned n_args;
} msl_function;

typedef struct {
	mla_str name;
	size_t body, body_end;
} msl_struct;

typedef struct {
	mla_arena *arena;
	mla_str text;
	msl_token *tok; /* n tokens, then MSL_END */
	size_t n;
	msl_function *fn;
	size_t n_fn;
	msl_struct *rec;
	size_t n_rec;
	unsigned errors;
} msl_unit;

bool msl_is(const msl_token *t, const char *text);
bool msl_same(mla_str a, mla_str b);
void msl_refuse(msl_unit *u, const msl_token *at, const char *fmt, ...) MLA_PRINTF(3, 4);

/* The index after the bracket that closes the one at i; u->n when there is none. */
size_t msl_close(const msl_unit *u, size_t i);

void msl_lex(msl_unit *u);
void msl_parse(msl_unit *u); /* declarations, and refusals at namespace scope */
void msl_lint(msl_unit *u);  /* refusals inside functions; fills the kernels' args */

/* MSL_SPACES: for clang -fsyntax-only, where device, constant and threadgroup are real spaces. */
typedef enum { MSL_CPU, MSL_STRICT, MSL_CUDA, MSL_SPACES } msl_target;

/* `unit` names the table: msl_<unit>_<isa>, the isa given by -DMSL_ISA when it is compiled. */
void msl_emit(FILE *to, const msl_unit *u, msl_target target, const char *unit);

#endif

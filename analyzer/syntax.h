/*
 * Our own small syntax tree, made by a front end (python.c, clang.c) and read by everyone
 * else: facts, fixes and the replay. Parentheses and comments are not nodes: `outer` holds the
 * former, the comment list the latter. Nodes live in the arena they were made in; their names
 * point into the text.
 *
 * Walk with mla_node_next(): trees of a user are never recursed over without a depth limit.
 */
#ifndef MLA_ANALYZER_SYNTAX_H
#define MLA_ANALYZER_SYNTAX_H

#include "analyzer/arena.h"
#include "analyzer/text.h"

/*
 * Kind (name = what the `name` field holds): kids in order. `x?` may be NULL, `x*` is any number.
 */
typedef enum {
	MLA_N_OTHER = 0, /* kid*: something no analysis needs to understand */
	MLA_N_ERROR,     /* kid*: what the parser could not make sense of */
	/* statements */
	MLA_N_MODULE,      /* statement* */
	MLA_N_BLOCK,       /* statement* */
	MLA_N_CLASS,       /* (name) bases: ARGUMENTS?, BLOCK, DECORATORS? */
	MLA_N_FUNCTION,    /* (name) PARAMETERS, BLOCK, return annotation?, DECORATORS? */
	MLA_N_PARAMETERS,  /* PARAMETER* */
	MLA_N_PARAMETER,   /* (name) annotation?, default?; op: MLA_OP_STAR, MLA_OP_POWER or none */
	MLA_N_DECORATORS,  /* expression* */
	MLA_N_IF,          /* test, BLOCK, else: BLOCK or IF (an elif), or NULL */
	MLA_N_WHILE,       /* test, BLOCK, else BLOCK? */
	MLA_N_FOR,         /* target, iterable, BLOCK, else BLOCK? */
	MLA_N_WITH,        /* WITH_ITEM*, BLOCK last */
	MLA_N_WITH_ITEM,   /* value, target? */
	MLA_N_TRY,         /* BLOCK, then HANDLER*, ELSE?, FINALLY? */
	MLA_N_HANDLER,     /* type?, BLOCK */
	MLA_N_ELSE,        /* BLOCK */
	MLA_N_FINALLY,     /* BLOCK */
	MLA_N_MATCH,       /* subject, CASE* */
	MLA_N_CASE,        /* pattern, guard?, BLOCK */
	MLA_N_RETURN,      /* value? */
	MLA_N_RAISE,       /* value?, cause? */
	MLA_N_ASSERT,      /* test, message? */
	MLA_N_DELETE,      /* expression* */
	MLA_N_PASS,        /* */
	MLA_N_BREAK,       /* */
	MLA_N_CONTINUE,    /* */
	MLA_N_GLOBAL,      /* NAME* (nonlocal too) */
	MLA_N_EXPRESSION,  /* value */
	MLA_N_ASSIGN,      /* target+, value last */
	MLA_N_ANN_ASSIGN,  /* target, annotation, value? */
	MLA_N_AUG_ASSIGN,  /* target, value; op */
	MLA_N_IMPORT,      /* ALIAS* */
	MLA_N_IMPORT_FROM, /* (module with its leading dots) ALIAS*, ALIAS "*" for a star */
	MLA_N_ALIAS,       /* (dotted name) NAME? */
	/* expressions */
	MLA_N_NAME,       /* (name) */
	MLA_N_INT,        /* (digits as written) */
	MLA_N_FLOAT,      /* (digits as written) */
	MLA_N_STRING,     /* interpolated expression* */
	MLA_N_TRUE,       /* */
	MLA_N_FALSE,      /* */
	MLA_N_NONE,       /* */
	MLA_N_ELLIPSIS,   /* */
	MLA_N_ATTRIBUTE,  /* (attribute) object */
	MLA_N_SUBSCRIPT,  /* object, index+; op MLA_OP_COMMA when the index is a tuple */
	MLA_N_SLICE,      /* lower?, upper?, step? */
	MLA_N_CALL,       /* callee, argument*: expression, KEYWORD, STAR or STAR_STAR */
	MLA_N_ARGUMENTS,  /* as the arguments of CALL */
	MLA_N_KEYWORD,    /* (name) value */
	MLA_N_STAR,       /* value */
	MLA_N_STAR_STAR,  /* value */
	MLA_N_UNARY,      /* value; op */
	MLA_N_NOT,        /* value */
	MLA_N_BINARY,     /* left, right; op */
	MLA_N_AND,        /* left, right */
	MLA_N_OR,         /* left, right */
	MLA_N_COMPARE,    /* left, right; op */
	MLA_N_CHAIN,      /* a < b < c: operand, OPERATOR, operand, OPERATOR, operand, ... */
	MLA_N_OPERATOR,   /* op */
	MLA_N_CONDITION,  /* test, then, else */
	MLA_N_TUPLE,      /* element* */
	MLA_N_LIST,       /* element* */
	MLA_N_SET,        /* element* */
	MLA_N_DICT,       /* PAIR or STAR_STAR* */
	MLA_N_PAIR,       /* key, value */
	MLA_N_LIST_COMP,  /* element, FOR_CLAUSE or IF_CLAUSE* */
	MLA_N_SET_COMP,   /* likewise */
	MLA_N_DICT_COMP,  /* PAIR, likewise */
	MLA_N_GENERATOR,  /* likewise */
	MLA_N_FOR_CLAUSE, /* target, iterable */
	MLA_N_IF_CLAUSE,  /* test */
	MLA_N_WALRUS,     /* NAME, value */
	MLA_N_LAMBDA,     /* PARAMETERS?, value */
	MLA_N_AWAIT,      /* value */
	MLA_N_YIELD,      /* value? */
	/* patterns of CASE that are not expressions; literals, NAME and ATTRIBUTE stand for
	   themselves */
	MLA_N_WILDCARD,   /* */
	MLA_N_PATTERN_OR, /* pattern+ */
	MLA_N_PATTERN_AS, /* pattern, NAME */
	/* what only C, C++ and Objective-C have; a body that is one statement is that statement */
	MLA_N_DECLARE,  /* (name) value?: one declared variable */
	MLA_N_LOOP,     /* for: start?, test?, step?, body */
	MLA_N_DO,       /* body, test */
	MLA_N_SWITCH,   /* subject, body */
	MLA_N_LABEL,    /* case: value, statement?; a default has NULL for its value */
	MLA_N_GOTO,     /* name: of a target */
	MLA_N_TARGET,   /* name; statement? */
	MLA_N_CAST,     /* value */
	MLA_N_BRACES,   /* { element* } as a value */
	MLA_N_SEQUENCE, /* expression* in braces: several declarations, or a statement expression */
} mla_kind;

typedef enum {
	MLA_OP_NONE = 0,
	MLA_OP_ADD,
	MLA_OP_SUB,
	MLA_OP_MUL,
	MLA_OP_DIV,
	MLA_OP_FLOORDIV,
	MLA_OP_MOD,
	MLA_OP_POWER, /* also the ** of a parameter */
	MLA_OP_MATMUL,
	MLA_OP_SHL,
	MLA_OP_SHR,
	MLA_OP_BITAND,
	MLA_OP_BITOR,
	MLA_OP_BITXOR,
	MLA_OP_INVERT,
	MLA_OP_EQ,
	MLA_OP_NE,
	MLA_OP_LT,
	MLA_OP_LE,
	MLA_OP_GT,
	MLA_OP_GE,
	MLA_OP_IS,
	MLA_OP_IS_NOT,
	MLA_OP_IN,
	MLA_OP_NOT_IN,
	MLA_OP_STAR,  /* the * of a parameter; a bare one has no name */
	MLA_OP_SLASH, /* the / between parameters */
	MLA_OP_COMMA,
	MLA_OP_ADDRESS,   /* &x */
	MLA_OP_DEREF,     /* *x */
	MLA_OP_INCREMENT, /* ++ and --, before or after */
} mla_op;

typedef struct mla_c_info mla_c_info; /* see c_info.h */

typedef struct mla_node mla_node;

struct mla_node {
	uint8_t kind;   /* mla_kind */
	uint8_t op;     /* mla_op */
	bool is_async;  /* FUNCTION, FOR, WITH */
	bool has_error; /* this node or one below it did not parse */
	uint32_t n;     /* kids */
	uint32_t index; /* of this node among its parent's kids */
	mla_span span;  /* the node itself */
	mla_span outer; /* with the parentheses around it, if any */
	mla_str name;
	mla_node *parent; /* NULL at the root */
	mla_node **kid;
	const mla_c_info *c; /* what only the compiler knows; NULL in other languages */
};

typedef struct {
	mla_node *root;           /* MODULE */
	const mla_span *comments; /* in order */
	uint32_t comment_count;
	uint32_t error_count; /* ERROR nodes and missing tokens */
} mla_syntax;

/* The index of the first comment that ends behind `offset`; their number: there is none. */
uint32_t mla_syntax_comment(const mla_syntax *x, uint32_t offset);

/* The kid at `i`, or NULL when there is none. */
static inline mla_node *mla_kid(const mla_node *n, uint32_t i)
{
	return n && i < n->n ? n->kid[i] : NULL;
}

/* Pre-order successor of `n` inside `root`, or NULL. With skip, the kids of `n` are passed over. */
mla_node *mla_node_next(const mla_node *n, const mla_node *root, bool skip);

bool mla_node_within(const mla_node *n, const mla_node *ancestor); /* itself included */
bool mla_node_is_statement(const mla_node *n);

/* The nearest enclosing statement, FUNCTION or CLASS: `n` itself may be it. NULL at the root. */
mla_node *mla_node_statement(const mla_node *n);
mla_node *mla_node_function(const mla_node *n); /* the nearest one that holds n; not n itself */
mla_node *mla_node_class(const mla_node *n);    /* the class whose body directly holds n's method */

/* The smallest node whose span holds the span. Never NULL for a span inside the root. */
mla_node *mla_node_at(const mla_node *root, mla_span span);

/* Source text without parentheses around it. */
static inline mla_str mla_node_text(const mla_text *t, const mla_node *n)
{
	return mla_text_slice(t, n->span);
}

/* Same spelling, ignoring blanks and line breaks between tokens? */
bool mla_node_same(const mla_text *ta, const mla_node *a, const mla_text *tb, const mla_node *b);

/* Where inside `between` the variable is assigned, anywhere in the function body; or NULL. */
const mla_node *mla_node_assigned(const mla_node *body, mla_str name, mla_span between);

/* "if", "call", "list comp": for messages and tests. */
const char *mla_kind_name(mla_kind kind);

#endif

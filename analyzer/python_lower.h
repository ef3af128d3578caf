/*
 * Between the two halves of the Python front end: python.c walks the parser's tree and hands every
 * node over, kids first; python_lower.c makes our node of it. The parser's types stay in python.c.
 */
#ifndef MLA_ANALYZER_PYTHON_LOWER_H
#define MLA_ANALYZER_PYTHON_LOWER_H

#include "analyzer/syntax.h"

/* Node and token names of the grammar that we understand: X(enumerator, name in the grammar). */
#define MLA_PY_KINDS(X)                                         \
	X(MODULE, "module")                                     \
	X(BLOCK, "block")                                       \
	X(IDENTIFIER, "identifier")                             \
	X(INTEGER, "integer")                                   \
	X(FLOAT, "float")                                       \
	X(TRUE, "true")                                         \
	X(FALSE, "false")                                       \
	X(NONE, "none")                                         \
	X(ELLIPSIS, "ellipsis")                                 \
	X(STRING, "string")                                     \
	X(CONCATENATED_STRING, "concatenated_string")           \
	X(STRING_PART, "string_content")                        \
	X(INTERPOLATION, "interpolation")                       \
	X(FORMAT_SPECIFIER, "format_specifier")                 \
	X(FORMAT_EXPRESSION, "format_expression")               \
	X(IMPORT, "import_statement")                           \
	X(IMPORT_FROM, "import_from_statement")                 \
	X(FUTURE_IMPORT, "future_import_statement")             \
	X(RELATIVE_IMPORT, "relative_import")                   \
	X(DOTTED_NAME, "dotted_name")                           \
	X(ALIASED_IMPORT, "aliased_import")                     \
	X(WILDCARD_IMPORT, "wildcard_import")                   \
	X(EXPRESSION_STATEMENT, "expression_statement")         \
	X(NAMED_EXPRESSION, "named_expression")                 \
	X(RETURN, "return_statement")                           \
	X(DELETE, "delete_statement")                           \
	X(RAISE, "raise_statement")                             \
	X(ASSERT, "assert_statement")                           \
	X(PASS, "pass_statement")                               \
	X(BREAK, "break_statement")                             \
	X(CONTINUE, "continue_statement")                       \
	X(GLOBAL, "global_statement")                           \
	X(NONLOCAL, "nonlocal_statement")                       \
	X(IF, "if_statement")                                   \
	X(ELIF, "elif_clause")                                  \
	X(ELSE, "else_clause")                                  \
	X(WHILE, "while_statement")                             \
	X(FOR, "for_statement")                                 \
	X(WITH, "with_statement")                               \
	X(WITH_CLAUSE, "with_clause")                           \
	X(WITH_ITEM, "with_item")                               \
	X(TRY, "try_statement")                                 \
	X(EXCEPT, "except_clause")                              \
	X(EXCEPT_GROUP, "except_group_clause")                  \
	X(FINALLY, "finally_clause")                            \
	X(MATCH, "match_statement")                             \
	X(CASE, "case_clause")                                  \
	X(CASE_PATTERN, "case_pattern")                         \
	X(UNION_PATTERN, "union_pattern")                       \
	X(LIST_PATTERN, "list_pattern")                         \
	X(TUPLE_PATTERN, "tuple_pattern")                       \
	X(PATTERN_LIST, "pattern_list")                         \
	X(LIST_SPLAT_PATTERN, "list_splat_pattern")             \
	X(DICTIONARY_SPLAT_PATTERN, "dictionary_splat_pattern") \
	X(AS_PATTERN, "as_pattern")                             \
	X(AS_PATTERN_TARGET, "as_pattern_target")               \
	X(CLASS, "class_definition")                            \
	X(FUNCTION, "function_definition")                      \
	X(DECORATED, "decorated_definition")                    \
	X(DECORATOR, "decorator")                               \
	X(PARAMETERS, "parameters")                             \
	X(LAMBDA_PARAMETERS, "lambda_parameters")               \
	X(DEFAULT_PARAMETER, "default_parameter")               \
	X(TYPED_PARAMETER, "typed_parameter")                   \
	X(TYPED_DEFAULT_PARAMETER, "typed_default_parameter")   \
	X(KEYWORD_SEPARATOR, "keyword_separator")               \
	X(POSITIONAL_SEPARATOR, "positional_separator")         \
	X(TYPE, "type")                                         \
	X(ARGUMENT_LIST, "argument_list")                       \
	X(KEYWORD_ARGUMENT, "keyword_argument")                 \
	X(LIST_SPLAT, "list_splat")                             \
	X(DICTIONARY_SPLAT, "dictionary_splat")                 \
	X(PARENTHESIZED_LIST_SPLAT, "parenthesized_list_splat") \
	X(EXPRESSION_LIST, "expression_list")                   \
	X(PARENTHESIZED, "parenthesized_expression")            \
	X(ASSIGNMENT, "assignment")                             \
	X(AUGMENTED_ASSIGNMENT, "augmented_assignment")         \
	X(NOT, "not_operator")                                  \
	X(BOOLEAN, "boolean_operator")                          \
	X(BINARY, "binary_operator")                            \
	X(UNARY, "unary_operator")                              \
	X(COMPARISON, "comparison_operator")                    \
	X(CONDITIONAL, "conditional_expression")                \
	X(LAMBDA, "lambda")                                     \
	X(YIELD, "yield")                                       \
	X(AWAIT, "await")                                       \
	X(ATTRIBUTE, "attribute")                               \
	X(SUBSCRIPT, "subscript")                               \
	X(SLICE, "slice")                                       \
	X(CALL, "call")                                         \
	X(LIST, "list")                                         \
	X(SET, "set")                                           \
	X(TUPLE, "tuple")                                       \
	X(DICTIONARY, "dictionary")                             \
	X(PAIR, "pair")                                         \
	X(LIST_COMPREHENSION, "list_comprehension")             \
	X(SET_COMPREHENSION, "set_comprehension")               \
	X(DICTIONARY_COMPREHENSION, "dictionary_comprehension") \
	X(GENERATOR, "generator_expression")                    \
	X(FOR_IN_CLAUSE, "for_in_clause")                       \
	X(IF_CLAUSE, "if_clause")                               \
	X(COMMENT, "comment")                                   \
	X(T_COLON, ":")                                         \
	X(T_COMMA, ",")                                         \
	X(T_ASYNC, "async")                                     \
	X(T_UNDERSCORE, "_")                                    \
	X(T_AND, "and")                                         \
	X(T_OR, "or")                                           \
	X(T_ADD, "+")                                           \
	X(T_SUB, "-")                                           \
	X(T_MUL, "*")                                           \
	X(T_DIV, "/")                                           \
	X(T_FLOORDIV, "//")                                     \
	X(T_MOD, "%")                                           \
	X(T_POWER, "**")                                        \
	X(T_MATMUL, "@")                                        \
	X(T_SHL, "<<")                                          \
	X(T_SHR, ">>")                                          \
	X(T_BITAND, "&")                                        \
	X(T_BITOR, "|")                                         \
	X(T_BITXOR, "^")                                        \
	X(T_INVERT, "~")                                        \
	X(T_EQ, "==")                                           \
	X(T_NE, "!=")                                           \
	X(T_NE_OLD, "<>")                                       \
	X(T_LT, "<")                                            \
	X(T_LE, "<=")                                           \
	X(T_GT, ">")                                            \
	X(T_GE, ">=")                                           \
	X(T_IS, "is")                                           \
	X(T_IS_NOT, "is not")                                   \
	X(T_IN, "in")                                           \
	X(T_NOT_IN, "not in")                                   \
	X(T_ADD_SET, "+=")                                      \
	X(T_SUB_SET, "-=")                                      \
	X(T_MUL_SET, "*=")                                      \
	X(T_DIV_SET, "/=")                                      \
	X(T_FLOORDIV_SET, "//=")                                \
	X(T_MOD_SET, "%=")                                      \
	X(T_POWER_SET, "**=")                                   \
	X(T_MATMUL_SET, "@=")                                   \
	X(T_SHL_SET, "<<=")                                     \
	X(T_SHR_SET, ">>=")                                     \
	X(T_BITAND_SET, "&=")                                   \
	X(T_BITOR_SET, "|=")                                    \
	X(T_BITXOR_SET, "^=")

/* Fields of the grammar that decide what a kid is. */
#define MLA_PY_FIELDS(X)                \
	X(ALIAS, "alias")               \
	X(ALTERNATIVE, "alternative")   \
	X(ARGUMENT, "argument")         \
	X(ARGUMENTS, "arguments")       \
	X(ATTRIBUTE, "attribute")       \
	X(BODY, "body")                 \
	X(CAUSE, "cause")               \
	X(CONDITION, "condition")       \
	X(CONSEQUENCE, "consequence")   \
	X(DEFINITION, "definition")     \
	X(EXPRESSION, "expression")     \
	X(FUNCTION, "function")         \
	X(GUARD, "guard")               \
	X(KEY, "key")                   \
	X(LEFT, "left")                 \
	X(MODULE_NAME, "module_name")   \
	X(NAME, "name")                 \
	X(OBJECT, "object")             \
	X(OPERATOR, "operator")         \
	X(OPERATORS, "operators")       \
	X(PARAMETERS, "parameters")     \
	X(RETURN_TYPE, "return_type")   \
	X(RIGHT, "right")               \
	X(SUBJECT, "subject")           \
	X(SUBSCRIPT, "subscript")       \
	X(SUPERCLASSES, "superclasses") \
	X(TYPE, "type")                 \
	X(VALUE, "value")

typedef enum {
	MLA_PY_UNKNOWN = 0,
	MLA_PY_ERROR,
#define X(id, name) MLA_PY_##id,
	MLA_PY_KINDS(X)
#undef X
		MLA_PY_KIND_COUNT
} mla_py_kind;

typedef enum {
	MLA_PYF_NONE = 0,
#define X(id, name) MLA_PYF_##id,
	MLA_PY_FIELDS(X)
#undef X
		MLA_PYF_COUNT
} mla_py_field;

/* One node of the parser's tree. Tokens have no node of ours. */
typedef struct {
	mla_node *node;
	mla_span span;
	uint8_t kind;  /* mla_py_kind */
	uint8_t field; /* mla_py_field, its place in the parent */
	bool named;
	bool missing; /* the parser supplied it */
} mla_py_item;

typedef struct {
	mla_arena *arena;
	const mla_text *text;
} mla_py_lower;

/* The node for `self` from its items, in source order, comments left out. NULL for a token. */
mla_node *mla_py_reduce(mla_py_lower *l, const mla_py_item *self, const mla_py_item *item,
                        uint32_t n);

#endif

/* Navigation over the tree. Knows no language and no parser. */
#include "analyzer/syntax.h"

#include "analyzer/str.h"

uint32_t mla_syntax_comment(const mla_syntax *x, uint32_t offset)
{
	uint32_t low = 0, high = x->comment_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->comments[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

mla_node *mla_node_next(const mla_node *n, const mla_node *root, bool skip)
{
	if (!skip)
		for (uint32_t i = 0; i < n->n; i++)
			if (n->kid[i])
				return n->kid[i];
	for (; n != root && n->parent; n = n->parent)
		for (uint32_t i = n->index + 1; i < n->parent->n; i++)
			if (n->parent->kid[i])
				return n->parent->kid[i];
	return NULL;
}

bool mla_node_within(const mla_node *n, const mla_node *ancestor)
{
	for (; n; n = n->parent)
		if (n == ancestor)
			return true;
	return false;
}

bool mla_node_is_statement(const mla_node *n)
{
	const mla_node *p = n->parent;

	return p && (p->kind == MLA_N_BLOCK || p->kind == MLA_N_MODULE ||
	             (n->kind == MLA_N_IF && p->kind == MLA_N_IF));
}

mla_node *mla_node_statement(const mla_node *n)
{
	for (; n; n = n->parent)
		if (mla_node_is_statement(n))
			return (mla_node *)n;
	return NULL;
}

mla_node *mla_node_function(const mla_node *n)
{
	for (n = n->parent; n; n = n->parent)
		if (n->kind == MLA_N_FUNCTION)
			return (mla_node *)n;
	return NULL;
}

mla_node *mla_node_class(const mla_node *n)
{
	for (; n; n = n->parent)
		if (n->kind == MLA_N_FUNCTION && n->parent && n->parent->parent &&
		    n->parent->parent->kind == MLA_N_CLASS)
			return n->parent->parent;
	return NULL;
}

static bool holds(const mla_node *n, mla_span span)
{
	return n->span.start <= span.start && span.end <= n->span.end;
}

/* The statement that holds the span, where there are too many to look at each; NULL: look. */
static const mla_node *statement_holding(const mla_node *block, mla_span span)
{
	enum { MANY = 16 };
	uint32_t low = 0, high = block->n;

	if (block->n < MANY || (block->kind != MLA_N_MODULE && block->kind != MLA_N_BLOCK))
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (block->kid[middle]->span.start <= span.start)
			low = middle + 1;
		else
			high = middle;
	}
	return low && holds(block->kid[low - 1], span) ? block->kid[low - 1] : NULL;
}

mla_node *mla_node_at(const mla_node *root, mla_span span)
{
	const mla_node *best = root;

	for (const mla_node *n = root; n;) {
		bool found = holds(n, span);
		const mla_node *kid = found ? statement_holding(n, span) : NULL;

		if (found)
			best = n;
		if (kid)
			root = kid;
		n = kid ? kid : mla_node_next(n, root, !found);
	}
	return (mla_node *)best;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\\';
}

bool mla_node_same(const mla_text *ta, const mla_node *a, const mla_text *tb, const mla_node *b)
{
	mla_str x = mla_node_text(ta, a), y = mla_node_text(tb, b);
	uint32_t i = 0, k = 0;

	for (;;) {
		while (i < x.len && blank(x.ptr[i]))
			i++;
		while (k < y.len && blank(y.ptr[k]))
			k++;
		if (i == x.len || k == y.len)
			return i == x.len && k == y.len;
		if (x.ptr[i++] != y.ptr[k++])
			return false;
	}
}

const mla_node *mla_node_assigned(const mla_node *body, mla_str name, mla_span between)
{
	for (const mla_node *n = body; n; n = mla_node_next(n, body, false)) {
		if (n->kind != MLA_N_NAME || !mla_str_eq(n->name, name) ||
		    n->span.start < between.start || n->span.end > between.end)
			continue;
		for (const mla_node *t = n; t->parent && t != body; t = t->parent)
			if ((t->parent->kind == MLA_N_ASSIGN && t->index + 1 < t->parent->n) ||
			    (t->parent->kind == MLA_N_AUG_ASSIGN && t->index == 0))
				return n;
	}
	return NULL;
}

const char *mla_kind_name(mla_kind kind)
{
	static const char *const names[] = {
		[MLA_N_OTHER] = "other",
		[MLA_N_ERROR] = "error",
		[MLA_N_MODULE] = "module",
		[MLA_N_BLOCK] = "block",
		[MLA_N_CLASS] = "class",
		[MLA_N_FUNCTION] = "function",
		[MLA_N_PARAMETERS] = "parameters",
		[MLA_N_PARAMETER] = "parameter",
		[MLA_N_DECORATORS] = "decorators",
		[MLA_N_IF] = "if",
		[MLA_N_WHILE] = "while",
		[MLA_N_FOR] = "for",
		[MLA_N_WITH] = "with",
		[MLA_N_WITH_ITEM] = "with item",
		[MLA_N_TRY] = "try",
		[MLA_N_HANDLER] = "handler",
		[MLA_N_ELSE] = "else",
		[MLA_N_FINALLY] = "finally",
		[MLA_N_MATCH] = "match",
		[MLA_N_CASE] = "case",
		[MLA_N_RETURN] = "return",
		[MLA_N_RAISE] = "raise",
		[MLA_N_ASSERT] = "assert",
		[MLA_N_DELETE] = "delete",
		[MLA_N_PASS] = "pass",
		[MLA_N_BREAK] = "break",
		[MLA_N_CONTINUE] = "continue",
		[MLA_N_GLOBAL] = "global",
		[MLA_N_EXPRESSION] = "expression",
		[MLA_N_ASSIGN] = "assign",
		[MLA_N_ANN_ASSIGN] = "ann assign",
		[MLA_N_AUG_ASSIGN] = "aug assign",
		[MLA_N_IMPORT] = "import",
		[MLA_N_IMPORT_FROM] = "import from",
		[MLA_N_ALIAS] = "alias",
		[MLA_N_NAME] = "name",
		[MLA_N_INT] = "int",
		[MLA_N_FLOAT] = "float",
		[MLA_N_STRING] = "string",
		[MLA_N_TRUE] = "true",
		[MLA_N_FALSE] = "false",
		[MLA_N_NONE] = "none",
		[MLA_N_ELLIPSIS] = "ellipsis",
		[MLA_N_ATTRIBUTE] = "attribute",
		[MLA_N_SUBSCRIPT] = "subscript",
		[MLA_N_SLICE] = "slice",
		[MLA_N_CALL] = "call",
		[MLA_N_ARGUMENTS] = "arguments",
		[MLA_N_KEYWORD] = "keyword",
		[MLA_N_STAR] = "star",
		[MLA_N_STAR_STAR] = "star star",
		[MLA_N_UNARY] = "unary",
		[MLA_N_NOT] = "not",
		[MLA_N_BINARY] = "binary",
		[MLA_N_AND] = "and",
		[MLA_N_OR] = "or",
		[MLA_N_COMPARE] = "compare",
		[MLA_N_CHAIN] = "chain",
		[MLA_N_OPERATOR] = "operator",
		[MLA_N_CONDITION] = "condition",
		[MLA_N_TUPLE] = "tuple",
		[MLA_N_LIST] = "list",
		[MLA_N_SET] = "set",
		[MLA_N_DICT] = "dict",
		[MLA_N_PAIR] = "pair",
		[MLA_N_LIST_COMP] = "list comp",
		[MLA_N_SET_COMP] = "set comp",
		[MLA_N_DICT_COMP] = "dict comp",
		[MLA_N_GENERATOR] = "generator",
		[MLA_N_FOR_CLAUSE] = "for clause",
		[MLA_N_IF_CLAUSE] = "if clause",
		[MLA_N_WALRUS] = "walrus",
		[MLA_N_LAMBDA] = "lambda",
		[MLA_N_AWAIT] = "await",
		[MLA_N_YIELD] = "yield",
		[MLA_N_WILDCARD] = "wildcard",
		[MLA_N_PATTERN_OR] = "pattern or",
		[MLA_N_PATTERN_AS] = "pattern as",
		[MLA_N_DECLARE] = "declare",
		[MLA_N_LOOP] = "loop",
		[MLA_N_DO] = "do",
		[MLA_N_SWITCH] = "switch",
		[MLA_N_LABEL] = "label",
		[MLA_N_CAST] = "cast",
		[MLA_N_BRACES] = "braces",
		[MLA_N_SEQUENCE] = "sequence",
	};

	return (size_t)kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

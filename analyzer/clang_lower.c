/* libclang's cursors to our tree: nodes, spans and statements. Runs in the parsing process. */
#include "analyzer/clang_api.h"

#include "analyzer/str.h"

#include <stdlib.h>
#include <unistd.h>

/* Cursors nest no deeper than the brackets do, which clang limits to 256, and chains of else. */
enum { DEEPEST = 4000 };

uint32_t mla_lower_offset(mla_lowering *l, CXSourceLocation at)
{
	unsigned offset = 0;
	CXFile file;

	l->api->getFileLocation(at, &file, NULL, NULL, &offset);
	return offset;
}

mla_str mla_lower_spelling(mla_lowering *l, CXCursor c)
{
	CXString s = l->api->getCursorSpelling(c);
	const char *z = l->api->getCString(s);
	uint32_t n = z ? (uint32_t)strlen(z) : 0;
	char *p = mla_region_alloc(l->region, n + 1);

	if (n)
		memcpy(p, z, n);
	l->api->disposeString(s);
	return (mla_str){p, n};
}

/* From what a macro made, the whole of its use. */
static mla_span span_of(mla_lowering *l, CXCursor c)
{
	CXSourceRange range = l->api->getCursorExtent(c);
	mla_span s = {mla_lower_offset(l, l->api->getRangeStart(range)),
	              mla_lower_offset(l, l->api->getRangeEnd(range))};
	const mla_tokens *t = l->tokens;
	uint32_t length = mla_text_bytes(l->text).len;
	uint32_t i;

	if (s.start > length)
		s.start = length;
	i = mla_tokens_at(t, s.start);
	if (s.end <= s.start && i < t->n) {
		s.end = t->v[i].span.end;
		if (i + 1 < t->n && t->v[i].kind == MLA_TOKEN_NAME && t->v[i + 1].match > i + 1)
			s.end = t->v[t->v[i + 1].match].span.end;
	}
	if (s.end < s.start || s.end > length)
		s.end = s.start;
	return s;
}

mla_node *mla_lower_node(mla_lowering *l, CXCursor c, mla_kind kind, uint32_t kids)
{
	mla_node *n = mla_region_alloc(l->region, sizeof(*n));

	n->kind = (uint8_t)kind;
	n->span = n->outer = span_of(l, c);
	n->n = kids;
	n->kid = mla_region_alloc(l->region, (kids + 1) * sizeof(*n->kid));
	return n;
}

void mla_lower_attach(mla_node *n, uint32_t i, mla_node *kid)
{
	n->kid[i] = kid;
	if (kid) {
		kid->parent = n;
		kid->index = i;
	}
}

typedef struct {
	mla_lowering *l;
	mla_cursors *out;
	bool top; /* only what is in the file itself */
} collecting;

static enum CXChildVisitResult collect(CXCursor c, CXCursor parent, CXClientData data)
{
	collecting *k = data;
	mla_cursors *out = k->out;

	(void)parent;
	if (k->top && !k->l->api->Location_isFromMainFile(k->l->api->getCursorLocation(c)))
		return CXChildVisit_Continue;
	if (out->n == out->cap) {
		out->cap = out->cap ? 2 * out->cap : 8;
		out->v = mla_realloc(out->v, out->cap, sizeof(*out->v));
	}
	out->v[out->n++] = c;
	return CXChildVisit_Continue;
}

void mla_lower_kids(mla_lowering *l, mla_cursors *out, CXCursor c)
{
	collecting k = {l, out, false};

	*out = (mla_cursors){0};
	l->api->visitChildren(c, collect, &k);
}

/* A node with every kid that is not only a mention of a type. */
static mla_node *lower_all(mla_lowering *l, CXCursor c, mla_kind kind, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, kind, kids->n);

	n->n = 0;
	for (uint32_t i = 0; i < kids->n; i++) {
		mla_node *kid = mla_lower_cursor(l, kids->v[i]);

		if (kid)
			mla_lower_attach(n, n->n++, kid);
	}
	return n;
}

static bool is_headed(mla_str word)
{
	static const char *const words[] = {"if", "while", "switch", "for", NULL};

	return mla_str_in(word, words);
}

/* The offset of the bracket that closes the head of `if (...)`, `for (...)` and the like. A
 * statement that a macro makes begins with the macro's name, whose brackets are no head. */
static uint32_t head_end(mla_lowering *l, mla_span statement, uint32_t *open)
{
	uint32_t i = mla_tokens_at(l->tokens, statement.start);
	bool spelled = i < l->tokens->n && is_headed(mla_text_slice(l->text, l->tokens->v[i].span));

	for (uint32_t k = i; spelled && k < l->tokens->n && k < i + 3; k++)
		if (l->text && mla_text_bytes(l->text).ptr[l->tokens->v[k].span.start] == '(') {
			*open = k;
			return l->tokens->v[l->tokens->v[k].match].span.start;
		}
	*open = 0;
	return statement.start;
}

static uint32_t start_of(mla_lowering *l, CXCursor c)
{
	return span_of(l, c).start;
}

/* if, while and switch: the test is the last cursor in the brackets, bodies follow. */
static mla_node *lower_headed(mla_lowering *l, CXCursor c, mla_kind kind, const mla_cursors *kids)
{
	uint32_t bodies = kind == MLA_N_IF ? 2 : 1, open, first = 0;
	mla_node *n = mla_lower_node(l, c, kind, 1 + bodies);
	uint32_t end = head_end(l, n->span, &open);

	while (first < kids->n && start_of(l, kids->v[first]) < end)
		first++;
	if (!open || !first) /* made by a macro */
		first = kids->n ? 1 : 0;
	if (first)
		mla_lower_attach(n, 0, mla_lower_cursor(l, kids->v[first - 1]));
	for (uint32_t i = 0; i < bodies && first + i < kids->n; i++)
		mla_lower_attach(n, 1 + i, mla_lower_cursor(l, kids->v[first + i]));
	if (kind == MLA_N_WHILE)
		n->n = 2;
	return n;
}

static mla_node *lower_for(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_LOOP, 4);
	const char *bytes = mla_text_bytes(l->text).ptr;
	uint32_t open, end = head_end(l, n->span, &open), stop[2] = {0, 0}, found = 0;

	for (uint32_t k = open + 1; open && k < l->tokens->v[open].match && found < 2; k++) {
		const mla_token *t = &l->tokens->v[k];

		if (bytes[t->span.start] == ';')
			stop[found++] = t->span.start;
		else if (t->match > k)
			k = t->match;
	}
	for (uint32_t i = 0; i < kids->n; i++) {
		uint32_t at = start_of(l, kids->v[i]);
		uint32_t where = found < 2      ? (i + 1 == kids->n ? 3
		                                   : i < 3          ? i
		                                                    : 2)
		                 : at < stop[0] ? 0
		                 : at < stop[1] ? 1
		                 : at < end     ? 2
		                                : 3;

		if (!n->kid[where])
			mla_lower_attach(n, where, mla_lower_cursor(l, kids->v[i]));
	}
	return n;
}

static mla_node *lower_range_for(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_FOR, 4);

	for (uint32_t i = 0; i < kids->n; i++) {
		bool last = i + 1 == kids->n;
		bool variable = l->api->getCursorKind(kids->v[i]) == CXCursor_VarDecl;
		uint32_t where = last ? 2 : variable ? 0 : 1;

		if (!n->kid[where])
			mla_lower_attach(n, where, mla_lower_cursor(l, kids->v[i]));
	}
	return n;
}

static mla_node *lower_label(mla_lowering *l, CXCursor c, const mla_cursors *kids, bool has_value)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_LABEL, 2);
	mla_c_info *info = mla_region_alloc(l->region, sizeof(*info));
	uint32_t body = has_value ? 1 : 0;

	if (has_value && kids->n) {
		mla_lower_attach(n, 0, mla_lower_cursor(l, kids->v[0]));
		info->value_known = mla_lower_evaluate(l, kids->v[0], &info->value);
	}
	n->c = info;
	if (kids->n > body)
		mla_lower_attach(n, 1, mla_lower_cursor(l, kids->v[kids->n - 1]));
	return n;
}

static mla_node *lower_statement(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n;

	switch ((int)l->api->getCursorKind(c)) {
	case CXCursor_CompoundStmt:
		return lower_all(l, c, MLA_N_BLOCK, kids);
	case CXCursor_IfStmt:
		return lower_headed(l, c, MLA_N_IF, kids);
	case CXCursor_WhileStmt:
		return lower_headed(l, c, MLA_N_WHILE, kids);
	case CXCursor_SwitchStmt:
		return lower_headed(l, c, MLA_N_SWITCH, kids);
	case CXCursor_ForStmt:
		return lower_for(l, c, kids);
	case CXCursor_CXXForRangeStmt:
	case CXCursor_ObjCForCollectionStmt:
		return lower_range_for(l, c, kids);
	case CXCursor_DoStmt:
		n = mla_lower_node(l, c, MLA_N_DO, 2);
		for (uint32_t i = 0; i < 2 && i < kids->n; i++)
			mla_lower_attach(n, i, mla_lower_cursor(l, kids->v[i]));
		return n;
	case CXCursor_CaseStmt:
		return lower_label(l, c, kids, true);
	case CXCursor_DefaultStmt:
		return lower_label(l, c, kids, false);
	case CXCursor_ReturnStmt:
		return lower_all(l, c, MLA_N_RETURN, kids);
	case CXCursor_LabelStmt:
		n = lower_all(l, c, MLA_N_TARGET, kids);
		n->name = mla_lower_spelling(l, c);
		return n;
	case CXCursor_GotoStmt:
		n = mla_lower_node(l, c, MLA_N_GOTO, 0);
		if (kids->n)
			n->name = mla_lower_spelling(l, kids->v[0]);
		return n;
	case CXCursor_BreakStmt:
		return mla_lower_node(l, c, MLA_N_BREAK, 0);
	case CXCursor_ContinueStmt:
		return mla_lower_node(l, c, MLA_N_CONTINUE, 0);
	case CXCursor_CXXThrowExpr:
	case CXCursor_ObjCAtThrowStmt:
		return lower_all(l, c, MLA_N_RAISE, kids);
	case CXCursor_NullStmt:
		return mla_lower_node(l, c, MLA_N_PASS, 0);
	case CXCursor_DeclStmt:
		if (kids->n == 1)
			return mla_lower_cursor(l, kids->v[0]);
		return lower_all(l, c, MLA_N_SEQUENCE, kids);
	default:
		return NULL;
	}
}

/* A mention of a name that is no expression: the type of a variable, a qualifier. */
static bool is_mention(enum CXCursorKind kind)
{
	return (kind >= CXCursor_FirstRef && kind <= CXCursor_LastRef) ||
	       (kind >= CXCursor_FirstAttr && kind <= CXCursor_LastAttr) ||
	       (kind >= CXCursor_FirstPreprocessing && kind <= CXCursor_LastPreprocessing);
}

mla_node *mla_lower_cursor(mla_lowering *l, CXCursor c)
{
	enum CXCursorKind kind = l->api->getCursorKind(c);
	mla_cursors kids;
	mla_node *n;

	if (is_mention(kind) || l->depth > DEEPEST)
		return NULL;
	l->depth++;
	mla_lower_kids(l, &kids, c);
	n = lower_statement(l, c, &kids);
	if (!n)
		n = mla_lower_declaration(l, c, &kids);
	if (!n)
		n = mla_lower_expression(l, c, &kids);
	if (!n)
		n = lower_all(l, c, MLA_N_OTHER, &kids);
	free(kids.v);
	l->depth--;
	return n;
}

mla_node *mla_clang_lower(mla_lowering *l, CXCursor unit)
{
	mla_cursors kids = {0};
	collecting k = {l, &kids, true};
	mla_node *n;

	l->api->visitChildren(unit, collect, &k);
	n = mla_lower_node(l, unit, MLA_N_MODULE, kids.n);
	n->span = n->outer = (mla_span){0, mla_text_bytes(l->text).len};
	n->n = 0;
	for (uint32_t i = 0; i < kids.n; i++) {
		mla_node *kid = mla_lower_cursor(l, kids.v[i]);

		if (kid)
			mla_lower_attach(n, n->n++, kid);
	}
	free(kids.v);
	return n;
}

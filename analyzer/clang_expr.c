/* libclang's expressions to our tree. */
#include "analyzer/clang_api.h"

#include "analyzer/str.h"

#include <stdlib.h>

static mla_node *transparent(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	for (uint32_t i = kids->n; i-- > 0;) { /* types that are named come first */
		mla_node *n = mla_lower_cursor(l, kids->v[i]);

		if (n)
			return n;
	}
	return mla_lower_node(l, c, MLA_N_OTHER, 0);
}

static mla_node *wrap(mla_lowering *l, CXCursor c, mla_kind kind, mla_op op,
                      const mla_cursors *kids, uint32_t count)
{
	mla_node *n = mla_lower_node(l, c, kind, count);

	n->op = (uint8_t)op;
	for (uint32_t i = 0; i < count && i < kids->n; i++)
		mla_lower_attach(n, i, mla_lower_cursor(l, kids->v[i]));
	n->c = mla_lower_info(l, c);
	return n;
}

/* Is the operator at the cursor's place in the file, or in the body of a macro? */
static bool from_macro(mla_lowering *l, CXCursor c)
{
	CXSourceLocation at = l->api->getCursorLocation(c);
	CXFile spelled, placed;
	unsigned a = 0, b = 0;

	l->api->getSpellingLocation(at, &spelled, NULL, NULL, &a);
	l->api->getFileLocation(at, &placed, NULL, NULL, &b);
	return a != b;
}

static void evaluate_operand(mla_lowering *l, mla_node *n, CXCursor c)
{
	mla_c_info *info = n && n->c ? (mla_c_info *)n->c : NULL;

	if (!n || (info && info->value_known))
		return;
	if (!info) {
		info = mla_region_alloc(l->region, sizeof(*info));
		n->c = info;
	}
	info->value_known = mla_lower_evaluate(l, c, &info->value);
}

static mla_node *comparison(mla_lowering *l, CXCursor c, mla_op op, const mla_cursors *kids)
{
	mla_node *n = wrap(l, c, MLA_N_COMPARE, op, kids, 2);

	((mla_c_info *)n->c)->macro = from_macro(l, c);
	for (uint32_t i = 0; i < 2 && i < kids->n; i++)
		evaluate_operand(l, n->kid[i], kids->v[i]);
	return n;
}

static mla_node *binary(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	static const struct {
		uint8_t from, kind, to;
	} table[] = {
		{CXBinaryOperator_Mul, MLA_N_BINARY, MLA_OP_MUL},
		{CXBinaryOperator_Div, MLA_N_BINARY, MLA_OP_DIV},
		{CXBinaryOperator_Rem, MLA_N_BINARY, MLA_OP_MOD},
		{CXBinaryOperator_Add, MLA_N_BINARY, MLA_OP_ADD},
		{CXBinaryOperator_Sub, MLA_N_BINARY, MLA_OP_SUB},
		{CXBinaryOperator_Shl, MLA_N_BINARY, MLA_OP_SHL},
		{CXBinaryOperator_Shr, MLA_N_BINARY, MLA_OP_SHR},
		{CXBinaryOperator_And, MLA_N_BINARY, MLA_OP_BITAND},
		{CXBinaryOperator_Or, MLA_N_BINARY, MLA_OP_BITOR},
		{CXBinaryOperator_Xor, MLA_N_BINARY, MLA_OP_BITXOR},
		{CXBinaryOperator_Comma, MLA_N_BINARY, MLA_OP_COMMA},
		{CXBinaryOperator_LAnd, MLA_N_AND, MLA_OP_NONE},
		{CXBinaryOperator_LOr, MLA_N_OR, MLA_OP_NONE},
		{CXBinaryOperator_Assign, MLA_N_ASSIGN, MLA_OP_NONE},
		{CXBinaryOperator_MulAssign, MLA_N_AUG_ASSIGN, MLA_OP_MUL},
		{CXBinaryOperator_DivAssign, MLA_N_AUG_ASSIGN, MLA_OP_DIV},
		{CXBinaryOperator_RemAssign, MLA_N_AUG_ASSIGN, MLA_OP_MOD},
		{CXBinaryOperator_AddAssign, MLA_N_AUG_ASSIGN, MLA_OP_ADD},
		{CXBinaryOperator_SubAssign, MLA_N_AUG_ASSIGN, MLA_OP_SUB},
		{CXBinaryOperator_ShlAssign, MLA_N_AUG_ASSIGN, MLA_OP_SHL},
		{CXBinaryOperator_ShrAssign, MLA_N_AUG_ASSIGN, MLA_OP_SHR},
		{CXBinaryOperator_AndAssign, MLA_N_AUG_ASSIGN, MLA_OP_BITAND},
		{CXBinaryOperator_XorAssign, MLA_N_AUG_ASSIGN, MLA_OP_BITXOR},
		{CXBinaryOperator_OrAssign, MLA_N_AUG_ASSIGN, MLA_OP_BITOR},
	};
	static const uint8_t compared[][2] = {
		{CXBinaryOperator_EQ, MLA_OP_EQ}, {CXBinaryOperator_NE, MLA_OP_NE},
		{CXBinaryOperator_LT, MLA_OP_LT}, {CXBinaryOperator_LE, MLA_OP_LE},
		{CXBinaryOperator_GT, MLA_OP_GT}, {CXBinaryOperator_GE, MLA_OP_GE},
	};
	enum CXBinaryOperatorKind is = l->api->getCursorBinaryOperatorKind(c);

	for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++)
		if (compared[i][0] == is)
			return comparison(l, c, (mla_op)compared[i][1], kids);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].from == is)
			return wrap(l, c, (mla_kind)table[i].kind, (mla_op)table[i].to, kids, 2);
	return NULL;
}

static mla_node *unary(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	switch ((int)l->api->getCursorUnaryOperatorKind(c)) {
	case CXUnaryOperator_PostInc:
	case CXUnaryOperator_PostDec:
	case CXUnaryOperator_PreInc:
	case CXUnaryOperator_PreDec:
		return wrap(l, c, MLA_N_UNARY, MLA_OP_INCREMENT, kids, 1);
	case CXUnaryOperator_AddrOf:
		return wrap(l, c, MLA_N_UNARY, MLA_OP_ADDRESS, kids, 1);
	case CXUnaryOperator_Deref:
		return wrap(l, c, MLA_N_UNARY, MLA_OP_DEREF, kids, 1);
	case CXUnaryOperator_Minus:
		return wrap(l, c, MLA_N_UNARY, MLA_OP_SUB, kids, 1);
	case CXUnaryOperator_Not:
		return wrap(l, c, MLA_N_UNARY, MLA_OP_INVERT, kids, 1);
	case CXUnaryOperator_LNot:
		return wrap(l, c, MLA_N_NOT, MLA_OP_NONE, kids, 1);
	default:
		return transparent(l, c, kids);
	}
}

/* The name before the bracket that the call's span ends with: all there is where the compiler does
 * not know what is called. */
static mla_str name_before_bracket(mla_lowering *l, mla_span span)
{
	const mla_tokens *t = l->tokens;
	uint32_t i = mla_tokens_at(t, span.end ? span.end - 1 : 0);

	if (i >= t->n || t->v[i].match >= i)
		return (mla_str){"", 0};
	i = t->v[i].match;
	if (i == 0 || t->v[i - 1].kind != MLA_TOKEN_NAME)
		return (mla_str){"", 0};
	return mla_text_slice(l->text, t->v[i - 1].span);
}

static bool is_operator(mla_str name, const char *op)
{
	return mla_str_starts(name, "operator") &&
	       mla_str_is((mla_str){name.ptr + 8, name.len - 8}, op);
}

/* Overloaded operators look like what they are written as. */
static mla_node *overloaded(mla_lowering *l, CXCursor c, mla_str name, mla_cursors *arguments)
{
	if (arguments->n == 2 && is_operator(name, "[]"))
		return wrap(l, c, MLA_N_SUBSCRIPT, MLA_OP_NONE, arguments, 2);
	if (arguments->n == 2 && is_operator(name, "="))
		return wrap(l, c, MLA_N_ASSIGN, MLA_OP_NONE, arguments, 2);
	if (arguments->n == 2 && is_operator(name, "*"))
		return wrap(l, c, MLA_N_BINARY, MLA_OP_MUL, arguments, 2);
	if (arguments->n == 2 && is_operator(name, "+"))
		return wrap(l, c, MLA_N_BINARY, MLA_OP_ADD, arguments, 2);
	if (arguments->n == 1 && (is_operator(name, "*") || is_operator(name, "->")))
		return wrap(l, c, MLA_N_UNARY, MLA_OP_DEREF, arguments, 1);
	return NULL;
}

/* The callee of a call: the kid that is no argument. A constructor has none. */
static mla_node *callee_of(mla_lowering *l, CXCursor c, const mla_cursors *kids,
                           const mla_cursors *arguments, mla_span span, mla_str name)
{
	mla_node *callee = NULL;

	for (uint32_t i = 0; i < kids->n && !callee; i++) {
		bool argument = false;

		for (uint32_t k = 0; k < arguments->n; k++)
			argument |= l->api->equalCursors(kids->v[i], arguments->v[k]) != 0;
		if (!argument)
			callee = mla_lower_cursor(l, kids->v[i]);
	}
	if (!callee)
		callee = mla_lower_node(l, c, MLA_N_NAME, 0);
	if (!callee->name.len && callee->kind != MLA_N_LAMBDA)
		callee->name = name.len ? name : name_before_bracket(l, span);
	return callee;
}

static uint32_t template_arguments(mla_lowering *l, CXCursor function)
{
	int n = l->api->Cursor_getNumTemplateArguments(function);

	return n > 0 ? (uint32_t)n : 0;
}

/* `attend<true>(x)` is `attend(x, true)`: lower_function() has the parameters for it. */
static void attach_constants(mla_lowering *l, mla_node *call, CXCursor c, CXCursor function)
{
	for (uint32_t i = 0; i < template_arguments(l, function); i++) {
		mla_node *n;
		mla_c_info *info;

		if (l->api->Cursor_getTemplateArgumentKind(function, i) !=
		    CXTemplateArgumentKind_Integral)
			continue;
		n = mla_lower_node(l, c, MLA_N_INT, 0);
		n->span.start = n->span.end; /* not where the call is written */
		info = mla_region_alloc(l->region, sizeof(*info));
		info->integer = info->value_known = true;
		info->value = l->api->Cursor_getTemplateArgumentValue(function, i);
		n->c = info;
		mla_lower_attach(call, call->n++, n);
	}
}

static mla_node *call(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	CXCursor function = l->api->getCursorReferenced(c);
	bool known = !l->api->Cursor_isNull(function);
	mla_str name = known ? mla_lower_spelling(l, function) : mla_lower_spelling(l, c);
	int count = l->api->Cursor_getNumArguments(c);
	mla_cursors arguments = {0};
	mla_c_info *info;
	mla_node *n;
	uint32_t first = 0;

	arguments.v = mla_alloc((size_t)(count > 0 ? count : 1) * sizeof(*arguments.v));
	for (int i = 0; i < count; i++)
		arguments.v[arguments.n++] = l->api->Cursor_getArgument(c, (unsigned)i);
	n = overloaded(l, c, name, &arguments);
	if (!n && known && l->api->getCursorKind(function) == CXCursor_Constructor &&
	    arguments.n == 1)
		n = mla_lower_cursor(l, arguments.v[0]); /* a conversion or a copy */
	if (!n) {
		n = mla_lower_node(l, c, MLA_N_CALL,
		                   arguments.n + 1 + (known ? template_arguments(l, function) : 0));
		n->n = arguments.n + 1;
		if (is_operator(name, "()") && arguments.n) {
			mla_lower_attach(n, 0, mla_lower_cursor(l, arguments.v[0]));
			first = 1;
			n->n--;
		} else {
			mla_lower_attach(n, 0, callee_of(l, c, kids, &arguments, n->span, name));
		}
		for (uint32_t i = first; i < arguments.n; i++)
			mla_lower_attach(n, i + 1 - first, mla_lower_cursor(l, arguments.v[i]));
		info = mla_lower_info(l, c);
		if (known && !first) {
			mla_lower_refer(l, info, function);
			attach_constants(l, n, c, function);
		}
		n->c = info;
		n->name = n->kid[0] ? n->kid[0]->name : name;
	}
	free(arguments.v);
	return n;
}

/* [receiver first:a second:b] is a call of `first` with the receiver as its object. */
static mla_node *message(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_str selector = mla_lower_spelling(l, c);
	int count = l->api->Cursor_getNumArguments(c);
	mla_node *n = mla_lower_node(l, c, MLA_N_CALL, (uint32_t)(count > 0 ? count : 0) + 1);
	mla_node *callee = mla_lower_node(l, c, MLA_N_ATTRIBUTE, 1);
	mla_c_info *info = mla_lower_info(l, c);
	CXCursor method = l->api->getCursorReferenced(c);
	uint32_t end = 0;

	while (end < selector.len && selector.ptr[end] != ':')
		end++;
	callee->name = (mla_str){selector.ptr, end};
	if (kids->n > (uint32_t)(count > 0 ? count : 0))
		mla_lower_attach(callee, 0, mla_lower_cursor(l, kids->v[0]));
	mla_lower_attach(n, 0, callee);
	for (int i = 0; i < count; i++)
		mla_lower_attach(n, (uint32_t)i + 1,
		                 mla_lower_cursor(l, l->api->Cursor_getArgument(c, (unsigned)i)));
	if (!l->api->Cursor_isNull(method))
		mla_lower_refer(l, info, method);
	n->c = info;
	n->name = callee->name;
	return n;
}

static mla_node *name(mla_lowering *l, CXCursor c)
{
	CXCursor declaration = l->api->getCursorReferenced(c);
	mla_node *n = mla_lower_node(l, c, MLA_N_NAME, 0);
	mla_c_info *info = mla_lower_info(l, c);

	n->name = mla_lower_spelling(l, c);
	if (!l->api->Cursor_isNull(declaration)) {
		mla_lower_refer(l, info, declaration);
		if (!n->name.len)
			n->name = mla_lower_spelling(l, declaration);
	}
	n->c = info;
	return n;
}

static mla_node *member(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	CXCursor declaration = l->api->getCursorReferenced(c);
	mla_node *n = mla_lower_node(l, c, MLA_N_ATTRIBUTE, 1), *object = NULL;
	mla_c_info *info = mla_lower_info(l, c);

	n->name = mla_lower_spelling(l, c);
	/* A property in Objective-C has no type where it is read. */
	if (l->api->getCursorKind(declaration) == CXCursor_ObjCPropertyDecl)
		info = mla_lower_info(l, declaration);
	if (!l->api->Cursor_isNull(declaration))
		mla_lower_refer(l, info, declaration);
	n->c = info;
	for (uint32_t i = 0; i < kids->n && !object; i++)
		object = mla_lower_cursor(l, kids->v[i]);
	mla_lower_attach(n, 0, object);
	return n;
}

static mla_node *lambda(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_LAMBDA, 2);
	mla_node *list = mla_lower_node(l, c, MLA_N_PARAMETERS, kids->n);

	list->n = 0;
	for (uint32_t i = 0; i < kids->n; i++) {
		enum CXCursorKind kind = l->api->getCursorKind(kids->v[i]);

		if (kind == CXCursor_ParmDecl)
			mla_lower_attach(list, list->n++, mla_lower_cursor(l, kids->v[i]));
		else if (kind == CXCursor_CompoundStmt)
			mla_lower_attach(n, 1, mla_lower_cursor(l, kids->v[i]));
	}
	mla_lower_attach(n, 0, list);
	return n;
}

static mla_node *literal(mla_lowering *l, CXCursor c, mla_kind kind)
{
	mla_node *n = mla_lower_node(l, c, kind, 0);
	mla_c_info *info = mla_lower_info(l, c);
	mla_str s = mla_text_slice(l->text, n->span);

	n->name = s;
	if (kind == MLA_N_INT)
		info->value_known = mla_lower_evaluate(l, c, &info->value);
	if (kind == MLA_N_TRUE && !mla_str_is(s, "true") && !mla_str_is(s, "YES"))
		n->kind = MLA_N_FALSE;
	n->c = info;
	return n;
}

mla_node *mla_lower_expression(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n;

	switch ((int)l->api->getCursorKind(c)) {
	case CXCursor_ParenExpr:
		n = transparent(l, c, kids);
		{
			mla_node *whole = mla_lower_node(l, c, MLA_N_OTHER, 0);

			n->outer = whole->span;
		}
		return n;
	case CXCursor_UnexposedExpr:
	case CXCursor_UnexposedStmt:
		return kids->n == 1 ? transparent(l, c, kids) : NULL;
	case CXCursor_BinaryOperator:
	case CXCursor_CompoundAssignOperator:
		return binary(l, c, kids);
	case CXCursor_UnaryOperator:
		return unary(l, c, kids);
	case CXCursor_ConditionalOperator:
		return wrap(l, c, MLA_N_CONDITION, MLA_OP_NONE, kids, 3);
	case CXCursor_ArraySubscriptExpr:
		return wrap(l, c, MLA_N_SUBSCRIPT, MLA_OP_NONE, kids, 2);
	case CXCursor_CStyleCastExpr:
	case CXCursor_CXXStaticCastExpr:
	case CXCursor_CXXFunctionalCastExpr:
	case CXCursor_CXXReinterpretCastExpr:
	case CXCursor_CXXConstCastExpr:
		n = mla_lower_node(l, c, MLA_N_CAST, 1);
		mla_lower_attach(n, 0, transparent(l, c, kids));
		n->c = mla_lower_info(l, c);
		return n;
	case CXCursor_CallExpr:
		return call(l, c, kids);
	case CXCursor_ObjCMessageExpr:
		return message(l, c, kids);
	case CXCursor_DeclRefExpr:
		return name(l, c);
	case CXCursor_MemberRefExpr:
		return member(l, c, kids);
	case CXCursor_LambdaExpr:
	case CXCursor_BlockExpr:
		return lambda(l, c, kids);
	case CXCursor_IntegerLiteral:
		return literal(l, c, MLA_N_INT);
	case CXCursor_FloatingLiteral:
		return literal(l, c, MLA_N_FLOAT);
	case CXCursor_CXXBoolLiteralExpr:
	case CXCursor_ObjCBoolLiteralExpr:
		return literal(l, c, MLA_N_TRUE);
	case CXCursor_CXXNullPtrLiteralExpr:
		return literal(l, c, MLA_N_NONE);
	case CXCursor_StringLiteral:
	case CXCursor_ObjCStringLiteral:
		return mla_lower_node(l, c, MLA_N_STRING, 0);
	case CXCursor_InitListExpr:
		n = wrap(l, c, MLA_N_BRACES, MLA_OP_NONE, kids, kids->n);
		return n;
	default:
		return NULL;
	}
}

/* libclang's declarations to our tree, and what is known of declarations and types. */
#include "analyzer/clang_api.h"

#include "analyzer/str.h"

#include <stdlib.h>

struct mla_record_list {
	mla_record *record;
	mla_record_list *next;
};

/* FNV-1a */
static uint64_t hash(uint64_t h, const char *z)
{
	for (; *z; z++)
		h = (h ^ (unsigned char)*z) * 1099511628211u;
	return h;
}

/* The folder of the file that holds the declaration too: the library's name has only its last part.
 */
static uint64_t hash_file(mla_lowering *l, uint64_t h, CXCursor declaration)
{
	CXFile file = NULL;
	CXString s;
	const char *z;

	l->api->getFileLocation(l->api->getCursorLocation(declaration), &file, NULL, NULL, NULL);
	if (!file)
		return h;
	s = l->api->File_tryGetRealPathName(file);
	z = l->api->getCString(s);
	if (!z || !*z) {
		l->api->disposeString(s);
		s = l->api->getFileName(file);
		z = l->api->getCString(s);
	}
	h = hash(h, z ? z : "");
	l->api->disposeString(s);
	return h;
}

/* From the library's own name of a declaration, which is the same in every file that sees it. That
 * of a static one, or of a local, starts with the name of its file. */
static uint64_t identity(mla_lowering *l, CXCursor declaration)
{
	CXString s = l->api->getCursorUSR(declaration);
	const char *z = l->api->getCString(s);
	uint64_t h = 0;

	if (z && *z)
		h = hash(14695981039346656037u, z);
	if (h && strncmp(z, "c:", 2) == 0 && z[2] != '@')
		h = hash_file(l, h, declaration);
	l->api->disposeString(s);
	return h;
}

typedef struct {
	mla_lowering *l;
	mla_field *v;
	uint32_t n, cap;
	uint32_t depth;
} fields;

static const mla_record *record_of(mla_lowering *l, CXType type, uint32_t depth);

/* Integers and enumerations, but not bool and characters. */
static bool is_integer(enum CXTypeKind k)
{
	return (k >= CXType_UShort && k <= CXType_UInt128) ||
	       (k >= CXType_Short && k <= CXType_Int128) || k == CXType_Enum;
}

static bool is_size(CXType t)
{
	return t.kind == CXType_ULong || t.kind == CXType_ULongLong || t.kind == CXType_Long ||
	       t.kind == CXType_LongLong;
}

static CXType pointee(mla_lowering *l, CXType t, bool *pointer)
{
	for (int i = 0; i < 3; i++) {
		t = l->api->getCanonicalType(t);
		switch ((int)t.kind) {
		case CXType_Pointer:
		case CXType_ObjCObjectPointer:
			*pointer = true;
			t = l->api->getPointeeType(t);
			break;
		case CXType_LValueReference:
		case CXType_RValueReference:
			t = l->api->getPointeeType(t);
			break;
		default:
			return t;
		}
	}
	return t;
}

static enum CXVisitorResult visit_field(CXCursor c, CXClientData data)
{
	fields *f = data;
	mla_field field = {.name = mla_lower_spelling(f->l, c)};
	CXType type = f->l->api->getCursorType(c), inner = pointee(f->l, type, &field.pointer);

	field.integer = !field.pointer && is_integer(inner.kind);
	if (f->depth && field.name.len)
		field.record = record_of(f->l, type, f->depth - 1);
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 8;
		f->v = mla_realloc(f->v, f->cap, sizeof(*f->v));
	}
	f->v[f->n++] = field;
	return CXVisit_Continue;
}

/* What the elements of an array, and of arrays of them, are; another type as it is. */
static CXType element(mla_lowering *l, CXType type)
{
	for (;;) {
		CXType t = l->api->getCanonicalType(type);

		if (t.kind != CXType_ConstantArray && t.kind != CXType_IncompleteArray &&
		    t.kind != CXType_VariableArray)
			return type;
		type = l->api->getArrayElementType(t);
	}
}

/* The struct that `type` is or leads to, with its fields down to a few levels. */
static const mla_record *record_of(mla_lowering *l, CXType type, uint32_t depth)
{
	bool pointer = false;
	CXType t = pointee(l, element(l, type), &pointer);
	fields f = {.l = l, .depth = depth};
	mla_record_list *entry;
	CXCursor declaration;
	uint64_t id;

	if (t.kind != CXType_Record)
		return NULL;
	declaration = l->api->getTypeDeclaration(t);
	id = identity(l, declaration);
	for (entry = l->records; entry; entry = entry->next)
		if (entry->record->id == id)
			return entry->record;
	entry = mla_region_alloc(l->region, sizeof(*entry));
	entry->record = mla_region_alloc(l->region, sizeof(*entry->record));
	entry->record->id = id;
	entry->record->name = mla_lower_spelling(l, declaration);
	entry->next = l->records;
	l->records = entry; /* before its fields: one of them may lead back to it */
	l->api->Type_visitFields(t, visit_field, &f);
	entry->record->n = f.n;
	entry->record->field = mla_region_alloc(l->region, (f.n + 1) * sizeof(*f.v));
	if (f.n)
		memcpy((void *)entry->record->field, f.v, f.n * sizeof(*f.v));
	free(f.v);
	return entry->record;
}

mla_c_info *mla_lower_info(mla_lowering *l, CXCursor c)
{
	enum { FIELD_LEVELS = 3 };
	mla_c_info *info = mla_region_alloc(l->region, sizeof(*info));
	CXType type = l->api->getCanonicalType(l->api->getCursorType(c)), inner;
	bool pointer = false;

	if (type.kind == CXType_Invalid)
		return info;
	info->constant = l->api->isConstQualifiedType(type) != 0;
	info->array = type.kind == CXType_ConstantArray;
	inner = pointee(l, type, &info->pointer);
	info->boolean = !info->pointer && inner.kind == CXType_Bool;
	info->integer = !info->pointer && is_integer(inner.kind);
	info->unsigned_long = inner.kind == CXType_ULong || inner.kind == CXType_ULongLong;
	info->size = is_size(pointee(l, element(l, type), &pointer));
	info->record = record_of(l, type, FIELD_LEVELS);
	return info;
}

void mla_lower_refer(mla_lowering *l, mla_c_info *info, CXCursor declaration)
{
	CXCursor general = l->api->getSpecializedCursorTemplate(declaration);

	if (!l->api->Cursor_isNull(general))
		declaration = general;
	switch ((int)l->api->getCursorKind(declaration)) {
	case CXCursor_ParmDecl:
		info->decl = MLA_DECL_PARAMETER;
		break;
	case CXCursor_VarDecl:
		info->decl = l->api->getCursorLinkage(declaration) == CXLinkage_NoLinkage
		                     ? MLA_DECL_LOCAL
		                     : MLA_DECL_GLOBAL;
		break;
	case CXCursor_FieldDecl:
	case CXCursor_ObjCIvarDecl:
	case CXCursor_ObjCPropertyDecl:
		info->decl = MLA_DECL_FIELD;
		break;
	case CXCursor_EnumConstantDecl:
		info->decl = MLA_DECL_CONSTANT;
		info->value = l->api->getEnumConstantDeclValue(declaration);
		info->value_known = true;
		break;
	case CXCursor_NonTypeTemplateParameter:
		info->decl = MLA_DECL_CONSTANT;
		break;
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_FunctionTemplate:
	case CXCursor_Constructor:
	case CXCursor_ObjCInstanceMethodDecl:
	case CXCursor_ObjCClassMethodDecl:
		info->decl = MLA_DECL_FUNCTION;
		break;
	default:
		return;
	}
	info->id = identity(l, declaration);
}

bool mla_lower_evaluate(mla_lowering *l, CXCursor c, int64_t *value)
{
	CXEvalResult r = l->api->Cursor_Evaluate(c);
	bool known = r && l->api->EvalResult_getKind(r) == CXEval_Int;

	if (known)
		*value = l->api->EvalResult_getAsLongLong(r);
	if (r)
		l->api->EvalResult_dispose(r);
	return known;
}

/* A variable, parameter, field or enumerator, with the value it starts with. */
static mla_node *lower_variable(mla_lowering *l, CXCursor c, const mla_cursors *kids, mla_kind kind)
{
	mla_node *n = mla_lower_node(l, c, kind, kind == MLA_N_PARAMETER ? 2 : 1);
	mla_c_info *info = mla_lower_info(l, c);
	enum CXCursorKind is = l->api->getCursorKind(c);
	CXCursor value = l->api->Cursor_getVarDeclInitializer(c);
	bool has_value = !l->api->Cursor_isNull(value);

	if (is == CXCursor_EnumConstantDecl && kids->n) {
		value = kids->v[kids->n - 1];
		has_value = true;
	}
	n->name = mla_lower_spelling(l, c);
	mla_lower_refer(l, info, c);
	if (has_value && kind == MLA_N_DECLARE)
		mla_lower_attach(n, 0, mla_lower_cursor(l, value));
	if (has_value && info->constant && info->integer && !info->value_known)
		info->value_known = mla_lower_evaluate(l, value, &info->value);
	n->c = info;
	return n;
}

static mla_node *lower_function(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_FUNCTION, 4);
	mla_node *list = mla_lower_node(l, c, MLA_N_PARAMETERS, kids->n);
	mla_c_info *info = mla_region_alloc(l->region, sizeof(*info));
	CXCursor body = {0}, parent = l->api->getCursorSemanticParent(c);
	bool has_body = false;

	list->n = 0;
	for (uint32_t i = 0; i < kids->n; i++) {
		enum CXCursorKind kind = l->api->getCursorKind(kids->v[i]);

		if (kind == CXCursor_ParmDecl)
			mla_lower_attach(list, list->n++, mla_lower_cursor(l, kids->v[i]));
		has_body |= kind == CXCursor_CompoundStmt;
		if (kind == CXCursor_CompoundStmt)
			body = kids->v[i];
	}
	/* Constants of a template come last, as in its calls. */
	for (uint32_t i = 0; i < kids->n; i++)
		if (l->api->getCursorKind(kids->v[i]) == CXCursor_NonTypeTemplateParameter)
			mla_lower_attach(
				list, list->n++,
				lower_variable(l, kids->v[i], &(mla_cursors){0}, MLA_N_PARAMETER));
	n->name = mla_lower_spelling(l, c);
	mla_lower_refer(l, info, c);
	info->id = identity(l, c);
	info->decl = MLA_DECL_FUNCTION;
	info->internal = l->api->getCursorLinkage(c) == CXLinkage_Internal;
	info->call_const = l->api->CXXMethod_isConst(c) != 0;
	info->record = record_of(l, l->api->getCursorType(parent), 3);
	n->c = info;
	mla_lower_attach(n, 0, list);
	if (has_body)
		mla_lower_attach(n, 1, mla_lower_cursor(l, body));
	return n;
}

static mla_node *lower_members(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	mla_node *n = mla_lower_node(l, c, MLA_N_CLASS, 3);
	mla_node *block = mla_lower_node(l, c, MLA_N_BLOCK, kids->n);

	block->n = 0;
	for (uint32_t i = 0; i < kids->n; i++) {
		mla_node *kid = mla_lower_cursor(l, kids->v[i]);

		if (kid)
			mla_lower_attach(block, block->n++, kid);
	}
	n->name = mla_lower_spelling(l, c);
	mla_lower_attach(n, 1, block);
	return n;
}

mla_node *mla_lower_declaration(mla_lowering *l, CXCursor c, const mla_cursors *kids)
{
	switch ((int)l->api->getCursorKind(c)) {
	case CXCursor_FunctionDecl:
	case CXCursor_FunctionTemplate:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_ConversionFunction:
	case CXCursor_ObjCInstanceMethodDecl:
	case CXCursor_ObjCClassMethodDecl:
		return lower_function(l, c, kids);
	case CXCursor_StructDecl:
	case CXCursor_UnionDecl:
	case CXCursor_ClassDecl:
	case CXCursor_ClassTemplate:
	case CXCursor_ClassTemplatePartialSpecialization:
	case CXCursor_EnumDecl:
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_ObjCInterfaceDecl:
	case CXCursor_ObjCCategoryDecl:
	case CXCursor_ObjCImplementationDecl:
	case CXCursor_ObjCCategoryImplDecl:
		return lower_members(l, c, kids);
	case CXCursor_VarDecl:
	case CXCursor_FieldDecl:
	case CXCursor_ObjCIvarDecl:
	case CXCursor_EnumConstantDecl:
		return lower_variable(l, c, kids, MLA_N_DECLARE);
	case CXCursor_ParmDecl:
		return lower_variable(l, c, kids, MLA_N_PARAMETER);
	default:
		return NULL;
	}
}

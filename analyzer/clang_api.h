/* The functions of libclang that are used, bound at run time. Private to clang*.c. */
#ifndef MLA_ANALYZER_CLANG_API_H
#define MLA_ANALYZER_CLANG_API_H

#include "analyzer/clang.h"

#include <clang-c/Index.h>

#define MLA_CLANG_FUNCTIONS(X)             \
	X(createIndex)                     \
	X(parseTranslationUnit2)           \
	X(getClangVersion)                 \
	X(getCString)                      \
	X(disposeString)                   \
	X(getTranslationUnitCursor)        \
	X(visitChildren)                   \
	X(getCursorKind)                   \
	X(getCursorSpelling)               \
	X(getCursorUSR)                    \
	X(getCursorReferenced)             \
	X(getCursorExtent)                 \
	X(getCursorLocation)               \
	X(getCursorType)                   \
	X(getCursorSemanticParent)         \
	X(getCursorLinkage)                \
	X(getCursorBinaryOperatorKind)     \
	X(getCursorUnaryOperatorKind)      \
	X(getSpecializedCursorTemplate)    \
	X(getRangeStart)                   \
	X(getRangeEnd)                     \
	X(getFileLocation)                 \
	X(getSpellingLocation)             \
	X(Location_isFromMainFile)         \
	X(getFile)                         \
	X(getInclusions)                   \
	X(getFileName)                     \
	X(File_tryGetRealPathName)         \
	X(getSkippedRanges)                \
	X(disposeSourceRangeList)          \
	X(getNumDiagnostics)               \
	X(getDiagnostic)                   \
	X(disposeDiagnostic)               \
	X(getDiagnosticSeverity)           \
	X(getDiagnosticLocation)           \
	X(getDiagnosticSpelling)           \
	X(getDiagnosticCategoryText)       \
	X(Cursor_getNumArguments)          \
	X(Cursor_getArgument)              \
	X(Cursor_getNumTemplateArguments)  \
	X(Cursor_getTemplateArgumentKind)  \
	X(Cursor_getTemplateArgumentValue) \
	X(Cursor_getVarDeclInitializer)    \
	X(Cursor_isNull)                   \
	X(equalCursors)                    \
	X(Cursor_Evaluate)                 \
	X(EvalResult_getKind)              \
	X(EvalResult_getAsLongLong)        \
	X(EvalResult_dispose)              \
	X(getEnumConstantDeclValue)        \
	X(getCanonicalType)                \
	X(getPointeeType)                  \
	X(getArrayElementType)             \
	X(getTypeDeclaration)              \
	X(isConstQualifiedType)            \
	X(Type_visitFields)                \
	X(CXXMethod_isConst)               \
	X(CXXMethod_isStatic)              \
	X(isExpression)                    \
	X(isStatement)

typedef struct {
#define X(name) __typeof__(clang_##name) *name;
	MLA_CLANG_FUNCTIONS(X)
#undef X
} mla_clang_api;

/* Memory that the parsing process fills and its parent reads, at the same address in both. */
typedef struct {
	char *base;
	size_t used, size;
} mla_region;

void *mla_region_alloc(mla_region *r, size_t size); /* zeroed; ends the process when it is full */

typedef struct mla_record_list mla_record_list;

/* One translation unit being turned into our tree. */
typedef struct {
	const mla_clang_api *api;
	mla_region *region;
	const mla_text *text;
	const mla_tokens *tokens;
	CXFile file;
	mla_record_list *records;
	uint32_t depth;
} mla_lowering;

mla_node *mla_clang_lower(mla_lowering *l, CXCursor unit);

/* clang_lower.c, for the parts of it */
mla_node *mla_lower_cursor(mla_lowering *l, CXCursor c);
mla_node *mla_lower_node(mla_lowering *l, CXCursor c, mla_kind kind, uint32_t kids);
void mla_lower_attach(mla_node *n, uint32_t i, mla_node *kid);
mla_str mla_lower_spelling(mla_lowering *l, CXCursor c);
uint32_t mla_lower_offset(mla_lowering *l, CXSourceLocation at);

typedef struct {
	CXCursor *v;
	uint32_t n, cap;
} mla_cursors;

void mla_lower_kids(mla_lowering *l, mla_cursors *out, CXCursor c);

/* clang_expr.c: NULL when the cursor is no expression it knows */
mla_node *mla_lower_expression(mla_lowering *l, CXCursor c, const mla_cursors *kids);

/* clang_decl.c */
mla_node *mla_lower_declaration(mla_lowering *l, CXCursor c, const mla_cursors *kids);
mla_c_info *mla_lower_info(mla_lowering *l, CXCursor c); /* of its type */
void mla_lower_refer(mla_lowering *l, mla_c_info *info, CXCursor declaration);
bool mla_lower_evaluate(mla_lowering *l, CXCursor c, int64_t *value);

#endif

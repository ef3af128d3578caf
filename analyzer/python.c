/*
 * Source to syntax through tree-sitter. The only file that knows tree-sitter: it walks the parser's
 * tree with a cursor and a stack of its own, so the depth of a source costs heap, not C stack.
 */
#include "analyzer/python.h"

#include "analyzer/python_lower.h"
#include "analyzer/str.h"
#include "analyzer/tree_parse.h"
#include "analyzer/vec.h"

#include <tree_sitter/api.h>

extern const TSLanguage *tree_sitter_python(void);

struct mla_python {
	TSParser *parser;
	uint8_t *kinds;  /* grammar symbol -> mla_py_kind */
	uint8_t *fields; /* grammar field -> mla_py_field */
	uint32_t symbol_count, field_count;
};

static const char *const kind_names[MLA_PY_KIND_COUNT] = {[MLA_PY_UNKNOWN] = "",
                                                          [MLA_PY_ERROR] = "ERROR",
#define X(id, name) [MLA_PY_##id] = name,
                                                          MLA_PY_KINDS(X)
#undef X
};

static const char *const field_names[MLA_PYF_COUNT] = {[MLA_PYF_NONE] = "",
#define X(id, name) [MLA_PYF_##id] = name,
                                                       MLA_PY_FIELDS(X)
#undef X
};

static uint8_t lookup(const char *const *names, int count, const char *name)
{
	for (int i = 1; name && i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (uint8_t)i;
	return 0;
}

/* A grammar that lacks a name we rely on would make findings vanish in silence. */
static int resolve(mla_python *p, const TSLanguage *lang)
{
	bool seen[MLA_PY_KIND_COUNT] = {false}, seen_field[MLA_PYF_COUNT] = {false};

	p->symbol_count = ts_language_symbol_count(lang);
	p->field_count = ts_language_field_count(lang);
	p->kinds = mla_alloc(p->symbol_count);
	p->fields = mla_alloc((size_t)p->field_count + 1);
	for (uint32_t i = 0; i < p->symbol_count; i++) {
		p->kinds[i] = lookup(kind_names, MLA_PY_KIND_COUNT,
		                     ts_language_symbol_name(lang, (TSSymbol)i));
		seen[p->kinds[i]] = true;
	}
	for (uint32_t i = 1; i <= p->field_count; i++) {
		p->fields[i] = lookup(field_names, MLA_PYF_COUNT,
		                      ts_language_field_name_for_id(lang, (TSFieldId)i));
		seen_field[p->fields[i]] = true;
	}
	for (int i = MLA_PY_ERROR + 1; i < MLA_PY_KIND_COUNT; i++)
		if (!seen[i])
			return mla_error(MLA_EPARSE, "the Python grammar has no node '%s'",
			                 kind_names[i]);
	for (int i = 1; i < MLA_PYF_COUNT; i++)
		if (!seen_field[i])
			return mla_error(MLA_EPARSE, "the Python grammar has no field '%s'",
			                 field_names[i]);
	return 0;
}

int mla_python_new(mla_python **out)
{
	const TSLanguage *lang = tree_sitter_python();
	mla_python *p = mla_alloc(sizeof(*p));
	int error;

	p->parser = mla_tree_parser(lang);
	if (!p->parser) {
		error = mla_error(MLA_EPARSE,
		                  "tree-sitter reads grammars of ABI %d to %d, the Python grammar "
		                  "has ABI %u",
		                  TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION,
		                  TREE_SITTER_LANGUAGE_VERSION, mla_python_grammar_abi());
		goto done;
	}
	if ((error = resolve(p, lang)) < 0)
		goto done;
	*out = p;
	return 0;
done:
	mla_python_free(p);
	return error;
}

void mla_python_free(mla_python *p)
{
	if (!p)
		return;
	ts_parser_delete(p->parser);
	free(p->kinds);
	free(p->fields);
	free(p);
}

unsigned mla_python_grammar_abi(void)
{
	return ts_language_version(tree_sitter_python());
}

void mla_python_library_abi(unsigned *min, unsigned *max)
{
	*min = TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION;
	*max = TREE_SITTER_LANGUAGE_VERSION;
}

typedef struct {
	mla_python *p;
	mla_py_lower lower;
	TSTreeCursor cursor;
	MLA_VEC(mla_py_item) items; /* finished nodes whose parent is still open */
	MLA_VEC(uint32_t) bases;    /* for each open node, where its kids begin in items */
	MLA_VEC(mla_span) comments;
	uint32_t errors;
} walk;

static mla_py_item describe(const walk *w)
{
	TSNode node = ts_tree_cursor_current_node(&w->cursor);
	TSSymbol symbol = ts_node_symbol(node);
	mla_py_item item = {.named = ts_node_is_named(node), .missing = ts_node_is_missing(node)};

	item.span = (mla_span){ts_node_start_byte(node), ts_node_end_byte(node)};
	item.field = w->p->fields[ts_tree_cursor_current_field_id(&w->cursor)];
	item.kind = symbol == (TSSymbol)-1        ? MLA_PY_ERROR
	            : symbol < w->p->symbol_count ? w->p->kinds[symbol]
	                                          : MLA_PY_UNKNOWN;
	return item;
}

/* All kids of the current node are done: replace them by it. */
static void leave(walk *w)
{
	uint32_t base = w->bases.v[--w->bases.n];
	mla_py_item self = describe(w);

	if (self.kind == MLA_PY_COMMENT) {
		/* The grammar ends a comment at "\n" alone. */
		if (mla_text_bytes(w->lower.text).ptr[self.span.end - 1] == '\r')
			self.span.end--;
		mla_vec_push(&w->comments, self.span);
		w->items.n = base;
		return;
	}
	if (self.kind == MLA_PY_ERROR || self.missing)
		w->errors++;
	self.node = mla_py_reduce(&w->lower, &self, w->items.v + base, w->items.n - base);
	w->items.n = base;
	mla_vec_push(&w->items, self);
}

static void walk_tree(walk *w)
{
	for (;;) {
		mla_vec_push(&w->bases, w->items.n);
		if (ts_tree_cursor_goto_first_child(&w->cursor))
			continue;
		leave(w);
		while (!ts_tree_cursor_goto_next_sibling(&w->cursor)) {
			if (!ts_tree_cursor_goto_parent(&w->cursor))
				return;
			leave(w);
		}
	}
}

/*
 * The grammar knows no lone carriage return as a line end; Python does. Such a text is parsed from
 * a copy in which it is a line feed, byte for byte at the same offsets. NULL: no copy is needed.
 */
static char *without_lone_returns(mla_str b)
{
	char *copy = NULL;

	for (uint32_t i = 0; i < b.len; i++) {
		if (b.ptr[i] != '\r' || (i + 1 < b.len && b.ptr[i + 1] == '\n'))
			continue;
		if (!copy) {
			copy = mla_alloc(b.len);
			memcpy(copy, b.ptr, b.len);
		}
		copy[i] = '\n';
	}
	return copy;
}

/*
 * The parser counts children in 16 bits and overwrites its heap where comments and continuations
 * with nothing between them are more.
 */
static int check_comments(mla_str b)
{
	enum { RUN_MAX = 1 << 13 };
	uint32_t run = 0;
	bool at_start = true;

	for (uint32_t i = 0; i < b.len; i++) {
		char c = b.ptr[i];

		if (c == '\n' || c == '\r') {
			at_start = true;
		} else if (at_start && c != ' ' && c != '\t' && c != '\f') {
			at_start = false;
			run = c == '#' || c == '\\' ? run + 1 : 0;
			if (run > RUN_MAX)
				return mla_error(MLA_ELIMIT, "more than %d comment lines in a row",
				                 RUN_MAX);
		}
	}
	return 0;
}

/* The largest file that is read takes less than one. */
enum { SECONDS = 10 };

int mla_python_parse(mla_syntax *out, mla_python *p, const mla_text *text, mla_arena *arena)
{
	mla_str bytes = mla_text_bytes(text);
	walk w = {.p = p, .lower = {arena, text}};
	mla_span *comments;
	char *copy;
	TSTree *tree;

	if (check_comments(bytes) < 0)
		return MLA_ELIMIT;
	copy = without_lone_returns(bytes);
	tree = mla_tree_parse(p->parser, (mla_str){copy ? copy : bytes.ptr, bytes.len}, SECONDS);
	free(copy);
	if (!tree)
		return mla_error(MLA_ELIMIT, "tree-sitter needs more than %d s for it", SECONDS);
	w.cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	walk_tree(&w);
	ts_tree_cursor_delete(&w.cursor);
	ts_tree_delete(tree);

	comments = mla_arena_array(arena, w.comments.n, sizeof(*comments));
	if (w.comments.n)
		memcpy(comments, w.comments.v, w.comments.n * sizeof(*comments));
	*out = (mla_syntax){w.items.v[0].node, comments, w.comments.n, w.errors};
	mla_vec_free(&w.items);
	mla_vec_free(&w.bases);
	mla_vec_free(&w.comments);
	return 0;
}

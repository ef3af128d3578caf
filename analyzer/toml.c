/*
 * TOML through tree-sitter-toml: the grammar gives the structure, the rules about tables that are
 * defined twice are here. With analyzer/python.c the only file that knows tree-sitter.
 */
#include "analyzer/toml.h"

#include "analyzer/str.h"
#include "analyzer/toml_token.h"
#include "analyzer/tree_parse.h"
#include "analyzer/vec.h"

extern const TSLanguage *tree_sitter_toml(void);

typedef MLA_VEC(mla_toml) key_list; /* only key and at are of use */

/* Where the entry of a table is, by table and key: a file of 4 MB may hold half a million keys. */
typedef struct {
	const mla_toml *table;
	mla_toml *entry;
} slot;

typedef struct {
	mla_arena *arena;
	const mla_text *text;
	TSTreeCursor cursor;
	slot *slots;
	uint32_t slot_count, used; /* slot_count is a power of two */
	mla_toml *root, *current;  /* the table of the last header */
	uint32_t header;           /* how many headers there were, and one */
	key_list keys;             /* parts of the key at hand */
} reader;

const char *mla_toml_kind_name(mla_toml_kind k)
{
	static const char *const names[] = {
		[MLA_TOML_TABLE] = "a table",      [MLA_TOML_ARRAY] = "an array",
		[MLA_TOML_STRING] = "a string",    [MLA_TOML_INTEGER] = "an integer",
		[MLA_TOML_FLOAT] = "a float",      [MLA_TOML_BOOL] = "a boolean",
		[MLA_TOML_DATE] = "a date or time"};

	return names[k];
}

unsigned mla_toml_grammar_abi(void)
{
	return ts_language_version(tree_sitter_toml());
}

const mla_toml *mla_toml_get(const mla_toml *table, const char *key)
{
	for (const mla_toml *t = table ? table->first : NULL; t; t = t->next)
		if (mla_str_is(t->key, key))
			return t;
	return NULL;
}

/* FNV-1a over the key, started with the table. */
static uint32_t place(const reader *r, const mla_toml *table, mla_str key)
{
	uint64_t h = 0xCBF29CE484222325u ^ (uintptr_t)table;

	for (uint32_t i = 0; i < key.len; i++)
		h = (h ^ (unsigned char)key.ptr[i]) * 0x100000001B3u;
	return (uint32_t)(h ^ h >> 32) & (r->slot_count - 1);
}

static slot *find(const reader *r, const mla_toml *table, mla_str key)
{
	uint32_t i = place(r, table, key);

	while (r->slots[i].entry &&
	       (r->slots[i].table != table || !mla_str_eq(r->slots[i].entry->key, key)))
		i = (i + 1) & (r->slot_count - 1);
	return &r->slots[i];
}

static void grow(reader *r)
{
	slot *old = r->slots;
	uint32_t n = r->slot_count;

	r->slot_count = n ? 2 * n : 64;
	r->slots = mla_alloc(r->slot_count * sizeof(slot));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].entry)
			*find(r, old[i].table, old[i].entry->key) = old[i];
	free(old);
}

static mla_toml *append(reader *r, mla_toml *to, mla_toml_kind kind, uint32_t at)
{
	mla_toml *t = mla_arena_alloc(r->arena, sizeof(*t));

	t->kind = kind;
	t->at = at;
	if (to->last)
		to->last->next = t;
	else
		to->first = t;
	to->last = t;
	return t;
}

static mla_toml *get(const reader *r, const mla_toml *table, mla_str key)
{
	return find(r, table, key)->entry;
}

static mla_toml *put(reader *r, mla_toml *table, const mla_toml *key, mla_toml_kind kind)
{
	mla_toml *t = append(r, table, kind, key->at);

	t->key = key->key;
	if (2 * ++r->used > r->slot_count)
		grow(r);
	*find(r, table, key->key) = (slot){table, t};
	return t;
}

static int twice(const reader *r, const mla_toml *key)
{
	return mla_toml_error(r->text, key->at, "'%.*s' is defined twice", MLA_ARG(key->key));
}

static const char *kind(const reader *r)
{
	return ts_node_type(ts_tree_cursor_current_node(&r->cursor));
}

static bool is(const reader *r, const char *name)
{
	return strcmp(kind(r), name) == 0;
}

static mla_span span(const reader *r)
{
	TSNode n = ts_tree_cursor_current_node(&r->cursor);

	return (mla_span){ts_node_start_byte(n), ts_node_end_byte(n)};
}

/* The parts of the key at the cursor, which a dotted key nests from the left. */
static int read_key(reader *r)
{
	int depth = 0, error = 0;

	r->keys.n = 0;
	while (is(r, "dotted_key") && ts_tree_cursor_goto_first_child(&r->cursor))
		depth++;
	if (depth > MLA_TOML_DEPTH_MAX)
		error = mla_toml_error(r->text, span(r).start, "nested more than %d deep",
		                       MLA_TOML_DEPTH_MAX);
	for (;;) {
		do {
			mla_toml key = {.at = span(r).start};

			if (error < 0)
				break;
			if (is(r, "bare_key"))
				key.key = mla_text_slice(r->text, span(r));
			else if (is(r, "quoted_key"))
				error = mla_toml_string(&key.key, r->arena, r->text, span(r));
			else
				continue;
			mla_vec_push(&r->keys, key);
		} while (depth && ts_tree_cursor_goto_next_sibling(&r->cursor));
		if (!depth)
			break;
		ts_tree_cursor_goto_parent(&r->cursor);
		depth--;
		if (depth && !ts_tree_cursor_goto_next_sibling(&r->cursor))
			break;
	}
	return error;
}

/* [a.b] and [[a.b]]: afterwards `current` is that table. */
static int open_table(reader *r, bool list)
{
	mla_toml *t = r->root;
	const mla_toml *name = &r->keys.v[r->keys.n - 1];

	r->header++;
	for (uint32_t i = 0; i + 1 < r->keys.n; i++) {
		mla_toml *next = get(r, t, r->keys.v[i].key);

		if (!next)
			next = put(r, t, &r->keys.v[i], MLA_TOML_TABLE);
		if (next->is_list)
			next = next->last;
		if (next->kind != MLA_TOML_TABLE || next->is_closed)
			return twice(r, &r->keys.v[i]);
		t = next;
	}
	r->current = get(r, t, name->key);
	if (list) {
		if (!r->current) {
			r->current = put(r, t, name, MLA_TOML_ARRAY);
			r->current->is_list = true;
		} else if (!r->current->is_list) {
			return twice(r, name);
		}
		r->current = append(r, r->current, MLA_TOML_TABLE, name->at);
	} else if (!r->current) {
		r->current = put(r, t, name, MLA_TOML_TABLE);
	} else if (r->current->kind != MLA_TOML_TABLE || r->current->is_closed ||
	           r->current->has_header || r->current->dotted) {
		return twice(r, name);
	}
	r->current->has_header = true;
	return 0;
}

static int read_value(mla_toml *to, reader *r, int depth);

/* key = value at the cursor, into `table`. */
static int read_pair(reader *r, mla_toml *table, int depth)
{
	mla_toml *t;
	int error = 0;

	ts_tree_cursor_goto_first_child(&r->cursor);
	if ((error = read_key(r)) < 0)
		return error;
	for (uint32_t i = 0; i + 1 < r->keys.n; i++) {
		t = get(r, table, r->keys.v[i].key);
		if (!t) {
			t = put(r, table, &r->keys.v[i], MLA_TOML_TABLE);
			t->dotted = r->header;
		} else if (t->kind != MLA_TOML_TABLE || t->is_closed || t->has_header ||
		           (t->dotted && t->dotted != r->header)) {
			return twice(r, &r->keys.v[i]);
		} else {
			t->dotted = r->header;
		}
		table = t;
	}
	if (get(r, table, r->keys.v[r->keys.n - 1].key))
		return twice(r, &r->keys.v[r->keys.n - 1]);
	t = put(r, table, &r->keys.v[r->keys.n - 1], MLA_TOML_TABLE);
	depth += (int)r->keys.n - 1;
	while (ts_tree_cursor_goto_next_sibling(&r->cursor))
		if (ts_node_is_named(ts_tree_cursor_current_node(&r->cursor)))
			error = read_value(t, r, depth);
	ts_tree_cursor_goto_parent(&r->cursor);
	return error;
}

static int read_members(mla_toml *to, reader *r, int depth)
{
	int error = 0;

	if (!ts_tree_cursor_goto_first_child(&r->cursor))
		return 0;
	do {
		if (!ts_node_is_named(ts_tree_cursor_current_node(&r->cursor)))
			continue;
		if (to->kind == MLA_TOML_TABLE)
			error = read_pair(r, to, depth);
		else
			error = read_value(append(r, to, MLA_TOML_TABLE, span(r).start), r, depth);
	} while (error == 0 && ts_tree_cursor_goto_next_sibling(&r->cursor));
	ts_tree_cursor_goto_parent(&r->cursor);
	return error;
}

static int read_value(mla_toml *to, reader *r, int depth)
{
	mla_str text = mla_text_slice(r->text, span(r));
	int error = 0;

	if (depth > MLA_TOML_DEPTH_MAX)
		return mla_toml_error(r->text, span(r).start, "nested more than %d deep",
		                      MLA_TOML_DEPTH_MAX);
	if (is(r, "array") || is(r, "inline_table")) {
		to->kind = is(r, "array") ? MLA_TOML_ARRAY : MLA_TOML_TABLE;
		error = read_members(to, r, depth + 1);
		/* Nothing can be added to what is written in one piece. */
		to->is_closed = true;
		return error;
	}
	if (is(r, "string")) {
		to->kind = MLA_TOML_STRING;
		return mla_toml_string(&to->string, r->arena, r->text, span(r));
	}
	if (is(r, "integer")) {
		to->kind = MLA_TOML_INTEGER;
		return mla_toml_integer(&to->integer, r->text, span(r));
	}
	if (is(r, "boolean")) {
		to->kind = MLA_TOML_BOOL;
		to->integer = text.ptr[0] == 't';
	} else {
		to->kind = is(r, "float") ? MLA_TOML_FLOAT : MLA_TOML_DATE;
	}
	return 0;
}

/* Where the parser found no way to read on. */
static int syntax_error(reader *r)
{
	for (;;) {
		TSNode n = ts_tree_cursor_current_node(&r->cursor);

		if (ts_node_is_missing(n))
			return mla_toml_error(r->text, ts_node_start_byte(n),
			                      "not TOML: %s missing", ts_node_type(n));
		if (ts_node_symbol(n) == (TSSymbol)-1)
			return mla_toml_error(r->text, ts_node_start_byte(n), "not TOML");
		if (ts_node_has_error(n) && ts_tree_cursor_goto_first_child(&r->cursor))
			continue;
		while (!ts_tree_cursor_goto_next_sibling(&r->cursor))
			if (!ts_tree_cursor_goto_parent(&r->cursor))
				return mla_toml_error(r->text, 0, "not TOML");
	}
}

static int read_document(reader *r)
{
	bool inside = false;
	int error = 0;

	r->root = r->current = mla_arena_alloc(r->arena, sizeof(*r->root));
	r->header = 1;
	grow(r);
	if (!ts_tree_cursor_goto_first_child(&r->cursor))
		return 0;
	while (error == 0) {
		bool list = is(r, "table_array_element");

		if (is(r, "pair")) {
			error = read_pair(r, r->current, 0);
		} else if (list || is(r, "table")) {
			ts_tree_cursor_goto_first_child(&r->cursor);
			ts_tree_cursor_goto_next_sibling(&r->cursor); /* past the bracket */
			inside = true;
			if ((error = read_key(r)) == 0)
				error = open_table(r, list);
		}
		while (error == 0 && !ts_tree_cursor_goto_next_sibling(&r->cursor)) {
			if (!inside)
				return 0;
			ts_tree_cursor_goto_parent(&r->cursor);
			inside = false;
		}
	}
	return error;
}

/* One error refuses the file: a megabyte is read within one second. */
enum { SECONDS = 2 };

int mla_toml_parse(mla_toml **out, mla_arena *arena, const mla_text *text)
{
	reader r = {.arena = arena, .text = text};
	TSParser *parser = mla_tree_parser(tree_sitter_toml());
	TSTree *tree = NULL;
	char *masked;
	int error = mla_toml_mask(&masked, arena, text);

	if (error < 0)
		goto done;
	if (!parser) {
		error = mla_error(MLA_EPARSE,
		                  "the TOML grammar has ABI %u, which tree-sitter "
		                  "does not read",
		                  mla_toml_grammar_abi());
		goto done;
	}
	tree = mla_tree_parse(parser, (mla_str){masked, mla_text_bytes(text).len}, SECONDS);
	if (!tree) {
		error = mla_toml_error(text, 0, "not TOML, or too long to read in %d seconds",
		                       SECONDS);
		goto done;
	}
	r.cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	error = ts_node_has_error(ts_tree_root_node(tree)) ? syntax_error(&r) : read_document(&r);
	ts_tree_cursor_delete(&r.cursor);
	*out = r.root;
done:
	free(r.slots);
	mla_vec_free(&r.keys);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
	return error;
}

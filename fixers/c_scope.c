/*
 * Names in scope at a C test and what they stand for: locals and parameters first, constants and
 * variables of the file next, then members of structs that those lead to.
 */
#include "fixers/c_scope.h"

#include "analyzer/c_info.h"
#include "analyzer/c_names.h"
#include "analyzer/c_source.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

enum { SIZES = MLA_C_RANK | MLA_C_NOPE | MLA_C_VDIM | MLA_C_ROPE | MLA_C_HEAD_K };

/* An integer that can be named at the test. */
typedef struct {
	mla_str text;
	uint32_t tags;
} integer;

/* A struct whose members can be named there. */
typedef struct {
	mla_str prefix; /* "hp->", "ctx->cfg.", "" in a method */
	mla_str name;   /* of the variable or member that it is */
	const mla_record *record;
	uint32_t depth;
} object;

typedef struct {
	mla_arena *arena;
	const mla_test *test;
	mla_str body; /* text of the function */
	MLA_VEC(mla_str) seen;
	MLA_VEC(integer) near; /* locals and parameters */
	MLA_VEC(integer) file;
	MLA_VEC(object) objects;
} scope;

static bool is_same(const mla_node *n, const mla_node *declaration)
{
	return n && n->kind == MLA_N_NAME && n->c && declaration->c && n->c->id &&
	       n->c->id == declaration->c->id;
}

/* Is the variable written to, or its address taken, anywhere in the function? */
static bool is_changed(const mla_node *function, const mla_node *declaration)
{
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		bool writes = n->kind == MLA_N_ASSIGN || n->kind == MLA_N_AUG_ASSIGN ||
		              (n->kind == MLA_N_UNARY &&
		               (n->op == MLA_OP_INCREMENT || n->op == MLA_OP_ADDRESS));

		if (writes && is_same(mla_c_without_casts(mla_kid(n, 0)), declaration))
			return true;
	}
	return false;
}

static bool is_new(scope *s, mla_str name)
{
	for (uint32_t i = 0; i < s->seen.n; i++)
		if (mla_str_eq(s->seen.v[i], name))
			return false;
	mla_vec_push(&s->seen, name);
	return true;
}

static uint32_t tags_of(const scope *s, const mla_node *n)
{
	uint32_t a, b;

	n = mla_c_without_casts(n);
	if (!n)
		return 0;
	if (n->kind == MLA_N_ATTRIBUTE)
		return mla_name_integer(n->name);
	if (n->kind == MLA_N_NAME) {
		for (uint32_t i = 0; i < s->near.n; i++)
			if (mla_str_eq(s->near.v[i].text, n->name))
				return s->near.v[i].tags;
		return mla_name_integer(n->name);
	}
	if (n->kind != MLA_N_BINARY || n->op != MLA_OP_SUB)
		return 0;
	n = mla_kid(n, 0) && mla_kid(n, 1) ? n : NULL;
	if (!n || mla_c_without_casts(n->kid[0])->kind == MLA_N_BINARY ||
	    mla_c_without_casts(n->kid[1])->kind == MLA_N_BINARY)
		return 0;
	a = tags_of(s, n->kid[0]);
	b = tags_of(s, n->kid[1]);
	return (a & MLA_C_HEAD_K) && (b & MLA_C_ROPE) ? MLA_C_NOPE : 0;
}

static void add_object(scope *s, mla_str name, const mla_c_info *info)
{
	object o = {.name = name, .record = info->record, .depth = 1};

	if (!info->record || info->array)
		return;
	o.prefix = mla_arena_format(s->arena, "%.*s%s", MLA_ARG(name), info->pointer ? "->" : ".");
	mla_vec_push(&s->objects, o);
}

/* A local or parameter. One that is written to later may not have its last value at the test. */
static void add_variable(scope *s, const mla_node *n)
{
	const mla_node *function = s->test->function, *value = mla_c_without_casts(mla_kid(n, 0));
	bool local = n->kind == MLA_N_DECLARE;
	integer found = {n->name, mla_name_integer(n->name)};

	if (!n->name.len || !n->c || !is_new(s, n->name))
		return;
	if (is_changed(function, n) || (local && !value))
		return;
	add_object(s, n->name, n->c);
	if (!n->c->integer)
		return;
	if (local && (value->kind == MLA_N_NAME || value->kind == MLA_N_ATTRIBUTE)) {
		uint32_t tags = tags_of(s, value);

		found.tags = tags ? tags : found.tags;
	} else if (local && value->kind == MLA_N_BINARY) {
		uint32_t tags = tags_of(s, value);

		found.tags = tags ? tags : found.tags & MLA_C_LENGTH;
	}
	mla_vec_push(&s->near, found);
}

static void add_declarations(scope *s, const mla_node *n)
{
	if (!n)
		return;
	if (n->kind == MLA_N_DECLARE)
		add_variable(s, n);
	for (uint32_t i = 0; n->kind == MLA_N_SEQUENCE && i < n->n; i++)
		if (n->kid[i] && n->kid[i]->kind == MLA_N_DECLARE)
			add_variable(s, n->kid[i]);
}

static void add_locals(scope *s)
{
	const mla_node *function = s->test->function, *list = mla_kid(function, 0);
	MLA_VEC(const mla_node *) blocks = {0};

	for (const mla_node *n = s->test->node; n && n != function; n = n->parent)
		if (n->parent &&
		    (n->parent->kind == MLA_N_BLOCK || n->parent->kind == MLA_N_SEQUENCE))
			mla_vec_push(&blocks, n);
	for (uint32_t i = 0; list && i < list->n; i++)
		if (list->kid[i])
			add_variable(s, list->kid[i]);
	/* From the outermost in: an initial value names what was declared before it. */
	for (uint32_t i = blocks.n; i-- > 0;)
		for (uint32_t k = 0; k < blocks.v[i]->index; k++)
			add_declarations(s, blocks.v[i]->parent->kid[k]);
	mla_vec_free(&blocks);
}

static void add_file_integer(scope *s, mla_str name)
{
	if (is_new(s, name))
		mla_vec_push(&s->file, ((integer){name, mla_name_integer(name)}));
}

/* Instance variables, and members of a class template, whose type has no fields to ask for. */
static void add_members_of_tree(scope *s, mla_str class)
{
	const mla_node *root = s->test->module->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION)) {
		const mla_node *block = n->parent, *owner = block ? block->parent : NULL;

		if (n->kind != MLA_N_DECLARE || mla_decl_of(n) != MLA_DECL_FIELD || !owner ||
		    owner->kind != MLA_N_CLASS || !mla_str_eq(owner->name, class) ||
		    !is_new(s, n->name))
			continue;
		add_object(s, n->name, n->c);
		if (n->c->integer)
			mla_vec_push(&s->file, ((integer){n->name, mla_name_integer(n->name)}));
	}
}

static void add_members(scope *s)
{
	const mla_node *function = s->test->function;
	const mla_record *r = function->c ? function->c->record : NULL;
	const mla_node *class = mla_node_class(function);

	if (r && r->n)
		mla_vec_push(&s->objects,
		             ((object){.prefix = {"", 0}, .name = {"", 0}, .record = r}));
	else if (class && class->name.len)
		add_members_of_tree(s, class->name);
}

/* Variables and enumerators of the file before the function, and those of headers that it uses. */
static void add_file_scope(scope *s)
{
	const mla_node *root = s->test->module->syntax.root, *function = s->test->function;

	for (const mla_node *n = root; n && n->span.start < function->span.start;
	     n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION)) {
		mla_decl d = mla_decl_of(n);

		if (n->kind != MLA_N_DECLARE || !n->name.len)
			continue;
		if (d == MLA_DECL_GLOBAL && n->c->record && is_new(s, n->name))
			add_object(s, n->name, n->c);
		else if (d == MLA_DECL_CONSTANT || (d == MLA_DECL_GLOBAL && n->c->integer))
			add_file_integer(s, n->name);
	}
	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		mla_decl d = mla_decl_of(n);

		if (n->kind != MLA_N_NAME)
			continue;
		if (d == MLA_DECL_GLOBAL && n->c->record && is_new(s, n->name))
			add_object(s, n->name, n->c);
		else if (d == MLA_DECL_CONSTANT || (d == MLA_DECL_GLOBAL && n->c->integer))
			add_file_integer(s, n->name);
	}
}

/* `#define KV_LORA_RANK 512` above the function. */
static void add_macros(scope *s)
{
	const mla_tokens *t = &s->test->module->c->tokens;
	const mla_text *text = s->test->module->text;

	for (uint32_t i = 0; i + 2 < t->n && t->v[i].span.start < s->test->function->span.start;
	     i++) {
		mla_span name = t->v[i + 1].span;

		if (!t->v[i].directive || !t->v[i + 1].directive || !t->v[i + 2].directive ||
		    !mla_str_is(mla_text_slice(text, t->v[i].span), "define") ||
		    t->v[i + 1].kind != MLA_TOKEN_NAME || t->v[i + 2].kind != MLA_TOKEN_NUMBER)
			continue;
		if (i + 3 < t->n && t->v[i + 3].directive &&
		    mla_text_line(text, t->v[i + 3].span.start) == mla_text_line(text, name.start))
			continue;
		add_file_integer(s, mla_text_slice(text, name));
	}
}

static void expand_objects(scope *s)
{
	enum { DEPTH = 3, OBJECTS = 256 };

	for (uint32_t i = 0; i < s->objects.n && s->objects.n < OBJECTS; i++) {
		object o = s->objects.v[i];

		for (uint32_t k = 0; o.depth < DEPTH && k < o.record->n; k++) {
			const mla_field *f = &o.record->field[k];

			if (f->record && f->name.len)
				mla_vec_push(&s->objects,
				             ((object){mla_arena_format(s->arena, "%.*s%.*s%s",
				                                        MLA_ARG(o.prefix),
				                                        MLA_ARG(f->name),
				                                        f->pointer ? "->" : "."),
				                       f->name, f->record, o.depth + 1}));
		}
	}
}

static void scope_open(scope *s, mla_arena *arena, const mla_test *t)
{
	*s = (scope){.arena = arena, .test = t};
	s->body = mla_text_slice(t->module->text, t->function->span);
	add_locals(s);
	add_members(s);
	add_file_scope(s);
	add_macros(s);
	expand_objects(s);
}

static void scope_close(scope *s)
{
	mla_vec_free(&s->seen);
	mla_vec_free(&s->near);
	mla_vec_free(&s->file);
	mla_vec_free(&s->objects);
}

static bool is_among(const integer *v, uint32_t n, uint32_t tag, mla_str *out)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].tags & tag) {
			*out = v[i].text;
			return true;
		}
	return false;
}

/* Which of a record's integers has the tag: of several the one whose name has the fewest parts. */
static bool member_of(mla_str *out, const mla_record *r, uint32_t tag)
{
	uint32_t best = MLA_WORDS_MAX + 1;

	for (uint32_t i = 0; i < r->n; i++) {
		mla_name_words w;

		if (!r->field[i].integer || !(mla_name_integer(r->field[i].name) & tag))
			continue;
		mla_name_split(&w, r->field[i].name);
		if (w.n < best) {
			best = w.n;
			*out = r->field[i].name;
		}
	}
	return best <= MLA_WORDS_MAX;
}

static mla_str member(scope *s, const object *o, mla_str name)
{
	return mla_arena_format(s->arena, "%.*s%.*s", MLA_ARG(o->prefix), MLA_ARG(name));
}

static bool sizes_of_object(mla_c_sizes *out, scope *s, const object *o)
{
	mla_str r, n, v, k, p;

	if (!member_of(&r, o->record, MLA_C_RANK) || !member_of(&v, o->record, MLA_C_VDIM))
		return false;
	out->record = o->record;
	out->size[0] = member(s, o, r);
	out->size[2] = member(s, o, v);
	if (member_of(&n, o->record, MLA_C_NOPE)) {
		out->size[1] = member(s, o, n);
		return true;
	}
	if (!member_of(&k, o->record, MLA_C_HEAD_K) || !member_of(&p, o->record, MLA_C_ROPE))
		return false;
	out->size[1] = mla_arena_format(s->arena, "%.*s - %.*s", MLA_ARG(member(s, o, k)),
	                                MLA_ARG(member(s, o, p)));
	return true;
}

static bool sizes_of_integers(mla_c_sizes *out, scope *s, const integer *v, uint32_t n)
{
	mla_str k, p;

	if (!is_among(v, n, MLA_C_RANK, &out->size[0]) ||
	    !is_among(v, n, MLA_C_VDIM, &out->size[2]))
		return false;
	out->record = NULL;
	if (is_among(v, n, MLA_C_NOPE, &out->size[1]))
		return true;
	if (!is_among(v, n, MLA_C_HEAD_K, &k) || !is_among(v, n, MLA_C_ROPE, &p))
		return false;
	out->size[1] = mla_arena_format(s->arena, "%.*s - %.*s", MLA_ARG(k), MLA_ARG(p));
	return true;
}

static bool contains(mla_str text, mla_str part)
{
	for (uint32_t i = 0; part.len && i + part.len <= text.len; i++)
		if (memcmp(text.ptr + i, part.ptr, part.len) == 0)
			return true;
	return false;
}

/* How far to look for an object: those the function itself names come first. */
static uint32_t distance(const scope *s, const object *o)
{
	return o->depth + (o->prefix.len && !contains(s->body, o->prefix) ? 8 : 0);
}

static bool sizes_of_objects(mla_c_sizes *out, const char **why, scope *s)
{
	const object *best = NULL;
	bool twice = false;

	for (uint32_t i = 0; i < s->objects.n; i++) {
		const object *o = &s->objects.v[i];

		if (!sizes_of_object(out, s, o) || (best && distance(s, o) > distance(s, best)))
			continue;
		twice = best && distance(s, o) == distance(s, best);
		best = o;
	}
	if (twice)
		*why = "the sizes of several layers are in scope at the test";
	return best && !twice && sizes_of_object(out, s, best);
}

bool mla_c_scope_sizes(mla_c_sizes *out, const char **why, mla_arena *arena, const mla_test *t)
{
	scope s;
	bool found;

	*why = "rank, nope and value sizes are not all in scope at the test";
	if (!t->function)
		return false;
	scope_open(&s, arena, t);
	found = sizes_of_integers(out, &s, s.near.v, s.near.n) || sizes_of_objects(out, why, &s) ||
	        sizes_of_integers(out, &s, s.file.v, s.file.n);
	scope_close(&s);
	return found;
}

typedef enum { NO_LENGTH, PAST, TOTAL } length_kind;

/* Rows in the cache with this step's, or those before it. */
static length_kind length_of(mla_str name)
{
	static const char *const total[] = {"kv",    "nkv",   "t",      "tk",    "total",
	                                    "kvlen", "cache", "cached", "cells", NULL};
	static const char *const past[] = {"past", "pos", NULL};
	static const char *const other[] = {
		"max",  "ctx",  "head", "heads", "lora",  "layer",  "dim",   "gqa",      "layers",
		"size", "embd", "rot",  "type",  "cap",   "stride", "bytes", "capacity", "id",
		"step", "il",   "mode", "bits",  "group", "groups", "quant", NULL};
	mla_name_words w;

	mla_name_split(&w, name);
	if (!w.n || mla_name_has_any(&w, other) || (mla_name_integer(name) & SIZES))
		return NO_LENGTH;
	if (mla_name_has_any(&w, past))
		return PAST;
	return mla_name_has_any(&w, total) ? TOTAL : NO_LENGTH;
}

static bool member_length(const object *o, const mla_field *f)
{
	static const char *const counts[] = {"n", "len", "length", "count", "used", NULL};
	mla_name_words w;

	if (!f->integer)
		return false;
	if (length_of(f->name) == TOTAL)
		return true;
	mla_name_split(&w, f->name);
	return w.n == 1 && mla_name_has_any(&w, counts) && length_of(o->name) == TOTAL;
}

/* Can this expression of the function, made of names and members, be written at the test too? */
static bool can_write(const scope *s, const mla_node *n)
{
	for (; n && n->kind == MLA_N_ATTRIBUTE; n = mla_kid(n, 0))
		if (!mla_kid(n, 0))
			return true; /* a member of the method's own object */
	if (!n || n->kind != MLA_N_NAME)
		return false;
	for (uint32_t i = 0; i < s->near.n; i++)
		if (mla_str_eq(s->near.v[i].text, n->name))
			return true;
	for (uint32_t i = 0; i < s->objects.n; i++)
		if (s->objects.v[i].depth == 1 && mla_str_eq(s->objects.v[i].name, n->name))
			return true;
	return false;
}

/* `total - count`: what the count of this step is taken from holds its rows. */
static bool length_by_use(mla_str *out, const scope *s)
{
	const mla_node *function = s->test->function, *count = mla_c_without_casts(s->test->count);

	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		const mla_node *total = n->kind == MLA_N_BINARY && n->op == MLA_OP_SUB
		                                ? mla_c_without_casts(mla_kid(n, 0))
		                                : NULL;

		if (!total || !total->c || !total->c->integer || !count ||
		    !is_same(mla_c_without_casts(mla_kid(n, 1)), count) || !can_write(s, total))
			continue;
		*out = mla_node_text(s->test->module->text, total);
		return true;
	}
	return false;
}

static bool length_by_name(mla_str *out, scope *s)
{
	mla_str count = mla_node_text(s->test->module->text, s->test->count);

	for (uint32_t i = 0; i < s->near.n; i++)
		if (length_of(s->near.v[i].text) == TOTAL) {
			*out = s->near.v[i].text;
			return true;
		}
	for (uint32_t i = 0; i < s->near.n; i++)
		if (length_of(s->near.v[i].text) == PAST) {
			*out = mla_arena_format(s->arena, "%.*s + %.*s", MLA_ARG(s->near.v[i].text),
			                        MLA_ARG(count));
			return true;
		}
	for (uint32_t i = 0; i < s->objects.n; i++)
		for (uint32_t k = 0; k < s->objects.v[i].record->n; k++)
			if (member_length(&s->objects.v[i], &s->objects.v[i].record->field[k])) {
				*out = member(s, &s->objects.v[i],
				              s->objects.v[i].record->field[k].name);
				return true;
			}
	for (uint32_t i = 0; i < s->file.n; i++)
		if (length_of(s->file.v[i].text) == TOTAL) {
			*out = s->file.v[i].text;
			return true;
		}
	return false;
}

bool mla_c_scope_length(mla_str *out, mla_arena *arena, const mla_test *t)
{
	scope s;
	bool found;

	if (!t->function || !t->count)
		return false;
	scope_open(&s, arena, t);
	found = length_by_use(out, &s) || length_by_name(out, &s);
	scope_close(&s);
	return found;
}

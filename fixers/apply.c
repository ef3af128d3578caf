/* The overlap policy, and putting edits into text. */
#include "fixers/apply.h"

#include "analyzer/c_source.h"
#include "analyzer/str.h"

#include <stdlib.h>

static bool same_edit(const mla_edit *a, const mla_edit *b)
{
	return a->span.start == b->span.start && a->span.end == b->span.end &&
	       mla_str_eq(a->text, b->text);
}

/* Two insertions at one place do not overlap; they are made in the order they came. */
static bool overlap(mla_span a, mla_span b)
{
	if (a.start == a.end && b.start == b.end)
		return false;
	if (a.start == a.end)
		return b.start < a.start && a.start < b.end;
	if (b.start == b.end)
		return a.start < b.start && b.start < a.end;
	return a.start < b.end && b.start < a.end;
}

/* Two definitions or imports of one name, by fixes that put it at different places? */
static bool bind_twice(const mla_edit *a, const mla_edit *b)
{
	return a->binds.len && mla_str_eq(a->binds, b->binds);
}

static const mla_file_edits *edits_of(const mla_edits *e, const mla_module *m)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->file[i].module == m)
			return &e->file[i];
	return NULL;
}

static bool conflicts(const mla_edits *have, const mla_edits *more)
{
	for (uint32_t i = 0; i < more->n; i++) {
		const mla_file_edits *old = edits_of(have, more->file[i].module);

		for (uint32_t k = 0; old && k < more->file[i].n; k++)
			for (uint32_t j = 0; j < old->n; j++)
				if (!same_edit(&old->v[j], &more->file[i].v[k]) &&
				    (overlap(old->v[j].span, more->file[i].v[k].span) ||
				     bind_twice(&old->v[j], &more->file[i].v[k])))
					return true;
	}
	return false;
}

static mla_str new_text(mla_arena *arena, const mla_file_edits *f)
{
	mla_str old = mla_text_bytes(f->module->text);
	size_t size = old.len;
	uint32_t at = 0, len = 0;
	char *out;

	for (uint32_t i = 0; i < f->n; i++)
		size += f->v[i].text.len;
	out = mla_arena_alloc(arena, size + 1);
	for (uint32_t i = 0; i <= f->n; i++) {
		uint32_t end = i < f->n ? f->v[i].span.start : old.len;

		if (end > at)
			memcpy(out + len, old.ptr + at, end - at);
		len += end - at;
		if (i == f->n)
			break;
		if (f->v[i].text.len)
			memcpy(out + len, f->v[i].text.ptr, f->v[i].text.len);
		len += f->v[i].text.len;
		at = f->v[i].span.end;
	}
	return (mla_str){out, len};
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const mla_change *)a)->module->path, ((const mla_change *)b)->module->path);
}

void mla_apply(mla_changes *out, bool *applied, mla_arena *arena, const mla_fix *const *fix,
               uint32_t n)
{
	mla_edits all = {.arena = arena};

	for (uint32_t i = 0; i < n; i++) {
		applied[i] = fix[i]->edits.n && !conflicts(&all, &fix[i]->edits);
		for (uint32_t k = 0; applied[i] && k < fix[i]->edits.n; k++) {
			const mla_file_edits *f = &fix[i]->edits.file[k];

			for (uint32_t j = 0; j < f->n; j++)
				mla_edits_bind(&all, f->module, f->v[j].span, f->v[j].text,
				               f->v[j].binds);
		}
	}
	mla_edits_finish(&all); /* cannot fail: conflicts() has seen to it */
	out->v = mla_arena_array(arena, all.n, sizeof(*out->v));
	out->n = all.n;
	for (uint32_t i = 0; i < all.n; i++)
		out->v[i] = (mla_change){all.file[i].module, new_text(arena, &all.file[i])};
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_path);
}

int mla_change_check(const mla_change *c, mla_python *python)
{
	mla_arena *arena = mla_arena_new();
	mla_syntax syntax;
	mla_text *text;
	mla_module *c_module = NULL;
	int error = mla_text_new(&text, c->module->path, c->after);

	if (error == 0) {
		if (c->module->c) {
			error = mla_c_module_parse(&c_module, c->module->c->arguments, text);
			if (c_module)
				syntax = c_module->syntax;
		} else {
			error = mla_python_parse(&syntax, python, text, arena);
		}
		if (error == 0 && syntax.error_count > c->module->syntax.error_count)
			error = mla_error(MLA_EBUG,
			                  "%s: the fix would break the syntax; nothing "
			                  "was written",
			                  c->module->path);
		if (c_module)
			mla_module_free(c_module); /* and the text */
		else
			mla_text_free(text);
	}
	mla_arena_free(arena);
	return error;
}

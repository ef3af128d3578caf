/* The fingerprint of a finding. Reads modules; does no input. */
#include "cli/fingerprint.h"

#include "analyzer/str.h"
#include "cli/json.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>

/* Baselines are JSON: what is compared is what they can hold. */
static mla_str utf8(mla_arena *arena, mla_str s)
{
	json_t *v = mla_json_text(s);

	s = mla_arena_dup(arena, (mla_str){json_string_value(v), (uint32_t)json_string_length(v)});
	json_decref(v);
	return s;
}

static mla_str symbol_of(mla_arena *arena, const mla_finding *f)
{
	const mla_node *n = mla_node_at(f->module->syntax.root, f->span);
	uint32_t len = 0;
	char *s;

	for (const mla_node *p = n; p; p = p->parent)
		if (p->kind == MLA_N_FUNCTION || p->kind == MLA_N_CLASS)
			len += p->name.len + (len != 0);
	if (!len)
		return (mla_str){"", 0};
	s = mla_arena_alloc(arena, (size_t)len + 1);
	for (uint32_t at = len; n; n = n->parent) {
		if (n->kind != MLA_N_FUNCTION && n->kind != MLA_N_CLASS)
			continue;
		if (at < len)
			s[--at] = '.';
		at -= n->name.len;
		if (n->name.len)
			memcpy(s + at, n->name.ptr, n->name.len);
	}
	return utf8(arena, (mla_str){s, len});
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (c & 0x80);
}

/* The offset behind the string literal that starts at `at`. */
static uint32_t skip_string(mla_str s, uint32_t at)
{
	char quote = s.ptr[at++];

	while (at < s.len && s.ptr[at] != quote)
		at += s.ptr[at] == '\\' ? 2 : 1;
	return at < s.len ? at + 1 : s.len;
}

/*
 * A formatter changes blanks, line breaks and comments; the tokens stay. `with_comments` is for a
 * finding that is a comment.
 */
static mla_str guard_of(mla_arena *arena, const mla_finding *f, bool with_comments)
{
	const mla_syntax *x = &f->module->syntax;
	mla_str s = mla_text_slice(f->module->text, f->span);
	char *out = mla_arena_alloc(arena, 2 * (size_t)s.len + 1);
	uint32_t n = 0, comment = mla_syntax_comment(x, f->span.start);
	bool apart = false;

	for (uint32_t i = 0; i < s.len;) {
		uint32_t end = i + 1, at = f->span.start + i;

		while (comment < x->comment_count && x->comments[comment].end <= at)
			comment++;
		if (!with_comments && comment < x->comment_count &&
		    x->comments[comment].start <= at) {
			i = x->comments[comment].end - f->span.start;
			apart = true;
			continue;
		}
		if (strchr(" \t\r\n\f\\", s.ptr[i])) {
			apart = true;
			i++;
			continue;
		}
		if (!with_comments && (s.ptr[i] == '"' || s.ptr[i] == '\''))
			end = skip_string(s, i);
		if (apart && n && (with_comments || (is_word(out[n - 1]) && is_word(s.ptr[i]))))
			out[n++] = ' ';
		memcpy(out + n, s.ptr + i, end - i);
		n += end - i;
		i = end;
		apart = false;
	}
	return n || with_comments ? utf8(arena, (mla_str){out, n}) : guard_of(arena, f, true);
}

static int cmp_content(const mla_fingerprint *a, const mla_fingerprint *b)
{
	int c = mla_str_cmp(a->path, b->path);

	if (!c)
		c = mla_str_cmp(a->code, b->code);
	if (!c)
		c = mla_str_cmp(a->symbol, b->symbol);
	return c ? c : mla_str_cmp(a->guard, b->guard);
}

int mla_fingerprint_cmp(const void *pa, const void *pb)
{
	const mla_fingerprint *a = pa, *b = pb;
	int c = cmp_content(a, b);

	return c ? c : (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
}

/* Pointers into one array: equal ones keep their order. */
static int by_content(const void *pa, const void *pb)
{
	const mla_fingerprint *a = *(const mla_fingerprint *const *)pa;
	const mla_fingerprint *b = *(const mla_fingerprint *const *)pb;
	int c = cmp_content(a, b);

	return c ? c : (a > b) - (a < b);
}

mla_fingerprint *mla_fingerprints(mla_arena *arena, const mla_finding *const *finding, uint32_t n)
{
	mla_fingerprint *f = mla_arena_array(arena, n, sizeof(*f));
	mla_fingerprint **order = mla_arena_array(arena, n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		f[i].path = utf8(arena, mla_str_c(finding[i]->module->path));
		f[i].code = mla_str_c(finding[i]->rule->code);
		f[i].symbol = symbol_of(arena, finding[i]);
		f[i].guard = guard_of(arena, finding[i], false);
		order[i] = &f[i];
	}
	if (n)
		qsort(order, n, sizeof(*order), by_content);
	for (uint32_t i = 0; i < n; i++)
		order[i]->occurrence = i && cmp_content(order[i - 1], order[i]) == 0
		                               ? order[i - 1]->occurrence + 1
		                               : 1;
	return f;
}

void mla_fingerprint_digest(char out[MLA_DIGEST_SIZE], const mla_fingerprint *f)
{
	const mla_str part[] = {f->path, f->code, f->symbol, f->guard};
	char number[16];
	size_t size = (size_t)snprintf(number, sizeof(number), "%u", f->occurrence), at = 0;
	char *text;
	git_oid id;

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		size += (size_t)part[i].len + 1; /* no part holds a NUL */
	text = mla_alloc(size + 1);
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
		memcpy(text + at, part[i].ptr, part[i].len);
		at += (size_t)part[i].len + 1;
	}
	memcpy(text + at, number, strlen(number));
	git_odb_hash(&id, text, size, GIT_OBJECT_BLOB); /* fails for no memory only */
	git_oid_tostr(out, MLA_DIGEST_SIZE, &id);
	free(text);
}

/* Tokens, arguments and tree of one source brought together. */
#include "analyzer/c_source.h"

#include "analyzer/str.h"

/* Clang gives up at 256, and what it has read until then would look like the whole. */
enum { BRACKETS_MAX = 256 };

/* A header that looks like C may belong to C++: it is what it has fewer errors in. */
static void try_as_cxx(mla_clang_tree *tree, const mla_text *text, const mla_tokens *tokens,
                       const char *path, mla_argument_list list, mla_arena *arena)
{
	const char **v = mla_arena_array(arena, list.n, sizeof(*v));
	mla_clang_tree other;

	if (!tree->error_count || !mla_str_ends(mla_str_c(path), ".h") ||
	    strcmp(list.v[1], "c") != 0)
		return;
	memcpy(v, list.v, list.n * sizeof(*v));
	v[1] = "c++";
	v[2] = "-std=c++17";
	if (mla_clang_parse(&other, text, tokens, path, v, list.n) < 0)
		return;
	if (other.error_count < tree->error_count) {
		mla_clang_tree worse = *tree;

		*tree = other;
		other = worse;
	}
	mla_clang_free(&other);
}

/* Without a build, the folders of headers are those in which there is one of the name. A header may
 * include others. What does not make it better is not taken. */
static void find_headers(mla_clang_tree *tree, mla_argument_list *list, mla_c_arguments *arguments,
                         const mla_text *text, const mla_tokens *tokens, mla_arena *arena)
{
	enum { ROUNDS = 4 };
	const char *path = mla_text_path(text);
	const char *absolute = mla_c_arguments_absolute(arguments, arena, path);
	mla_argument_list more = *list;

	for (int i = 0; i < ROUNDS && mla_c_arguments_find(&more, arguments, arena, path,
	                                                   tree->missing, tree->missing_count);
	     i++) {
		mla_clang_tree other;

		if (mla_clang_parse(&other, text, tokens, absolute, more.v, more.n) < 0)
			return;
		if (other.error_count > tree->error_count) {
			mla_clang_free(&other);
			return;
		}
		mla_clang_free(tree);
		*tree = other;
		*list = more;
	}
}

int mla_c_module_parse(mla_module **out, mla_c_arguments *arguments, mla_text *text)
{
	mla_module *m = mla_alloc(sizeof(*m));
	mla_argument_list list;
	mla_str bytes = mla_text_bytes(text);
	const char *path;
	int error;

	m->path = mla_text_path(text);
	m->arena = mla_arena_new();
	m->c = mla_arena_alloc(m->arena, sizeof(*m->c));
	mla_tokens_read(&m->c->tokens, m->arena, bytes);
	if (m->c->tokens.depth > BRACKETS_MAX) {
		error = mla_error(MLA_ELIMIT, "brackets nest more than %d deep", BRACKETS_MAX);
		goto done;
	}
	mla_c_arguments_for(&list, arguments, m->arena, m->path, bytes, &m->c->tokens);
	path = mla_c_arguments_absolute(arguments, m->arena, m->path);
	error = mla_clang_parse(&m->c->tree, text, &m->c->tokens, path, list.v, list.n);
	if (error < 0)
		goto done;
	find_headers(&m->c->tree, &list, arguments, text, &m->c->tokens, m->arena);
	try_as_cxx(&m->c->tree, text, &m->c->tokens, path, list, m->arena);
	m->c->arguments = arguments;
	m->text = text;
	m->syntax = (mla_syntax){.root = m->c->tree.root,
	                         .comments = m->c->tokens.comment,
	                         .comment_count = m->c->tokens.comment_count,
	                         .error_count = m->c->tree.error_count};
	*out = m;
	m = NULL;
done:
	mla_module_free(m);
	return error;
}

bool mla_c_is_inactive(const mla_module *m, mla_span s)
{
	for (uint32_t i = 0; i < m->c->tree.inactive_count; i++)
		if (s.start >= m->c->tree.inactive[i].start && s.end <= m->c->tree.inactive[i].end)
			return true;
	return false;
}

/* Is `#include ".../name of header"` in the file? All there is where no header was found. */
static bool names_header(const mla_module *m, const mla_module *header)
{
	const char *slash = strrchr(header->path, '/');
	mla_str base = mla_str_c(slash ? slash + 1 : header->path);
	const mla_tokens *t = &m->c->tokens;

	for (uint32_t i = 0; i < t->n; i++) {
		mla_str s = mla_text_slice(m->text, t->v[i].span);

		if (!t->v[i].directive || t->v[i].kind != MLA_TOKEN_STRING || s.len < base.len + 2)
			continue;
		s = (mla_str){s.ptr + 1, s.len - 2};
		if (s.len >= base.len &&
		    memcmp(s.ptr + s.len - base.len, base.ptr, base.len) == 0 &&
		    (s.len == base.len || s.ptr[s.len - base.len - 1] == '/'))
			return true;
	}
	return false;
}

bool mla_c_sees(const mla_module *m, const mla_module *other)
{
	for (uint32_t i = 0; i < m->c->tree.include_count; i++)
		if (mla_str_is(m->c->tree.include[i], other->path))
			return true;
	return m != other && m->c->tree.missing_count && names_header(m, other);
}

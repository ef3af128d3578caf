/* Tokens, arguments and tree of one source brought together. */
#include "analyzer/c_source.h"

/* Clang gives up at 256, and what it has read until then would look like the whole. */
enum { BRACKETS_MAX = 256 };

int mla_c_module_parse(mla_module **out, mla_c_arguments *arguments, mla_text *text)
{
	mla_module *m = mla_alloc(sizeof(*m));
	mla_argument_list list;
	mla_str bytes = mla_text_bytes(text);
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
	error = mla_clang_parse(&m->c->tree, text, &m->c->tokens,
	                        mla_c_arguments_absolute(arguments, m->arena, m->path), list.v,
	                        list.n);
	if (error < 0)
		goto done;
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

/* TOML on standard input as JSON on standard output, for the comparison with Python's reader.
 * Values whose content the reader does not keep are the name of their kind. */
#include "analyzer/str.h"
#include "analyzer/toml.h"
#include "cli/json.h"

#include <stdio.h>

static json_t *value(const mla_toml *t, mla_arena *arena) /* as deep as MLA_TOML_DEPTH_MAX, twice */
{
	json_t *o;

	switch (t->kind) {
	case MLA_TOML_STRING:
		return mla_json_text(t->string);
	case MLA_TOML_INTEGER:
		return json_integer(t->integer);
	case MLA_TOML_BOOL:
		return json_boolean(t->integer);
	case MLA_TOML_TABLE:
		o = json_object();
		for (const mla_toml *c = t->first; c; c = c->next)
			json_object_set_new_nocheck(o, mla_arena_dup(arena, c->key).ptr,
			                            value(c, arena));
		return o;
	case MLA_TOML_ARRAY:
		o = json_array();
		for (const mla_toml *c = t->first; c; c = c->next)
			json_array_append_new(o, value(c, arena));
		return o;
	default:
		return json_pack("{s:s}", "kind", mla_toml_kind_name(t->kind));
	}
}

int main(void)
{
	static char bytes[MLA_TEXT_MAX];
	size_t n = fread(bytes, 1, sizeof(bytes), stdin);
	mla_arena *arena = mla_arena_new();
	mla_toml *root = NULL;
	mla_text *text = NULL;
	int error = mla_text_new(&text, "stdin", (mla_str){bytes, (uint32_t)n});
	json_t *o;

	if (error == 0)
		error = mla_toml_parse(&root, arena, text);
	if (error < 0) {
		fprintf(stderr, "%s\n", mla_error_last());
	} else {
		o = value(root, arena);
		json_dumpf(o, stdout, JSON_COMPACT);
		json_decref(o);
	}
	mla_text_free(text);
	mla_arena_free(arena);
	return error < 0;
}

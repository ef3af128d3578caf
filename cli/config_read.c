/* From TOML to settings. Every mistake is an error with its line: a key that is not understood
 * would be a setting that silently does nothing. */
#include "cli/config.h"

#include "analyzer/str.h"
#include "analyzer/toml.h"
#include "cli/suggest.h"

#include <stdarg.h>
#include <stdio.h>

typedef enum { CODES, PATTERNS, PATH_CODES, BOOL, FORM, GEOMETRY, SEVERITY, PATH } key_kind;

const char *const mla_key_names[] = {
#define MLA_KEY(id, name, kind, help) name,
#include "cli/config.def"
#undef MLA_KEY
	NULL};

static const key_kind kinds[] = {
#define MLA_KEY(id, name, kind, help) kind,
#include "cli/config.def"
#undef MLA_KEY
};

typedef struct {
	mla_arena *arena;
	mla_text *text;
	const char *key; /* of ours, that is read */
} reader;

static int mistake(const reader *r, const mla_toml *at, const char *fmt, ...) MLA_PRINTF(3, 4);

static int mistake(const reader *r, const mla_toml *at, const char *fmt, ...)
{
	char reason[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return mla_error(MLA_ECONFIG, "%s:%u: %s%s%s", mla_text_path(r->text),
	                 mla_text_line(r->text, at->at), r->key ? r->key : "", r->key ? ": " : "",
	                 reason);
}

/* The message of a function that the command line uses too, with the place in front. */
static int mistake_of(const reader *r, const mla_toml *at)
{
	const char *why = mla_error_last();
	const char *name = strncmp(why, "--", 2) == 0 ? strstr(why, ": ") : NULL;

	return mistake(r, at, "%s", name ? name + 2 : why);
}

static int wrong_kind(const reader *r, const mla_toml *t, const char *want)
{
	return mistake(r, t, "%s is needed, this is %s", want, mla_toml_kind_name(t->kind));
}

static int text_of(const char **out, const reader *r, const mla_toml *t)
{
	if (t->kind != MLA_TOML_STRING)
		return wrong_kind(r, t, "a string");
	if (memchr(t->string.ptr, '\0', t->string.len))
		return mistake(r, t, "a string with a NUL character");
	*out = mla_arena_dup(r->arena, t->string).ptr;
	return 0;
}

static uint32_t count(const mla_toml *t)
{
	uint32_t n = 0;

	for (const mla_toml *c = t->first; c; c = c->next)
		n++;
	return n;
}

static int take_strings(mla_strs *out, const reader *r, const mla_toml *t)
{
	mla_str *v;
	uint32_t n = 0;

	if (t->kind != MLA_TOML_ARRAY)
		return wrong_kind(r, t, "an array of strings");
	v = mla_arena_array(r->arena, count(t), sizeof(*v));
	for (const mla_toml *c = t->first; c; c = c->next) {
		const char *s;

		if (text_of(&s, r, c) < 0)
			return MLA_ECONFIG;
		v[n++] = mla_str_c(s);
	}
	*out = (mla_strs){v, n};
	return 0;
}

static int take_codes(mla_strs *out, const reader *r, const mla_toml *t)
{
	const mla_toml *c = t->first;

	if (take_strings(out, r, t) < 0)
		return MLA_ECONFIG;
	for (uint32_t i = 0; i < out->n; i++, c = c->next)
		if (mla_codes_check("--", &(mla_strs){out->v + i, 1}) < 0)
			return mistake_of(r, c);
	return 0;
}

/* "./a/" is "a". */
static int take_pattern(mla_str *out, const reader *r, const mla_toml *at, mla_str s)
{
	if (mla_str_starts(s, "./")) {
		s.ptr += 2;
		s.len -= 2;
	}
	if (s.len > 1 && s.ptr[s.len - 1] == '/')
		s.len--;
	*out = s;
	return mla_pattern_check("--", s) < 0 ? mistake_of(r, at) : 0;
}

static int take_patterns(mla_strs *out, const reader *r, const mla_toml *t)
{
	const mla_toml *c = t->first;

	if (take_strings(out, r, t) < 0)
		return MLA_ECONFIG;
	for (uint32_t i = 0; i < out->n; i++, c = c->next)
		if (take_pattern((mla_str *)&out->v[i], r, c, out->v[i]) < 0)
			return MLA_ECONFIG;
	return 0;
}

static int take_geometry(mla_for_path *out, const reader *r, const mla_toml *t)
{
	if (text_of(&out->text, r, t) < 0)
		return MLA_ECONFIG;
	return mla_options_geometry(&out->geometry, NULL, out->text) < 0 ? mistake_of(r, t) : 0;
}

/* A table whose keys are patterns. */
static int take_paths(const mla_for_path **out, uint32_t *n, const reader *r, const mla_toml *t,
                      key_kind kind)
{
	mla_for_path *v;
	int error = 0;

	*n = 0;
	if (t->kind != MLA_TOML_TABLE)
		return wrong_kind(r, t, "a table from patterns");
	*out = v = mla_arena_array(r->arena, count(t), sizeof(*v));
	for (const mla_toml *c = t->first; c && error == 0; c = c->next) {
		mla_for_path *p = &v[(*n)++];
		mla_str pattern = mla_arena_dup(r->arena, c->key);

		if (kind == PATH_CODES && mla_str_starts(pattern, "!")) {
			p->others = true;
			pattern.ptr++;
			pattern.len--;
		}
		error = take_pattern(&p->pattern, r, c, pattern);
		if (error == 0)
			error = kind == PATH_CODES ? take_codes(&p->codes, r, c)
			                           : take_geometry(p, r, c);
	}
	return error;
}

/* One geometry for all files, or a table. */
static int take_geometries(mla_config *out, const reader *r, const mla_toml *t)
{
	mla_for_path *p;

	if (t->kind == MLA_TOML_TABLE)
		return take_paths(&out->geometry, &out->geometry_count, r, t, GEOMETRY);
	if (t->kind != MLA_TOML_STRING)
		return wrong_kind(r, t, "a string or a table from patterns");
	p = mla_arena_alloc(r->arena, sizeof(*p));
	out->geometry = p;
	out->geometry_count = 1;
	return take_geometry(p, r, t); /* an empty pattern: every file */
}

static int take_severities(mla_config *out, const reader *r, const mla_toml *t)
{
	static const mla_severity all[] = {MLA_NOTE, MLA_WARNING, MLA_ERROR};
	mla_for_code *v;

	if (t->kind != MLA_TOML_TABLE)
		return wrong_kind(r, t, "a table from rules to severities");
	out->severity = v = mla_arena_array(r->arena, count(t), sizeof(*v));
	for (const mla_toml *c = t->first; c; c = c->next) {
		mla_for_code *s = &v[out->severity_count++];
		const char *name;
		bool known = false;

		s->code = mla_arena_dup(r->arena, c->key);
		if (mla_codes_check("--", &(mla_strs){&s->code, 1}) < 0)
			return mistake_of(r, c);
		if (text_of(&name, r, c) < 0)
			return MLA_ECONFIG;
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			if (strcmp(name, mla_severity_name(all[i])) == 0) {
				s->severity = all[i];
				known = true;
			}
		if (!known)
			return mistake(r, c, "'%s' is not one of error, warning, note", name);
	}
	return 0;
}

static int take(mla_config *out, const reader *r, mla_key key, const mla_toml *t)
{
	mla_strs *list = key == MLA_KEY_select    ? &out->select
	                 : key == MLA_KEY_ignore  ? &out->ignore
	                 : key == MLA_KEY_exclude ? &out->exclude
	                                          : &out->extend_select;
	const char *word;

	switch (kinds[key]) {
	case CODES:
		return take_codes(list, r, t);
	case PATTERNS:
		return take_patterns(list, r, t);
	case PATH_CODES:
		return take_paths(&out->per_file_ignores, &out->per_file_ignore_count, r, t,
		                  PATH_CODES);
	case BOOL:
		if (t->kind != MLA_TOML_BOOL)
			return wrong_kind(r, t, "true or false");
		out->force_exclude = t->integer != 0;
		return 0;
	case FORM:
		if (text_of(&word, r, t) < 0)
			return MLA_ECONFIG;
		return mla_options_form(&out->form, word) < 0 ? mistake_of(r, t) : 0;
	case GEOMETRY:
		return take_geometries(out, r, t);
	case SEVERITY:
		return take_severities(out, r, t);
	case PATH:
		if (text_of(&out->baseline, r, t) < 0)
			return MLA_ECONFIG;
		if (!*out->baseline)
			out->baseline = NULL; /* as config --dump prints it */
		return 0;
	}
	return MLA_EBUG;
}

static int unknown(const reader *r, const mla_toml *t)
{
	char word[64], close[64];
	mla_suggestion s = {.word = word};

	snprintf(word, sizeof(word), "%.*s", MLA_ARG(t->key));
	for (int i = 0; mla_key_names[i]; i++)
		mla_suggest(&s, mla_key_names[i]);
	mla_suggestion_text(close, sizeof(close), &s);
	if (mla_str_is(t->key, "tool") && t->kind == MLA_TOML_TABLE)
		return mistake(r, t,
		               "unknown key 'tool'; outside of pyproject.toml the keys stand "
		               "at the top, without [tool.mlalint]");
	return mistake(r, t, "unknown key '%.*s'%s", MLA_ARG(t->key),
	               *close ? close : "; mlalint config --dump lists the keys");
}

static int take_all(mla_config *out, reader *r, const mla_toml *table)
{
	for (const mla_toml *t = table->first; t; t = t->next) {
		int key = 0;

		r->key = NULL;
		while (key < MLA_KEY_COUNT && !mla_str_is(t->key, mla_key_names[key]))
			key++;
		if (key == MLA_KEY_COUNT)
			return unknown(r, t);
		r->key = mla_key_names[key];
		out->line[key] = mla_text_line(r->text, t->at);
		if (take(out, r, (mla_key)key, t) < 0)
			return MLA_ECONFIG;
	}
	return 0;
}

/* Can a pyproject.toml hold our table? One that is broken and does not is not ours to judge. The
 * name may be written with escapes. */
static bool mentions_us(mla_str text)
{
	return mla_str_contains(text, "mlalint") || mla_str_contains(text, "\\u00") ||
	       mla_str_contains(text, "\\U00");
}

enum { CONFIG_MAX = 1 << 20 };

int mla_config_read(mla_config *out, bool *found, mla_arena *arena, const char *path, mla_str text)
{
	const char *slash = strrchr(path, '/');
	bool project = strcmp(slash ? slash + 1 : path, "pyproject.toml") == 0;
	const mla_toml *table;
	mla_toml *root = NULL;
	reader r = {.arena = arena};
	int error;

	*found = false;
	if (project && !mentions_us(text))
		return 0;
	if (text.len > CONFIG_MAX)
		return mla_error(MLA_ECONFIG, "%s: larger than %d MB", path, CONFIG_MAX >> 20);
	if (mla_text_new(&r.text, path, text) < 0)
		return mla_error(MLA_ECONFIG, "%s: %s", path, mla_error_last());
	if ((error = mla_toml_parse(&root, arena, r.text)) < 0)
		goto done;
	table = project ? mla_toml_get(mla_toml_get(root, "tool"), "mlalint") : root;
	if (!table)
		goto done;
	*found = true;
	error = table->kind == MLA_TOML_TABLE ? take_all(out, &r, table)
	                                      : wrong_kind(&r, table, "[tool.mlalint] as a table");
done:
	mla_text_free(r.text);
	return error;
}

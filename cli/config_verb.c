/* The config verb: what is in force and where it comes from, and whether the files are right. */
#include "analyzer/str.h"
#include "cli/config.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <limits.h>

/* A TOML string that reads as `s` again. */
static void put_string(mla_str s)
{
	putchar('"');
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c == 0x7F)
			printf("\\u%04X", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_list(const mla_strs *list)
{
	putchar('[');
	for (uint32_t i = 0; i < list->n; i++) {
		if (i)
			fputs(", ", stdout);
		put_string(list->v[i]);
	}
	putchar(']');
}

static void put_paths(const mla_for_path *v, uint32_t n)
{
	if (n == 1 && v->text && !v->pattern.len) {
		put_string(mla_str_c(v->text));
		return;
	}
	putchar('{');
	for (uint32_t i = 0; i < n; i++) {
		char pattern[PATH_MAX];

		snprintf(pattern, sizeof(pattern), "%s%.*s", v[i].others ? "!" : "",
		         MLA_ARG(v[i].pattern));
		fputs(i ? ", " : " ", stdout);
		put_string(mla_str_c(pattern));
		fputs(" = ", stdout);
		if (v[i].text)
			put_string(mla_str_c(v[i].text));
		else
			put_list(&v[i].codes);
	}
	fputs(n ? " }" : "}", stdout);
}

static void put_severities(const mla_config *f)
{
	putchar('{');
	for (uint32_t i = 0; i < f->severity_count; i++) {
		fputs(i ? ", " : " ", stdout);
		put_string(f->severity[i].code);
		fputs(" = ", stdout);
		put_string(mla_str_c(mla_severity_name(f->severity[i].severity)));
	}
	fputs(f->severity_count ? " }" : "}", stdout);
}

static const char *form_name(mla_form form)
{
	return form == MLA_FORM_CACHE_LENGTH ? "cache-length" : "geometry";
}

/* The value that a file gives, or the default. */
static void put_value(const mla_config *f, mla_key key)
{
	switch (key) {
	case MLA_KEY_select:
		put_list(&f->select);
		break;
	case MLA_KEY_ignore:
		put_list(&f->ignore);
		break;
	case MLA_KEY_extend_select:
		put_list(&f->extend_select);
		break;
	case MLA_KEY_exclude:
		put_list(&f->exclude);
		break;
	case MLA_KEY_per_file_ignores:
		put_paths(f->per_file_ignores, f->per_file_ignore_count);
		break;
	case MLA_KEY_force_exclude:
		fputs(f->force_exclude ? "true" : "false", stdout);
		break;
	case MLA_KEY_threshold:
		put_string(mla_str_c(form_name(f->form)));
		break;
	case MLA_KEY_geometry:
		put_paths(f->geometry, f->geometry_count);
		break;
	case MLA_KEY_severity:
		put_severities(f);
		break;
	case MLA_KEY_baseline:
		put_string(mla_str_c(f->baseline ? f->baseline : ""));
		break;
	case MLA_KEY_COUNT:
		break;
	}
}

static void put_origin(const mla_config *f, mla_key key)
{
	fputs("  # ", stdout);
	if (f->line[key]) {
		mla_put_clean(stdout, mla_str_c(f->path));
		printf(":%u\n", f->line[key]);
	} else {
		puts("default");
	}
}

/* Every key as a line of TOML, so that the output is a configuration itself. Rules come out of
 * several keys, so the outcome is listed too. */
static void dump(const mla_config *f, const mla_file_settings *s, const char *path)
{
	fputs("# for ", stdout);
	mla_put_clean(stdout, mla_str_c(path));
	fputs("\n# from ", stdout);
	mla_put_clean(stdout, mla_str_c(f->path ? f->path : "no file"));
	fputs("\n", stdout);
	for (int key = 0; key < MLA_KEY_COUNT; key++) {
		if (key == MLA_KEY_select && !f->line[key]) {
			puts("# select: default, every rule that runs without being selected");
			continue;
		}
		printf("%s = ", mla_key_names[key]);
		put_value(f, (mla_key)key);
		put_origin(f, (mla_key)key);
	}
	puts("\n# rules for this path:");
	for (uint32_t i = 0; mla_rules[i]; i++)
		printf("#   %s %s%s%s\n", mla_rules[i]->code, s->on[i] ? "" : "off",
		       s->on[i] ? mla_severity_name(s->severity[i]) : "",
		       s->severity[i] != mla_rules[i]->severity && s->on[i] ? " (severity)" : "");
}

/* The tree and the path in it that a path of the disk is for the configurations. */
static int place(mla_tree *tree, char *path, size_t size, const char *given)
{
	static char root[] = "/";
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(given, real) || stat(real, &st) < 0)
		return mla_error(MLA_EIO, "%s: no such file or folder", given);
	*tree = (mla_tree){.folder = root};
	snprintf(path, size, "%s%s", real + 1, S_ISDIR(st.st_mode) ? real[1] ? "/." : "." : "");
	return 0;
}

static int dump_path(mla_configs *c, const char *given)
{
	const mla_file_settings *s;
	const mla_config *f;
	char path[PATH_MAX + 8];
	mla_tree tree;
	int error = place(&tree, path, sizeof(path), given);

	if (error == 0)
		error = mla_configs_find(&f, c, &tree, path);
	if (error == 0)
		error = mla_configs_file(&s, c, &tree, path);
	if (error == 0)
		dump(f, s, given);
	return error;
}

/* Every configuration that holds for a file at or below the paths. */
static int check_paths(mla_configs *c, const mla_options *o)
{
	mla_fileset files = {0};
	MLA_VEC(const mla_config *) seen = {0};
	int error = mla_fileset_collect(&files, o, NULL);

	for (uint32_t i = 0; i < files.trees.n && error == 0; i++)
		for (uint32_t k = 0; k < files.trees.v[i].files.n && error == 0; k++) {
			const mla_config *f;
			bool new = true;

			error = mla_configs_find(&f, c, &files.trees.v[i],
			                         files.trees.v[i].files.v[k].path);
			for (uint32_t n = 0; n < seen.n && error == 0; n++)
				new &= seen.v[n] != f;
			if (error == 0 && new && f->path) {
				mla_vec_push(&seen, f);
				printf("%s: ok\n", f->path);
			}
		}
	if (error == 0 && !seen.n)
		puts("no configuration holds for these paths");
	mla_vec_free(&seen);
	mla_fileset_free(&files);
	return error;
}

/* Paths, or configurations themselves. */
static int check(mla_configs *c, const mla_options *o)
{
	uint32_t files = 0;
	int error = 0;

	while (files < o->arg_count && mla_str_ends(mla_str_c(o->args[files]), ".toml"))
		files++;
	for (uint32_t i = 0; i < files && error == 0; i++) {
		const mla_config *f;

		error = mla_configs_read(&f, c, o->args[i]);
		if (error == 0)
			printf("%s: ok\n", f->path);
	}
	if (error == 0 && (files < o->arg_count || !o->arg_count)) {
		mla_options rest = *o;

		rest.args += files;
		rest.arg_count -= files;
		error = check_paths(c, &rest);
	}
	return error;
}

int mla_verb_config(const mla_options *o)
{
	mla_configs *c = NULL;
	int error;

	if (o->dump == o->check || (o->dump && o->arg_count > 1)) {
		mla_error(MLA_ECONFIG, "config takes --dump and at most one path, or --check");
		return mla_fail();
	}
	error = mla_configs_new(&c, o);
	if (error == 0)
		error = o->dump ? dump_path(c, o->arg_count ? o->args[0] : ".") : check(c, o);
	mla_configs_free(c);
	return error < 0 ? mla_fail() : mla_stdout_close(MLA_EXIT_CLEAN);
}

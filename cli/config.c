/* Which configuration holds for which file, and what it comes to there. */
#include "cli/config.h"

#include "analyzer/str.h"
#include "cli/git_tree.h"
#include "cli/glob.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* A folder of a tree that has been asked for. */
typedef struct {
	const char *tree, *folder;
	const mla_config *config;
} known;

struct mla_configs {
	mla_arena *arena;
	const mla_options *options;
	mla_strs select, ignore, extend_select, exclude; /* of the command line */
	const mla_config *fixed;                         /* of --config and --isolated */
	MLA_VEC(known) known;
	char cwd[PATH_MAX];
};

static int read_disk(mla_bytes *out, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;

	out->len = 0;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG
		               ? 1
		               : mla_error(MLA_EIO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		error = 1;
	else if (st.st_size > MLA_TEXT_MAX)
		error = mla_error(MLA_ECONFIG, "%s: larger than %d MB", path, MLA_TEXT_MAX >> 20);
	else if (mla_bytes_read(out, fd, (size_t)st.st_size) < 0)
		error = mla_error(MLA_EIO, "%s: %s", path, mla_error_last());
	close(fd);
	return error;
}

static int read_revision(mla_bytes *out, const mla_tree *tree, const char *path)
{
	int error = mla_git_tree_blob(out, tree->git, path);

	return error < 0 ? mla_error(MLA_ECONFIG, "%s: %s", path, mla_error_last()) : error;
}

/* The working directory in front of a name below it is left away. */
static const char *shown(mla_configs *c, const char *absolute)
{
	char cwd[PATH_MAX];
	size_t n;

	if (getcwd(cwd, sizeof(cwd)) && (n = strlen(cwd)) && strncmp(absolute, cwd, n) == 0 &&
	    absolute[n] == '/')
		absolute += n + 1;
	return mla_arena_dup(c->arena, mla_str_c(absolute)).ptr;
}

/* *out stays NULL when there is none in the folder itself. `inner` is the folder inside of a
 * revision. */
static int look_in(const mla_config **out, mla_configs *c, const mla_tree *tree, const char *folder,
                   const char *inner)
{
	static const char *const names[] = {".mlalint.toml", "mlalint.toml", "pyproject.toml"};
	mla_bytes bytes = {0};
	int error = 0;

	*out = NULL;
	for (int i = 0; i < 3 && !*out && error >= 0; i++) {
		mla_config *config = mla_arena_alloc(c->arena, sizeof(*config));
		const char *name = mla_arena_format(c->arena, "%s/%s",
		                                    strcmp(folder, "/") ? folder : "", names[i])
		                           .ptr;
		bool found = false;

		config->base = mla_arena_dup(c->arena, mla_str_c(folder)).ptr;
		config->path = shown(c, name);
		if (tree->git)
			config->path = mla_arena_format(c->arena, "%s%s%s", inner,
			                                *inner ? "/" : "", names[i])
			                       .ptr;
		error = tree->git ? read_revision(&bytes, tree, config->path)
		                  : read_disk(&bytes, name);
		if (error == 0)
			error = mla_config_read(config, &found, c->arena, config->path,
			                        (mla_str){bytes.ptr, (uint32_t)bytes.len});
		if (found)
			*out = config;
	}
	free(bytes.ptr);
	return error < 0 ? error : 0;
}

static const mla_config *known_folder(const mla_configs *c, const mla_tree *tree,
                                      const char *folder)
{
	for (uint32_t i = c->known.n; i-- > 0;)
		if (strcmp(c->known.v[i].folder, folder) == 0 &&
		    strcmp(c->known.v[i].tree, tree->folder) == 0)
			return c->known.v[i].config;
	return NULL;
}

static void cut(char *folder)
{
	char *slash = strrchr(folder, '/');

	slash[slash == folder] = '\0';
}

/* The closest one at or above a folder; in a revision not above its root. */
static int find_above(const mla_config **out, mla_configs *c, const mla_tree *tree, char *folder)
{
	size_t root = strlen(tree->folder), start = strlen(folder);
	const char *first = mla_arena_dup(c->arena, mla_str_c(folder)).ptr;
	int error = 0;

	while (error == 0) {
		const char *inner = strlen(folder) > root ? folder + root + (root > 1) : "";

		if ((*out = known_folder(c, tree, folder)))
			break;
		error = look_in(out, c, tree, folder, inner);
		if (*out || error < 0 || strcmp(folder, "/") == 0 ||
		    (tree->git && strlen(folder) <= root))
			break;
		cut(folder);
	}
	if (error == 0 && !*out) {
		mla_config *none = mla_arena_alloc(c->arena, sizeof(*none));

		none->base = "/";
		*out = none;
	}
	/* Every folder on the way now has an answer. */
	for (size_t end = strlen(folder); error == 0 && start >= end; start--) {
		if (first[start] != '/' && first[start] != '\0')
			continue;
		mla_vec_push(
			&c->known,
			((known){tree->folder,
		                 mla_arena_dup(c->arena, (mla_str){first, (uint32_t)start}).ptr,
		                 *out}));
		if (start == 0)
			break;
	}
	return error;
}

int mla_configs_find(const mla_config **out, mla_configs *c, const mla_tree *tree, const char *path)
{
	char folder[2 * PATH_MAX];

	if ((*out = c->fixed))
		return 0;
	snprintf(folder, sizeof(folder), "%s/%s", strcmp(tree->folder, "/") ? tree->folder : "",
	         path);
	cut(folder);
	return find_above(out, c, tree, folder);
}

int mla_configs_read(const mla_config **out, mla_configs *c, const char *path)
{
	char cwd[PATH_MAX];
	mla_bytes bytes = {0};
	mla_config *f = mla_arena_alloc(c->arena, sizeof(*f));
	bool found = false;
	int error = read_disk(&bytes, path);

	f->path = path;
	if (error > 0)
		error = mla_error(MLA_ECONFIG, "%s: no such file", path);
	if (error == 0 && !getcwd(cwd, sizeof(cwd)))
		error = mla_error(MLA_EIO, "working directory: %s", strerror(errno));
	if (error == 0) {
		/* A configuration for many places has patterns for the place where it is used. */
		f->base = mla_arena_dup(c->arena, mla_str_c(cwd)).ptr;
		error = mla_config_read(f, &found, c->arena, path,
		                        (mla_str){bytes.ptr, (uint32_t)bytes.len});
	}
	if (error == 0 && !found)
		error = mla_error(MLA_ECONFIG, "%s has no [tool.mlalint]", path);
	free(bytes.ptr);
	*out = f;
	return error;
}

static int take_line(mla_strs *out, mla_configs *c, const char *what, const char *list, bool codes)
{
	if (!list)
		return 0;
	if (mla_strs_split(out, c->arena, what, list) < 0)
		return MLA_ECONFIG;
	if (codes)
		return mla_codes_check(what, out);
	for (uint32_t i = 0; i < out->n; i++)
		if (mla_pattern_check(what, out->v[i]) < 0)
			return MLA_ECONFIG;
	return 0;
}

int mla_configs_new(mla_configs **out, const mla_options *o)
{
	mla_configs *c = mla_alloc(sizeof(*c));
	int error;

	c->arena = mla_arena_new();
	c->options = o;
	*out = c;
	if (!getcwd(c->cwd, sizeof(c->cwd)))
		return mla_error(MLA_EIO, "working directory: %s", strerror(errno));
	error = take_line(&c->select, c, "--select", o->select, true);
	if (error == 0)
		error = take_line(&c->ignore, c, "--ignore", o->ignore, true);
	if (error == 0)
		error = take_line(&c->extend_select, c, "--extend-select", o->extend_select, true);
	if (error == 0)
		error = take_line(&c->exclude, c, "--exclude", o->exclude, false);
	if (error == 0 && o->config)
		error = mla_configs_read(&c->fixed, c, o->config);
	if (error == 0 && o->isolated) {
		mla_config *none = mla_arena_alloc(c->arena, sizeof(*none));

		none->base = "/";
		c->fixed = none;
	}
	return error;
}

void mla_configs_free(mla_configs *c)
{
	if (!c)
		return;
	mla_vec_free(&c->known);
	mla_arena_free(c->arena);
	free(c);
}

/* A pattern without a slash is for the last name of a path too. */
static bool matches(mla_str pattern, const char *base, const char *absolute)
{
	size_t n = strlen(base);
	const char *name = strrchr(absolute, '/') + 1;

	if (!pattern.len)
		return true;
	if (pattern.ptr[0] == '/')
		return mla_glob(pattern, mla_str_c(absolute), false);
	if (!memchr(pattern.ptr, '/', pattern.len) && mla_glob(pattern, mla_str_c(name), false))
		return true;
	if (n == 1)
		return mla_glob(pattern, mla_str_c(absolute + 1), false);
	return strncmp(absolute, base, n) == 0 && absolute[n] == '/' &&
	       mla_glob(pattern, mla_str_c(absolute + n + 1), false);
}

/* Is the rule on, before the ignores of single files? Of two layers the later one decides. */
static bool is_on(const mla_configs *c, const mla_config *f, const mla_rule *rule)
{
	bool on = f->line[MLA_KEY_select] ? mla_codes_mean(&f->select, rule) : !rule->opt_in;

	on = (on || mla_codes_mean(&f->extend_select, rule)) && !mla_codes_mean(&f->ignore, rule);
	if (c->options->select)
		on = mla_codes_mean(&c->select, rule);
	return (on || mla_codes_mean(&c->extend_select, rule)) && !mla_codes_mean(&c->ignore, rule);
}

/* The longest entry that means the rule: a code goes before its prefix. */
static mla_severity severity_of(const mla_config *f, const mla_rule *rule)
{
	mla_severity severity = rule->severity;
	uint32_t length = 0;

	for (uint32_t i = 0; i < f->severity_count; i++) {
		mla_str code = f->severity[i].code;
		uint32_t n = mla_str_is(code, "ALL") ? 1 : code.len + 1;

		if (mla_code_means(code, rule) && n > length) {
			severity = f->severity[i].severity;
			length = n;
		}
	}
	return severity;
}

int mla_configs_file(const mla_file_settings **out, mla_configs *c, const mla_tree *tree,
                     const char *path)
{
	const mla_config *f;
	char absolute[2 * PATH_MAX];
	mla_file_settings *s;
	int error = mla_configs_find(&f, c, tree, path);

	if (error < 0)
		return error;
	s = mla_arena_alloc(c->arena, sizeof(*s));
	snprintf(absolute, sizeof(absolute), "%s/%s", strcmp(tree->folder, "/") ? tree->folder : "",
	         path);
	for (uint32_t i = 0; mla_rules[i]; i++) {
		s->on[i] = is_on(c, f, mla_rules[i]);
		s->severity[i] = severity_of(f, mla_rules[i]);
		for (uint32_t k = 0; k < f->per_file_ignore_count && s->on[i]; k++) {
			const mla_for_path *p = &f->per_file_ignores[k];

			if (mla_codes_mean(&p->codes, mla_rules[i]) &&
			    matches(p->pattern, f->base, absolute) != p->others)
				s->on[i] = false;
		}
	}
	s->form = c->options->has_form ? c->options->form : f->form;
	for (uint32_t i = 0; mla_rules[i]; i++)
		if (s->on[i] && mla_rules[i]->cached_form)
			s->form = MLA_FORM_CACHE_LENGTH;
	if (c->options->has_geometry)
		s->geometry = &c->options->geometry;
	for (uint32_t k = 0; k < f->geometry_count && !s->geometry && !c->options->model_config;
	     k++)
		if (matches(f->geometry[k].pattern, f->base, absolute))
			s->geometry = &f->geometry[k].geometry;
	*out = s;
	return 0;
}

mla_severity mla_settings_severity(const mla_file_settings *s, const mla_rule *rule)
{
	for (uint32_t i = 0; mla_rules[i]; i++)
		if (mla_rules[i] == rule)
			return s->severity[i];
	return rule->severity;
}

static bool any_matches(const mla_strs *patterns, const char *base, const char *absolute)
{
	for (uint32_t i = 0; i < patterns->n; i++)
		if (matches(patterns->v[i], base, absolute))
			return true;
	return false;
}

/* Was the path, or something in it, named on the command line? */
static bool is_named(const mla_options *o, const char *absolute)
{
	size_t n = strlen(absolute);
	char real[PATH_MAX];

	if (!o->arg_count)
		return realpath(".", real) && strncmp(real, absolute, n) == 0 &&
		       (!real[n] || real[n] == '/');
	for (uint32_t i = 0; i < o->arg_count; i++)
		if (realpath(o->args[i], real) && strncmp(real, absolute, n) == 0 &&
		    (!real[n] || real[n] == '/'))
			return true;
	return false;
}

/* One part of the way to a file: is it excluded by the configuration that holds there? *by says
 * which; NULL: the command line. `named`: the file at the end of the way is. */
static int part_excluded(bool *out, const char **by, mla_configs *c, const mla_tree *tree,
                         const char *absolute, bool named)
{
	size_t root = strlen(tree->folder);
	const mla_options *o = c->options;
	const mla_config *f;
	int error = mla_configs_find(&f, c, tree, absolute + root + (root > 1));

	if (error < 0)
		return error;
	*by = o->exclude ? NULL : f->path;
	*out = any_matches(o->exclude ? &c->exclude : &f->exclude, o->exclude ? c->cwd : f->base,
	                   absolute);
	if (*out && !o->force_exclude && !f->force_exclude)
		*out = !named && !is_named(o, absolute);
	return 0;
}

int mla_configs_leave_out(bool *out, mla_configs *c, mla_tree *tree, const char *folder)
{
	char absolute[2 * PATH_MAX];
	const char *by = NULL;
	int error;

	snprintf(absolute, sizeof(absolute), "%s/%s", strcmp(tree->folder, "/") ? tree->folder : "",
	         folder);
	error = part_excluded(out, &by, c, tree, absolute, false);
	if (error == 0 && *out)
		mla_vec_push(&tree->left_out, by ? by : "--exclude");
	return error;
}

/* The last folder that was found not to be excluded: most files share it with the one before. */
typedef struct {
	char passed[2 * PATH_MAX];
} exclusion;

/* Is the file, or a folder it is in, excluded? */
static int is_excluded(bool *out, const char **by, mla_configs *c, exclusion *e,
                       const mla_tree *tree, const mla_file *file)
{
	char absolute[2 * PATH_MAX], *end, *name;
	size_t root = strlen(tree->folder);

	*out = false;
	snprintf(absolute, sizeof(absolute), "%s/%s", root > 1 ? tree->folder : "", file->path);
	name = strrchr(absolute, '/');
	end = absolute + (root > 1 ? root : 0);
	if (!file->named && strlen(e->passed) == (size_t)(name - absolute) &&
	    strncmp(e->passed, absolute, strlen(e->passed)) == 0)
		end = name;
	while (end && !*out) {
		int error;

		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		error = part_excluded(out, by, c, tree, absolute, file->named);
		if (error < 0)
			return error;
		if (end)
			*end = '/';
	}
	if (!*out && !file->named)
		snprintf(e->passed, sizeof(e->passed), "%.*s", (int)(name - absolute), absolute);
	return 0;
}

static void note(mla_fileset *files, uint32_t n, const char *what, const char *by)
{
	if (n)
		mla_fileset_note(files, "%u %s%s excluded by %s", n, what, n == 1 ? "" : "s",
		                 by ? by : "--exclude");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Folders that were not entered, by what excludes them. */
static void note_folders(mla_fileset *files, mla_tree *t)
{
	if (t->left_out.n)
		qsort(t->left_out.v, t->left_out.n, sizeof(*t->left_out.v), by_name);
	for (uint32_t i = 0, end; i < t->left_out.n; i = end) {
		for (end = i; end < t->left_out.n; end++)
			if (strcmp(t->left_out.v[end], t->left_out.v[i]) != 0)
				break;
		note(files, end - i, "folder", t->left_out.v[i]);
	}
}

/* Drops the excluded files of a tree; after an error the rest stays as it is. */
static int exclude(mla_configs *c, exclusion *e, mla_fileset *files, mla_tree *t)
{
	const char *last = NULL;
	uint32_t n = 0, left_out = 0;
	int error = 0;

	for (uint32_t k = 0; k < t->files.n; k++) {
		const char *by = NULL;
		bool out = false;

		if (error == 0)
			error = is_excluded(&out, &by, c, e, t, &t->files.v[k]);
		if (!out) {
			t->files.v[n++] = t->files.v[k];
			continue;
		}
		if (by != last) {
			note(files, left_out, "file", last);
			left_out = 0;
		}
		last = by;
		left_out++;
		mla_text_free(t->files.v[k].text);
		free(t->files.v[k].path);
	}
	note(files, left_out, "file", last);
	note_folders(files, t);
	t->files.n = n;
	return error;
}

int mla_configs_exclude(mla_configs *c, mla_fileset *files)
{
	exclusion e = {.passed = "?"}; /* no absolute path */
	int error = 0;

	for (uint32_t i = 0; i < files->trees.n && error == 0; i++)
		error = exclude(c, &e, files, &files->trees.v[i]);
	return error;
}

/* Comparing the findings of a scan with those of --diff-base and of --baseline. Prints nothing. */
#include "cli/known.h"

#include "analyzer/str.h"
#include "cli/baseline.h"
#include "cli/git_base.h"
#include "cli/git_tree.h"

#include <stdio.h>
#include <stdlib.h>

/* A file with findings, and where it was in the base. */
typedef struct {
	const char *path;
	mla_str reported; /* as in fingerprints */
	char *old;        /* NULL: nowhere */
} moved;

typedef MLA_VEC(moved) moved_list;

typedef struct {
	char digest[MLA_DIGEST_SIZE];
} digest;

typedef MLA_VEC(digest) digest_list;

static mla_fingerprint *fingerprints(mla_scan *s, const mla_scan_tree *t)
{
	const mla_finding **list = mla_arena_array(s->arena, t->results.n, sizeof(*list));

	for (uint32_t i = 0; i < t->results.n; i++)
		list[i] = t->results.v[i].finding;
	return mla_fingerprints(s->arena, list, t->results.n);
}

/* The files of the results, each once: results are sorted by path. */
static void files_of(moved_list *out, const mla_scan_tree *t, const mla_fingerprint *f)
{
	for (uint32_t i = 0; i < t->results.n; i++) {
		const char *path = t->results.v[i].finding->module->path;

		if (!out->n || strcmp(out->v[out->n - 1].path, path) != 0)
			mla_vec_push(out, ((moved){path, f[i].path, NULL}));
	}
}

/* A file that is not in its place in the base may have come from another one. Where that cannot be
 * found out (a partial clone lacks what was removed since), its findings may be old: no verdict. */
static void find_old(moved_list *list, mla_scan *s, const mla_git_tree *base,
                     const mla_git_tree *now)
{
	const char **path = mla_alloc(list->n * sizeof(*path));
	char **old = mla_alloc(list->n * sizeof(*old));
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (mla_git_tree_at(base, list->v[i].path))
			list->v[i].old = mla_copy(list->v[i].path);
		else
			path[n++] = list->v[i].path;
	if (n &&
	    mla_git_renamed(old, path, n, base->repo, base->root, now ? now->root : NULL) < 0) {
		mla_fileset_note(&s->files, "%s", mla_error_last());
		s->base_failed++;
	}
	for (uint32_t i = 0; i < list->n; i++)
		if (!list->v[i].old)
			list->v[i].old = old[at++];
	free(old);
	free(path);
}

/* The files of the base that matter, as if they had been named: imports bring in the others. */
static void add_files(mla_tree *t, const moved_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const mla_git_entry *e =
			list->v[i].old ? mla_git_tree_at(t->git, list->v[i].old) : NULL;

		if (e && e->kind == MLA_GIT_FILE)
			mla_tree_add(t, e->path)->named = true;
		else if (e && e->kind == MLA_GIT_FAULT)
			mla_tree_leave_out(t, e->path, MLA_FILE_FAILED, e->reason);
	}
}

/* What could not be read there has no findings to compare with, so there is no verdict. */
static void note_failures(mla_scan *s, const mla_scan *base)
{
	for (uint32_t i = 0; i < base->files.trees.n; i++)
		for (uint32_t k = 0; k < base->files.trees.v[i].files.n; k++) {
			const mla_file *f = &base->files.trees.v[i].files.v[k];

			if (f->state != MLA_FILE_FAILED)
				continue;
			mla_fileset_note(&s->files, "failed in the base: %s (%s)", f->path,
			                 f->reason);
			s->base_failed++;
		}
}

static void push_digest(digest_list *out, const mla_fingerprint *f)
{
	digest d;

	mla_fingerprint_digest(d.digest, f);
	mla_vec_push(out, d);
}

static int by_digest(const void *a, const void *b)
{
	return strcmp(((const digest *)a)->digest, ((const digest *)b)->digest);
}

/* The findings of the base under the paths that their files have now. */
static void take_digests(digest_list *out, mla_scan *base, const moved_list *list)
{
	for (uint32_t i = 0; i < base->trees.n; i++) {
		const mla_scan_tree *t = &base->trees.v[i];
		mla_fingerprint *f = fingerprints(base, t);

		for (uint32_t k = 0; k < t->results.n; k++)
			for (uint32_t m = 0; m < list->n; m++)
				if (list->v[m].old &&
				    strcmp(list->v[m].old, t->results.v[k].finding->module->path) ==
				            0) {
					f[k].path = list->v[m].reported;
					push_digest(out, &f[k]);
				}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_digest);
}

/* Scans the base as this scan is made, with its own imports. Takes over `tree`. */
static int scan_base(digest_list *out, mla_scan *s, mla_git_tree *tree, const moved_list *list,
                     const char *folder)
{
	mla_options o = *s->options;
	mla_fileset files = {0};
	mla_tree *t = mla_fileset_tree(&files, folder);
	mla_scan base;
	int error;

	o.diff_base = o.baseline = o.write_baseline = NULL;
	o.show_kept = false;
	t->git = tree;
	add_files(t, list);
	if ((error = mla_tree_settle(t)) < 0) {
		mla_fileset_free(&files);
		return error;
	}
	error = mla_scan_files(&base, &o, &files);
	if (error == 0) {
		note_failures(s, &base);
		take_digests(out, &base, list);
	}
	mla_scan_free(&base);
	return error;
}

static int base_tree(mla_git_tree **out, mla_scan *s, const mla_scan_tree *t)
{
	const char *rev = s->options->diff_base;
	git_repository *repo;
	git_object *root;
	int error = mla_git_open(&repo, t->tree->folder);

	if (error > 0)
		return mla_error(MLA_EGIT, "%s: in no git repository; --diff-base needs one",
		                 t->tree->folder);
	if (error < 0)
		return error;
	error = mla_git_base(&root, repo, rev, t->tree->git ? t->tree->git->root : NULL);
	if (error < 0) {
		git_repository_free(repo);
		return error;
	}
	if (error > 0)
		mla_fileset_note(&s->files, "--diff-base: %s; compared with %s itself",
		                 mla_error_last(), rev);
	return mla_git_tree_new(out, repo, root);
}

/* known[i]: the base has what f[i] is. */
static int find_in_base(bool *known, mla_scan *s, const mla_scan_tree *t, const mla_fingerprint *f)
{
	moved_list list = {0};
	digest_list digests = {0};
	mla_git_tree *tree;
	int error = base_tree(&tree, s, t);

	if (error < 0)
		return error;
	files_of(&list, t, f);
	find_old(&list, s, tree, t->tree->git);
	if (list.n)
		error = scan_base(&digests, s, tree, &list, t->tree->folder);
	else
		mla_git_tree_free(tree);
	for (uint32_t i = 0; i < t->results.n && digests.n; i++) {
		digest d;

		mla_fingerprint_digest(d.digest, &f[i]);
		known[i] = bsearch(&d, digests.v, digests.n, sizeof(d), by_digest) != NULL;
	}
	for (uint32_t i = 0; i < list.n; i++)
		free(list.v[i].old);
	mla_vec_free(&list);
	mla_vec_free(&digests);
	return error;
}

/* Does the rule of an entry run on its file? Where that cannot be said it counts as on. */
static bool is_on(const mla_scan *s, const mla_tree *t, const mla_fingerprint *f)
{
	const mla_file_settings *settings;

	if (mla_configs_file(&settings, s->configs, t, f->path.ptr) < 0)
		return true;
	for (uint32_t i = 0; mla_rules[i]; i++)
		if (mla_str_is(f->code, mla_rules[i]->code))
			return settings->on[i];
	return true; /* there is no such rule any more */
}

static int path_of_file(const void *path, const void *file)
{
	return strcmp(path, ((const mla_file *)file)->path);
}

/* Would this scan have found it? Not in a file that it left out. */
static bool was_sought(const mla_scan *s, const mla_tree *t, const mla_fingerprint *f)
{
	const mla_file *file;

	if (!is_on(s, t, f))
		return false;
	file = t->files.n ? bsearch(f->path.ptr, t->files.v, t->files.n, sizeof(*t->files.v),
	                            path_of_file)
	                  : NULL;
	if (file)
		return file->state == MLA_FILE_CHECKED || file->state == MLA_FILE_PARTIAL;
	return !mla_file_exists(t, f->path.ptr);
}

/* The one that is given, else that of the configuration at the root; NULL: none. A new one lists
 * everything, whatever the old one knows. */
static int baseline_of(const char **out, mla_scan *s, const mla_scan_tree *t)
{
	const mla_config *f;
	int error = 0;

	*out = s->options->baseline;
	if (*out || s->options->write_baseline)
		return 0;
	if ((error = mla_configs_find(&f, s->configs, t->tree, "root")) < 0 || !f->baseline)
		return error;
	if (t->tree->git)
		mla_fileset_note(&s->files, "the baseline of %s is not for a revision", f->path);
	else
		*out = *f->baseline == '/'
		               ? f->baseline
		               : mla_arena_format(s->arena, "%s/%s", f->base, f->baseline).ptr;
	return 0;
}

static int find_in_baseline(bool *known, mla_scan *s, const mla_scan_tree *t,
                            const mla_fingerprint *f, const char *path)
{
	mla_baseline b;
	bool *met;
	int error = mla_baseline_read(&b, s->arena, path);

	if (error < 0)
		return error;
	met = mla_arena_array(s->arena, b.n, sizeof(*met));
	for (uint32_t i = 0; i < t->results.n; i++) {
		const mla_fingerprint *at = mla_baseline_find(&b, &f[i]);

		known[i] = at != NULL;
		if (at)
			met[at - b.v] = true;
	}
	for (uint32_t i = 0; i < b.n; i++)
		s->baseline_gone += !met[i] && was_sought(s, t->tree, &b.v[i]);
	return 0;
}

/* Drops the results that are known, with their fingerprints; how many. */
static uint32_t drop(mla_scan_tree *t, mla_fingerprint *f, bool *known)
{
	uint32_t n = 0, before = t->results.n;

	for (uint32_t i = 0; i < before; i++) {
		if (!known[i]) {
			f[n] = f[i];
			t->results.v[n++] = t->results.v[i];
		}
		known[i] = false;
	}
	t->results.n = n;
	return before - n;
}

int mla_known_take_out(mla_scan *s, mla_scan_tree *t)
{
	const mla_options *o = s->options;
	mla_fingerprint *f;
	const char *baseline;
	bool *known;
	int error = baseline_of(&baseline, s, t);

	if (error < 0 || (!o->diff_base && !baseline && !o->write_baseline))
		return error;
	f = fingerprints(s, t);
	known = mla_arena_array(s->arena, t->results.n, sizeof(*known));
	if (o->write_baseline) {
		s->accepted = mla_arena_array(s->arena, t->results.n, sizeof(*f));
		s->accepted_count = t->results.n;
		for (uint32_t i = 0; i < t->results.n; i++)
			s->accepted[i] = f[i];
	}
	/* The baseline first: what it lists is found also where the base has it. */
	s->has_baseline |= baseline != NULL;
	if (baseline) {
		error = find_in_baseline(known, s, t, f, baseline);
		s->in_baseline += drop(t, f, known);
	}
	if (o->diff_base && error == 0) {
		error = find_in_base(known, s, t, f);
		s->in_base += drop(t, f, known);
	}
	if (o->write_baseline)
		t->results.n = 0;
	return error;
}

/* Merge bases and renames, as far as libgit2 finds them. Only reads. */
#include "cli/git_base.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/git_shallow.h"

#include <stdlib.h>

/* The commit that is compared; 1 after a reason when there is none. */
static int head_of(git_oid *out, git_repository *repo, const git_object *head)
{
	int error;

	if (head && git_object_type(head) != GIT_OBJECT_COMMIT)
		return mla_error(1, "a tree has no history");
	if (head) {
		*out = *git_object_id(head);
		return 0;
	}
	error = git_reference_name_to_id(out, repo, "HEAD");
	return error < 0 ? mla_error(1, "HEAD has no commit yet") : 0;
}

static int merge_base(git_oid *out, git_repository *repo, const git_oid *a, const git_oid *b)
{
	bool shallow = git_repository_is_shallow(repo) == 1;
	int error = git_merge_base(out, repo, a, b);

	if (error == 0 || (shallow && mla_git_shallow_base(out, repo, a, b)))
		return 0;
	if (shallow)
		return mla_error(1, "no merge base in this shallow clone");
	if (error == GIT_ENOTFOUND)
		return mla_error(1, "the histories have no commit in common");
	mla_git_error("no merge base");
	return 1;
}

int mla_git_base(git_object **out, git_repository *repo, const char *rev, const git_object *head)
{
	git_object *named, *base;
	git_oid with, id;
	int error = mla_git_resolve(&named, repo, "--diff-base", rev);

	*out = NULL;
	if (error < 0)
		return error;
	*out = named;
	if (git_object_type(named) != GIT_OBJECT_COMMIT)
		return 0; /* a tree is given to be compared with itself */
	error = head_of(&with, repo, head);
	if (error == 0)
		error = merge_base(&id, repo, git_object_id(named), &with);
	if (error)
		return error;
	if (git_object_lookup(&base, repo, &id, GIT_OBJECT_COMMIT) < 0) {
		mla_git_error("the merge base cannot be read");
		return 1;
	}
	git_object_free(named);
	*out = base;
	return 0;
}

/* Patterns for the endings of the paths, so that nothing else (model weights ...) is compared. */
static void endings(git_strarray *out, const char *const *path, uint32_t n)
{
	out->strings = mla_alloc(n * sizeof(*out->strings));
	out->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const char *dot = strrchr(path[i], '.');
		bool known = !dot || strchr(dot, '/');

		for (size_t k = 0; k < out->count && !known; k++)
			known = strcmp(out->strings[k] + 1, dot) == 0;
		if (known)
			continue;
		out->strings[out->count] = mla_alloc(strlen(dot) + 2);
		out->strings[out->count][0] = '*';
		memcpy(out->strings[out->count++] + 1, dot, strlen(dot) + 1);
	}
}

static int compare(git_diff **out, git_repository *repo, const git_object *base,
                   const git_object *now, const git_diff_options *o)
{
	git_object *old = NULL, *new = NULL;
	int error = git_object_peel(&old, base, GIT_OBJECT_TREE);

	if (error == 0 && now)
		error = git_object_peel(&new, now, GIT_OBJECT_TREE);
	if (error == 0)
		error = now ? git_diff_tree_to_tree(out, repo, (git_tree *)old, (git_tree *)new, o)
		            : git_diff_tree_to_workdir_with_index(out, repo, (git_tree *)old, o);
	git_object_free(old);
	git_object_free(new);
	return error;
}

static void take_renames(char **old, const char *const *path, uint32_t n, const git_diff *diff)
{
	for (size_t k = 0; k < git_diff_num_deltas(diff); k++) {
		const git_diff_delta *d = git_diff_get_delta(diff, k);

		for (uint32_t i = 0; i < n && d->status == GIT_DELTA_RENAMED; i++)
			if (!old[i] && strcmp(path[i], d->new_file.path) == 0) {
				old[i] = mla_alloc(strlen(d->old_file.path) + 1);
				memcpy(old[i], d->old_file.path, strlen(d->old_file.path));
			}
	}
}

int mla_git_renamed(char **old, const char *const *path, uint32_t n, git_repository *repo,
                    const git_object *base, const git_object *now)
{
	git_diff_find_options find;
	git_diff_options options;
	git_diff *diff = NULL;
	int error;

	git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	options.flags |= GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS;
	options.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
	endings(&options.pathspec, path, n);
	git_diff_find_options_init(&find, GIT_DIFF_FIND_OPTIONS_VERSION);
	find.flags = GIT_DIFF_FIND_RENAMES | GIT_DIFF_FIND_FOR_UNTRACKED;
	error = compare(&diff, repo, base, now, &options);
	if (error == 0)
		error = git_diff_find_similar(diff, &find);
	if (error == 0)
		take_renames(old, path, n, diff);
	else
		error = mla_git_error("--diff-base: renames cannot be found");
	git_diff_free(diff);
	for (size_t i = 0; i < options.pathspec.count; i++)
		free(options.pathspec.strings[i]);
	free(options.pathspec.strings);
	return error;
}

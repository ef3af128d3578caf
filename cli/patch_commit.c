/* Objects of a repository, made from the changes of a series. */
#include "cli/patch_commit.h"

#include "analyzer/str.h"
#include "cli/diff.h"
#include "cli/git_tree.h"

#include <git2/sys/mempack.h>

static git_repository *repository(const mla_series *s)
{
	return s->tree->tree->git->repo;
}

static const git_commit *head(const mla_series *s)
{
	return (const git_commit *)s->tree->tree->git->root;
}

int mla_patch_branch_check(git_repository *repo, const char *name)
{
	git_reference *old = NULL;
	int valid = 0;

	if (git_branch_name_is_valid(&valid, name) < 0 || !valid)
		return mla_error(MLA_ECONFIG, "--branch: '%s' is not a valid name", name);
	if (git_branch_lookup(&old, repo, name, GIT_BRANCH_LOCAL) == 0) {
		git_reference_free(old);
		return mla_error(MLA_ECONFIG, "--branch: there is a branch '%s' already", name);
	}
	return 0;
}

/* The first that is set and not empty. */
static const char *setting(git_config *config, const char *variable, const char *own,
                           const char *general)
{
	const char *names[] = {own, general}, *value = getenv(variable);

	for (int i = 0; i < 2 && !(value && *value); i++)
		if (git_config_get_string(&value, config, names[i]) < 0)
			value = NULL;
	return value && *value ? value : NULL;
}

int mla_patch_people_find(mla_patch_people *out, git_repository *repo)
{
	const char *author, *author_mail, *committer, *committer_mail;
	git_config *config;
	int error;

	*out = (mla_patch_people){0};
	if (git_repository_config_snapshot(&config, repo) < 0)
		return mla_git_error("the git configuration cannot be read");
	author = setting(config, "GIT_AUTHOR_NAME", "author.name", "user.name");
	author_mail = setting(config, "GIT_AUTHOR_EMAIL", "author.email", "user.email");
	committer = setting(config, "GIT_COMMITTER_NAME", "committer.name", "user.name");
	committer_mail = setting(config, "GIT_COMMITTER_EMAIL", "committer.email", "user.email");
	if (!author || !author_mail || !committer || !committer_mail)
		error = mla_error(MLA_ECONFIG,
		                  "a commit needs a name and an address: set user.name "
		                  "and user.email with git config");
	else if (git_signature_now(&out->author, author, author_mail) < 0 ||
	         git_signature_new(&out->committer, committer, committer_mail,
	                           out->author->when.time, out->author->when.offset) < 0)
		error = mla_git_error("user.name and user.email");
	else
		error = 0;
	git_config_free(config);
	return error;
}

void mla_patch_people_free(mla_patch_people *p)
{
	git_signature_free(p->author);
	git_signature_free(p->committer);
}

int mla_patch_in_memory(git_repository *repo)
{
	enum { BEFORE_ALL = 999 };
	git_odb_backend *memory;
	git_odb *odb = NULL;
	int error = git_repository_odb(&odb, repo);

	if (error == 0 && (error = git_mempack_new(&memory)) == 0)
		error = git_odb_add_backend(odb, memory, BEFORE_ALL);
	git_odb_free(odb);
	return error < 0 ? mla_git_error("%s", git_repository_path(repo)) : 0;
}

/* The tree of HEAD with the changes made, each file with the mode it has. */
static int make_tree(git_tree **out, const mla_series *s, const mla_changes *c)
{
	git_tree_update *update = mla_alloc((c->n + 1) * sizeof(*update));
	git_tree *base = NULL;
	git_oid id;
	int error = git_commit_tree(&base, head(s));

	for (uint32_t i = 0; i < c->n && error == 0; i++) {
		const char *path = c->v[i].module->path;
		const mla_git_entry *e = mla_git_tree_find(s->tree->tree->git, path);

		update[i] = (git_tree_update){.action = GIT_TREE_UPDATE_UPSERT, .path = path};
		update[i].filemode = e ? (git_filemode_t)e->mode : GIT_FILEMODE_BLOB;
		error = git_blob_create_from_buffer(&update[i].id, repository(s), c->v[i].after.ptr,
		                                    c->v[i].after.len);
	}
	if (error == 0)
		error = git_tree_create_updated(&id, repository(s), base, c->n, update);
	if (error == 0)
		error = git_tree_lookup(out, repository(s), &id);
	git_tree_free(base);
	free(update);
	return error < 0 ? mla_git_error("%s: no tree can be made", s->tree->tree->folder) : 0;
}

static int make_commit(mla_commit *c, const mla_series *s, const mla_patch_people *people,
                       const git_commit *parent)
{
	mla_str message = mla_arena_format(s->scan->arena, "%.*s\n\n%.*s", MLA_ARG(c->subject),
	                                   MLA_ARG(c->body));
	git_tree *tree;
	int error = make_tree(&tree, s, &c->changes);

	if (error < 0)
		return error;
	error = git_commit_create(&c->id, repository(s), NULL, people->author, people->committer,
	                          NULL, message.ptr, tree, 1, &parent);
	git_tree_free(tree);
	return error < 0 ? mla_git_error("%s: no commit can be made", s->tree->tree->folder) : 0;
}

int mla_patch_commit(mla_series *s, const mla_patch_people *people)
{
	git_commit *parent = NULL;
	int error = 0;

	for (uint32_t i = 0; i < s->commits.n && error == 0; i++) {
		mla_commit *c = &s->commits.v[i];

		error = make_commit(c, s, people, parent ? parent : head(s));
		git_commit_free(parent);
		parent = NULL;
		if (error == 0 && git_commit_lookup(&parent, repository(s), &c->id) < 0)
			error = mla_git_error("%s", s->tree->tree->folder);
	}
	git_commit_free(parent);
	return error;
}

static void full_name(char *out, size_t size, const char *name)
{
	snprintf(out, size, "refs/heads/%s", name);
}

int mla_patch_branch_create(const mla_series *s, const char *name)
{
	const mla_commit *last = &s->commits.v[s->commits.n - 1];
	git_reference *made = NULL;
	char full[4096];

	full_name(full, sizeof(full), name);
	if (git_reference_create(&made, repository(s), full, &last->id, 0, "mlalint patch") < 0)
		return mla_git_error("--branch: '%s'", name);
	git_reference_free(made);
	return 0;
}

void mla_patch_branch_remove(const mla_series *s, const char *name)
{
	char full[4096];

	full_name(full, sizeof(full), name);
	git_reference_remove(repository(s), full);
}

static int print_diff(git_buf *out, git_buf *stat, git_repository *repo, git_tree *old,
                      git_tree *new)
{
	enum { STAT_WIDTH = 72 };
	git_diff_options options;
	git_diff_stats *stats = NULL;
	git_diff *diff = NULL;
	int error;

	mla_diff_options(&options);
	error = git_diff_tree_to_tree(&diff, repo, old, new, &options);
	if (error == 0)
		error = git_diff_to_buf(out, diff, GIT_DIFF_FORMAT_PATCH);
	if (error == 0 && stat) {
		error = git_diff_get_stats(&stats, diff);
		if (error == 0)
			error = git_diff_stats_to_buf(
				stat, stats, GIT_DIFF_STATS_FULL | GIT_DIFF_STATS_INCLUDE_SUMMARY,
				STAT_WIDTH);
	}
	git_diff_stats_free(stats);
	git_diff_free(diff);
	return error < 0 ? mla_git_error("%s: no diff can be made", git_repository_path(repo)) : 0;
}

int mla_patch_diff(git_buf *out, const mla_series *s)
{
	git_tree *old = NULL, *new = NULL;
	int error = git_commit_tree(&old, head(s));

	if (error < 0)
		return mla_git_error("%s", s->tree->tree->folder);
	error = make_tree(&new, s, &s->commits.v[s->commits.n - 1].changes);
	if (error == 0)
		error = print_diff(out, NULL, repository(s), old, new);
	git_tree_free(old);
	git_tree_free(new);
	return error;
}

int mla_patch_commit_diff(git_buf *diff, git_buf *stat, const mla_series *s, const mla_commit *c)
{
	git_commit *commit = NULL, *parent = NULL;
	git_tree *old = NULL, *new = NULL;
	int error;

	if ((error = git_commit_lookup(&commit, repository(s), &c->id)) < 0 ||
	    (error = git_commit_parent(&parent, commit, 0)) < 0 ||
	    (error = git_commit_tree(&old, parent)) < 0 ||
	    (error = git_commit_tree(&new, commit)) < 0)
		error = mla_git_error("%s", s->tree->tree->folder);
	else
		error = print_diff(diff, stat, repository(s), old, new);
	git_tree_free(new);
	git_tree_free(old);
	git_commit_free(parent);
	git_commit_free(commit);
	return error;
}

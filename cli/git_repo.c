/* Opening repositories and naming revisions. Only reads. */
#include "cli/git.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void mla_git_start(void)
{
	/* What these change does not concern a reader: a partial clone lacks objects, which is
	 * noticed object by object, and config.worktree holds settings of checkouts. */
	static const char *extensions[] = {"partialclone", "preciousobjects", "worktreeconfig"};

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions,
	                 sizeof(extensions) / sizeof(*extensions));
	/* Nothing of a repository is run, so one that another user owns does no harm. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
}

void mla_git_end(void)
{
	git_libgit2_shutdown();
}

int mla_git_error(const char *fmt, ...)
{
	const git_error *why = git_error_last();
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return mla_error(MLA_EGIT, "%s: %s", text, why ? why->message : "libgit2 gives no reason");
}

/*
 * Before it accepts a push, git keeps the new objects apart and tells its hook where: only with
 * them has the pushed revision a tree. Nothing but a folder of this very repository is taken.
 */
static void add_quarantine(git_repository *repo)
{
	const char *folder = getenv("GIT_QUARANTINE_PATH");
	char objects[PATH_MAX], real[PATH_MAX];
	git_odb *odb;
	size_t n;

	if (!folder || !realpath(folder, real) ||
	    (size_t)snprintf(objects, sizeof(objects), "%sobjects/",
	                     git_repository_commondir(repo)) >= sizeof(objects))
		return;
	n = strlen(objects);
	if (strncmp(real, objects, n) != 0 || git_repository_odb(&odb, repo) < 0)
		return;
	git_odb_add_disk_alternate(odb, real);
	git_odb_free(odb);
}

int mla_git_open(git_repository **out, const char *folder)
{
	int error = git_repository_open_ext(out, folder, 0, NULL);

	if (error == 0) {
		add_quarantine(*out);
		return 0;
	}
	*out = NULL;
	return error == GIT_ENOTFOUND
	               ? 1
	               : mla_git_error("%s: the git repository here cannot be read", folder);
}

/* A name that ends in '@', which libgit2 takes for HEAD whatever comes before. */
static int parse_name(git_object **out, git_repository *repo, const char *name)
{
	git_reference *ref;
	int error = git_reference_dwim(&ref, repo, name);

	if (error < 0)
		return error;
	error = git_reference_peel(out, ref, GIT_OBJECT_ANY);
	git_reference_free(ref);
	return error;
}

/* A lone '@' is written out: releases of libgit2 before 1.6.5 and 1.7.2 read past its end
 * (CVE-2024-24575). */
static int parse(git_object **out, git_repository *repo, const char *rev)
{
	size_t len = strlen(rev);
	char *full;
	int error;

	if (rev[0] != '@' || (rev[1] && !strchr("~^:", rev[1])))
		return rev[len - 1] == '@' ? parse_name(out, repo, rev)
		                           : git_revparse_single(out, repo, rev);
	full = mla_alloc(len + 4);
	snprintf(full, len + 4, "HEAD%s", rev + 1);
	error = git_revparse_single(out, repo, full);
	free(full);
	return error;
}

int mla_git_resolve(git_object **out, git_repository *repo, const char *option, const char *rev)
{
	git_object *named = NULL;
	int error;

	*out = NULL;
	if (!*rev)
		return mla_error(MLA_ECONFIG, "%s: an empty name is no revision", option);
	git_error_clear();
	error = parse(&named, repo, rev);
	if (error < 0)
		return error == GIT_EAMBIGUOUS
		               ? mla_git_error("%s: '%.200s' is ambiguous in %s", option, rev,
		                               git_repository_path(repo))
		               : mla_git_error("%s: '%.200s' is no revision of %s", option, rev,
		                               git_repository_path(repo));
	error = git_object_peel(out, named, GIT_OBJECT_COMMIT);
	if (error < 0)
		error = git_object_peel(out, named, GIT_OBJECT_TREE);
	if (error < 0) {
		git_object *end = NULL;
		bool blob = git_object_type(named) == GIT_OBJECT_BLOB ||
		            git_object_peel(&end, named, GIT_OBJECT_BLOB) == 0;

		git_object_free(end);
		*out = NULL;
		error = blob ? mla_error(MLA_EGIT,
		                         "%s: '%s' is a file; a commit, a tag or a tree is needed",
		                         option, rev)
		             : mla_git_error("%s: '%s' leads to no tree", option, rev);
	}
	git_object_free(named);
	return error;
}

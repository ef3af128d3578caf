/*
 * The patch verb: the fixes of HEAD as a branch, as mail, as a diff. What is analysed is HEAD's
 * tree, not the work tree, so that a commit holds exactly what was analysed, whatever is edited or
 * staged meanwhile. All outputs that were asked for are made, or none.
 */
#include "cli/git_tree.h"
#include "cli/output.h"
#include "cli/patch_commit.h"
#include "cli/patch_mail.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "cli/verbs.h"

static git_repository *repository(const mla_scan *s)
{
	return s->trees.v[0].tree->git->repo;
}

/* What would make all the work be in vain is found out before it. */
static int check(mla_patch_people *people, const mla_scan *s)
{
	const mla_options *o = s->options;
	int error;

	if (s->trees.n > 1)
		return mla_error(MLA_ECONFIG,
		                 "patch works on one repository at a time; %s and %s are two",
		                 s->trees.v[0].tree->folder, s->trees.v[1].tree->folder);
	if (o->branch && (error = mla_patch_branch_check(repository(s), o->branch)) < 0)
		return error;
	return o->branch || o->mbox ? mla_patch_people_find(people, repository(s)) : 0;
}

/* Everything that can go wrong before anything is written. */
typedef struct {
	mla_mails mails;
	git_buf diff;
} material;

static int prepare(material *out, mla_series *s, const mla_patch_people *people)
{
	const mla_options *o = s->scan->options;
	int error = o->branch ? 0 : mla_patch_in_memory(repository(s->scan));

	if (error == 0 && people->author)
		error = mla_patch_commit(s, people);
	if (error == 0 && o->mbox)
		error = mla_mails_make(&out->mails, s, people->author);
	if (error == 0 && o->output_count)
		error = mla_patch_diff(&out->diff, s);
	return error;
}

static int write_material(const material *m, const mla_series *s, mla_outputs *to)
{
	const mla_options *o = s->scan->options;
	int error = o->branch ? mla_patch_branch_create(s, o->branch) : 0;

	if (error < 0)
		return error;
	if (o->mbox && (error = mla_mails_write(&m->mails, o->mbox)) < 0) {
		if (o->branch)
			mla_patch_branch_remove(s, o->branch);
		return error;
	}
	for (uint32_t i = 0; i < to->n; i++)
		fwrite(m->diff.ptr, 1, m->diff.size, to->v[i].to);
	return 0;
}

static void withdraw(const material *m, const mla_series *s)
{
	const mla_options *o = s->scan->options;

	if (o->branch)
		mla_patch_branch_remove(s, o->branch);
	if (o->mbox)
		mla_mails_remove(&m->mails, o->mbox);
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void say(const material *m, const mla_series *s)
{
	const mla_options *o = s->scan->options;
	uint32_t commits = s->commits.n;
	uint32_t files = commits ? s->commits.v[commits - 1].changes.n : 0;

	if (o->quiet)
		return;
	mla_report_summary(stderr, s->scan);
	if (s->waiting)
		fprintf(stderr,
		        "mlalint: %u fix%s left for another patch: overlapping one of this\n",
		        s->waiting, s->waiting == 1 ? "" : "es");
	if (!commits) {
		fprintf(stderr, "mlalint: nothing to patch: no branch, no mail, no diff is made\n");
		return;
	}
	if (o->branch)
		fprintf(stderr, "mlalint: branch %s: %u commit%s on HEAD, %u file%s\n", o->branch,
		        commits, plural(commits), files, plural(files));
	for (uint32_t i = 0; o->mbox && i < m->mails.v.n; i++)
		fprintf(stderr, "mlalint: %s/%s\n", o->mbox, m->mails.v.v[i].name);
}

/* For who stops the program meanwhile. */
static void note(const material *m, const mla_series *s)
{
	const mla_options *o = s->scan->options;

	if (!s->commits.n)
		return;
	if (o->branch)
		mla_stop_written(mla_arena_format(s->scan->arena, "branch %s", o->branch).ptr);
	for (uint32_t i = 0; o->mbox && i < m->mails.v.n; i++)
		mla_stop_written(
			mla_arena_format(s->scan->arena, "%s/%s", o->mbox, m->mails.v.v[i].name)
				.ptr);
	for (uint32_t i = 0; i < o->output_count; i++)
		mla_stop_written(o->output[i].path);
}

static int status_of(const mla_scan *s, bool made)
{
	if (mla_scan_incomplete(s))
		return MLA_EXIT_NO_VERDICT;
	return made && !s->options->exit_zero ? MLA_EXIT_FINDINGS : MLA_EXIT_CLEAN;
}

/* A diff that does not reach its place takes back what was made before it. */
static int finish(const material *m, const mla_series *s, mla_outputs *to, int status)
{
	int end = mla_outputs_close(to, status);

	if (end != status && s->commits.n) {
		withdraw(m, s);
	} else {
		note(m, s);
		say(m, s);
	}
	return end;
}

static int patch(const mla_options *o, mla_outputs *to)
{
	mla_patch_people people = {0};
	mla_series series = {0};
	material m = {0};
	mla_scan scan;
	int status, error = mla_scan_run(&scan, o);

	if (error == 0)
		error = check(&people, &scan);
	if (error == 0)
		error = mla_series_make(&series, &scan);
	mla_stop_hold(); /* all of it, or nothing */
	if (error == 0 && series.commits.n) {
		error = prepare(&m, &series, &people);
		if (error == 0)
			error = write_material(&m, &series, to);
	}
	if (error < 0) {
		status = mla_outputs_close(to, mla_fail());
	} else {
		status = finish(&m, &series, to, status_of(&scan, series.commits.n != 0));
	}
	mla_stop_release();
	git_buf_dispose(&m.diff);
	mla_mails_free(&m.mails);
	mla_series_free(&series);
	mla_patch_people_free(&people);
	mla_scan_free(&scan);
	return status;
}

int mla_verb_patch(const mla_options *given)
{
	mla_options o = *given;
	mla_outputs to;

	o.rev = "HEAD";
	o.diff = true; /* the summary names what a patch leaves out, as for a diff */
	mla_stop_expect_writing();
	if (mla_outputs_open(&to, &o) < 0)
		return mla_fail();
	return patch(&o, &to);
}

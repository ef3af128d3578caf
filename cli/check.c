/* The check verb: scan, then report, print a diff, or write the fixes. */
#include "cli/add_ignore.h"
#include "cli/baseline.h"
#include "cli/diff.h"
#include "cli/format.h"
#include "cli/offer.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "cli/verbs.h"
#include "cli/write.h"

static int judge(mla_scan *s)
{
	const mla_options *o = s->options;
	mla_verdicts v = {0};
	int error = 0;

	if (o->no_verify || o->verify || o->diff || o->fix)
		error = mla_offer_judge(&v, s);
	mla_vec_free(&v.v);
	return error;
}

static unsigned mode_of(const mla_scan_tree *t, const char *path)
{
	struct stat st;
	mla_text *text;

	if (mla_file_read(&text, &st, t->tree, path) != 0)
		return 0644;
	mla_text_free(text);
	return st.st_mode;
}

static int print_diff(FILE *to, mla_scan *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++) {
		mla_offer offer;
		int error = mla_offer_make(&offer, s, &s->trees.v[i]);
		const mla_changes *c = &offer.changes;

		for (uint32_t k = 0; k < c->n && error == 0; k++)
			error = mla_diff_print(to, &c->v[k],
			                       mode_of(&s->trees.v[i], c->v[k].module->path));
		if (error < 0)
			return error;
	}
	return 0;
}

static int write_fixes(mla_scan *s, uint32_t *files, uint32_t *left)
{
	*files = *left = 0;
	for (uint32_t i = 0; i < s->trees.n; i++) {
		const mla_change **list;
		mla_offer offer;
		int error = mla_offer_make(&offer, s, &s->trees.v[i]);
		const mla_changes *c = &offer.changes;

		if (error < 0)
			return error;
		list = mla_arena_array(s->arena, c->n, sizeof(*list));
		for (uint32_t k = 0; k < c->n; k++)
			list[k] = &c->v[k];
		if ((error = mla_write_changes(s->trees.v[i].tree, list, c->n)) < 0)
			return error;
		*files += c->n;
		*left += offer.waiting;
	}
	return 0;
}

static int status_of(const mla_scan *s)
{
	if (mla_scan_incomplete(s))
		return MLA_EXIT_NO_VERDICT;
	return s->findings && !s->options->exit_zero ? MLA_EXIT_FINDINGS : MLA_EXIT_CLEAN;
}

/* A list that is not complete would make the next scan report as new what was there. */
static int write_baseline(mla_scan *s)
{
	const char *path = s->options->write_baseline;
	const mla_options o = {.output = {{MLA_FORMAT_JSON, path}}, .output_count = 1};
	mla_outputs to;
	int status;

	if (mla_scan_incomplete(s)) {
		mla_error(MLA_ECONFIG, "%s: not written, for some files have no verdict", path);
		return mla_fail();
	}
	if (mla_outputs_open(&to, &o) < 0)
		return mla_fail();
	mla_baseline_print(to.v[0].to, s->accepted, s->accepted_count);
	mla_stop_hold();
	status = mla_outputs_close(&to, MLA_EXIT_CLEAN);
	if (status == MLA_EXIT_CLEAN)
		mla_stop_written(path);
	mla_stop_release();
	return status;
}

/* A diff takes the place of the text; it comes first, as it may find fixes that cannot be made. */
static int report(mla_scan *s, mla_outputs *to)
{
	const mla_options *o = s->options;
	int status;

	if (judge(s) < 0)
		return mla_fail();
	if (o->write_baseline && write_baseline(s) != MLA_EXIT_CLEAN)
		return MLA_EXIT_NO_VERDICT;
	for (uint32_t i = 0; i < to->n && o->diff; i++)
		if (to->v[i].format == MLA_FORMAT_TEXT && print_diff(to->v[i].to, s) < 0)
			return mla_fail();
	status = status_of(s);
	for (uint32_t i = 0; i < to->n; i++)
		if (!o->diff || to->v[i].format != MLA_FORMAT_TEXT)
			mla_formats[to->v[i].format].check(&(mla_report){to->v[i].to, s, status});
	return status;
}

static int scan_and_report(const mla_options *o, mla_outputs *to)
{
	mla_scan s;
	int status = mla_scan_run(&s, o) < 0 ? mla_fail() : report(&s, to);

	mla_outputs_flush(to);
	mla_report_notes(stderr, &s);
	if ((status != MLA_EXIT_NO_VERDICT || mla_scan_incomplete(&s)) && !o->quiet)
		mla_report_summary(stderr, &s);
	mla_scan_free(&s);
	return status;
}

static int fail_to_write(void)
{
	int status = mla_fail();

	mla_stop_say_written(stderr);
	return status;
}

/* Fixes that overlapped an earlier one wait for the next pass; each pass starts from the bytes on
 * disk. More than a few passes would mean that fixes undo each other: a bug of ours. */
static int fix(const mla_options *o, mla_outputs *to)
{
	enum { MAX_PASSES = 5 };
	uint32_t total = 0, left_out = 0;
	int status;

	for (int pass = 0; pass < MAX_PASSES; pass++) {
		uint32_t files = 0, left = 0;
		mla_scan s;
		int error = mla_scan_run(&s, o);

		if (error == 0) {
			error = judge(&s);
			if (error == 0)
				error = write_fixes(&s, &files, &left);
			left_out = s.fixes_left_out;
		}
		mla_scan_free(&s);
		if (error < 0)
			return fail_to_write();
		total += files;
		if (!left)
			break;
		if (pass + 1 == MAX_PASSES) {
			mla_error(MLA_EBUG, "the fixes do not come to an end");
			return fail_to_write();
		}
	}
	if (!o->quiet)
		fprintf(stderr, "mlalint: %u file%s fixed\n", total, total == 1 ? "" : "s");
	status = scan_and_report(o, to);
	return left_out ? MLA_EXIT_NO_VERDICT : status;
}

/* What is found afterwards is reported: a comment about comments cannot be suppressed. */
static int add_ignore(const mla_options *o, mla_outputs *to)
{
	uint32_t files = 0;
	mla_scan s;
	int error = mla_scan_run(&s, o);

	if (error == 0)
		error = mla_add_ignore(&files, &s);
	mla_scan_free(&s);
	if (error < 0)
		return fail_to_write();
	if (!o->quiet)
		fprintf(stderr, "mlalint: %u file%s changed\n", files, files == 1 ? "" : "s");
	return scan_and_report(o, to);
}

int mla_verb_check(const mla_options *o)
{
	mla_outputs to;

	if (o->fix || o->add_ignore || o->write_baseline)
		mla_stop_expect_writing();
	if (mla_outputs_open(&to, o) < 0)
		return mla_fail();
	return mla_outputs_close(&to, o->add_ignore ? add_ignore(o, &to)
	                              : o->fix      ? fix(o, &to)
	                                            : scan_and_report(o, &to));
}

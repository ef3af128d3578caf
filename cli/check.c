/* The check verb: scan, then report, print a diff, or write the fixes. */
#include "analyzer/str.h"
#include "cli/diff.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "cli/verify.h"
#include "cli/write.h"

#include <stdlib.h>

/* What the engine says of a fix; only it can make one safe. */
static void take_verdict(mla_fix *f, const mla_site_verdict *v, mla_arena *arena)
{
	f->applicability = v->outcome == MLA_VERIFIED   ? MLA_FIX_SAFE
	                   : v->outcome == MLA_REJECTED ? MLA_FIX_REJECTED
	                                                : MLA_FIX_UNSAFE;
	f->reason = mla_arena_dup(arena, mla_str_c(v->reason));
}

static int set_applicability(mla_scan *s)
{
	const mla_options *o = s->options;
	mla_verdicts v = {0};
	int error = 0;

	if (!o->no_verify && (o->verify || o->diff || o->fix)) {
		error = mla_verify_sites(&v, s);
		for (uint32_t i = 0; i < v.v.n && error == 0; i++)
			take_verdict((mla_fix *)v.v.v[i].fix, &v.v.v[i].result, s->arena);
		mla_vec_free(&v.v);
		return error;
	}
	for (uint32_t i = 0; i < s->trees.n && o->no_verify; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n; k++) {
			mla_fix *f = s->trees.v[i].fixes.v[k];

			if (f->applicability == MLA_FIX_SAFE)
				continue; /* it needs no numbers */
			f->applicability = MLA_FIX_UNSAFE;
			f->reason = mla_str_c("not verified: --no-verify");
		}
	return 0;
}

static bool edits_module(const mla_fix *f, const mla_module *m)
{
	for (uint32_t i = 0; i < f->edits.n; i++)
		if (f->edits.file[i].module == m)
			return true;
	return false;
}

/* The first change whose result would be no source any more, after a message; NULL: none. */
static const mla_change *bad_change(const mla_changes *c, mla_python *python)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const char *path = c->v[i].module->path;
		int error = mla_change_check(&c->v[i], python);

		if (error == 0)
			continue;
		if (error == MLA_ELIMIT)
			mla_error(error,
			          "%s: the fix is left out: the file would be larger than %d MB",
			          path, MLA_TEXT_MAX >> 20);
		else if (error == MLA_EBUG)
			mla_error(error, "%s: the fix is left out: it would break the syntax",
			          path);
		mla_fail();
		return &c->v[i];
	}
	return NULL;
}

/*
 * The changes of all fixes that are offered, checked; *left is how many have to wait. The fixes of
 * a file that would not stay a source are left out, each as a whole, and the others made without.
 */
static int changes(mla_changes *out, uint32_t *left, mla_scan *s, mla_scan_tree *t)
{
	const mla_fix **offered = mla_arena_array(s->arena, t->fixes.n, sizeof(*offered));
	bool *applied = mla_arena_array(s->arena, t->fixes.n, sizeof(*applied));
	const mla_change *bad;
	mla_python *python;
	uint32_t n = 0;
	int error;

	for (uint32_t i = 0; i < t->fixes.n; i++)
		if (mla_fix_offered(t->fixes.v[i], s->options))
			offered[n++] = t->fixes.v[i];
	if ((error = mla_python_new(&python)) < 0)
		return error;
	for (;;) {
		uint32_t kept = 0;

		mla_apply(out, applied, s->arena, offered, n);
		if (!(bad = bad_change(out, python)))
			break;
		for (uint32_t i = 0; i < n; i++)
			if (!edits_module(offered[i], bad->module))
				offered[kept++] = offered[i];
		s->fixes_left_out += n - kept;
		n = kept;
	}
	mla_python_free(python);
	*left = 0;
	for (uint32_t i = 0; i < n; i++)
		*left += !applied[i];
	return 0;
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
		mla_changes c;
		uint32_t left;
		int error = changes(&c, &left, s, &s->trees.v[i]);

		for (uint32_t k = 0; k < c.n && error == 0; k++)
			error = mla_diff_print(to, &c.v[k],
			                       mode_of(&s->trees.v[i], c.v[k].module->path));
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
		mla_changes c;
		uint32_t skipped;
		int error = changes(&c, &skipped, s, &s->trees.v[i]);

		if (error < 0)
			return error;
		list = mla_arena_array(s->arena, c.n, sizeof(*list));
		for (uint32_t k = 0; k < c.n; k++)
			list[k] = &c.v[k];
		if ((error = mla_write_changes(s->trees.v[i].tree, list, c.n)) < 0)
			return error;
		*files += c.n;
		*left += skipped;
	}
	return 0;
}

static int status_of(const mla_scan *s)
{
	if (mla_scan_incomplete(s))
		return MLA_EXIT_NO_VERDICT;
	return s->findings && !s->options->exit_zero ? MLA_EXIT_FINDINGS : MLA_EXIT_CLEAN;
}

static int report(mla_scan *s, FILE *to)
{
	const mla_options *o = s->options;

	if (set_applicability(s) < 0)
		return mla_fail();
	if (o->diff) {
		if (print_diff(to, s) < 0)
			return mla_fail();
	} else if (o->format == MLA_FORMAT_JSON) {
		mla_report_json(to, s);
	} else {
		mla_report_text(to, s, mla_use_color(o, to));
	}
	return status_of(s);
}

static int scan_and(const mla_options *o, int (*then)(mla_scan *s, FILE *to), FILE *to)
{
	mla_scan s;
	int status = mla_scan_run(&s, o) < 0 ? mla_fail() : then(&s, to);

	fflush(to); /* the report before the summary, also where both go to one place */
	if ((status != MLA_EXIT_NO_VERDICT || mla_scan_incomplete(&s)) && !o->quiet)
		mla_report_summary(stderr, &s);
	mla_scan_free(&s);
	return status;
}

/* Fixes that overlapped an earlier one wait for the next pass; each pass starts from the bytes on
 * disk. More than a few passes would mean that fixes undo each other: a bug of ours. */
static int fix(const mla_options *o, FILE *to)
{
	enum { MAX_PASSES = 5 };
	uint32_t total = 0, left_out = 0;
	int status;

	for (int pass = 0; pass < MAX_PASSES; pass++) {
		uint32_t files = 0, left = 0;
		mla_scan s;
		int error = mla_scan_run(&s, o);

		if (error == 0) {
			error = set_applicability(&s);
			if (error == 0)
				error = write_fixes(&s, &files, &left);
			left_out = s.fixes_left_out;
		}
		mla_scan_free(&s);
		if (error < 0)
			return mla_fail();
		total += files;
		if (!left)
			break;
		if (pass + 1 == MAX_PASSES) {
			mla_error(MLA_EBUG, "the fixes do not come to an end");
			return mla_fail();
		}
	}
	if (!o->quiet)
		fprintf(stderr, "mlalint: %u file%s fixed\n", total, total == 1 ? "" : "s");
	status = scan_and(o, report, to);
	return left_out ? MLA_EXIT_NO_VERDICT : status;
}

int mla_verb_check(const mla_options *o)
{
	FILE *to = mla_output_open(o);

	if (!to)
		return MLA_EXIT_NO_VERDICT;
	return mla_output_close(o, to, o->fix ? fix(o, to) : scan_and(o, report, to));
}

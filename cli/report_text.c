/* The report for a person: place, message, the line itself, and what can be done. */
#include "analyzer/str.h"
#include "cli/related.h"
#include "cli/report.h"
#include "cli/statistics.h"
#include "cli/verbs.h"

#include <limits.h>

typedef struct {
	FILE *to;
	const char *bold, *code, *dim, *reset;
} style;

/* The line with the test underlined; very long lines are cut around it. */
static void put_line(const style *st, const mla_module *m, mla_span span)
{
	enum { AROUND = 60, WHOLE = 120 };
	uint32_t line = mla_text_line(m->text, span.start);
	mla_span whole = mla_text_line_span(m->text, line);
	uint32_t end = span.end < whole.end ? span.end : whole.end;
	mla_str before;

	if (whole.start == 0 && mla_text_has_bom(m->text))
		whole.start = 3;
	if (whole.end - whole.start > WHOLE) {
		if (span.start - whole.start > AROUND)
			whole.start = span.start - AROUND;
		if (whole.end - end > AROUND)
			whole.end = end + AROUND;
	}
	before = mla_text_slice(m->text, (mla_span){whole.start, span.start});
	fprintf(st->to, "%s%7u |%s ", st->dim, line, st->reset);
	mla_put_clean(st->to, mla_text_slice(m->text, whole));
	fprintf(st->to, "\n%s%7s |%s ", st->dim, "", st->reset);
	for (uint32_t i = 0; i < before.len; i++)
		if (((unsigned char)before.ptr[i] & 0xC0) != 0x80)
			fputc(before.ptr[i] == '\t' ? '\t' : ' ', st->to);
	fputs(st->code, st->to);
	for (uint32_t i = span.start; i < end; i++)
		if (((unsigned char)mla_text_bytes(m->text).ptr[i] & 0xC0) != 0x80)
			fputc('^', st->to);
	fprintf(st->to, "%s\n", st->reset);
}

static void put_place(const style *st, const mla_scan_tree *t, const mla_module *m, mla_span span)
{
	mla_pos pos = mla_text_pos(m->text, span.start);
	char path[PATH_MAX];

	mla_file_display(path, sizeof(path), t->tree, m->path);
	fputs(st->bold, st->to);
	mla_put_clean(st->to, mla_str_c(path));
	fprintf(st->to, ":%u:%u:%s ", pos.line, pos.column, st->reset);
}

/* Is there more to its decision than the message says: other files, or what stays as it is? */
static bool is_worth_listing(const mla_finding *f)
{
	if (!f->site)
		return false;
	for (uint32_t i = 0; i < f->site->test_count; i++)
		if (f->site->test[i]->module != f->module)
			return true;
	return f->site->length_count != 0;
}

static void put_related(FILE *to, const mla_scan *s, const mla_scan_tree *t, const mla_finding *f)
{
	const mla_related *v;
	uint32_t n = is_worth_listing(f) ? mla_related_list(&v, s->arena, f) : 0;

	for (uint32_t i = 0; i < n; i++) {
		char path[PATH_MAX];

		mla_file_display(path, sizeof(path), t->tree, v[i].module->path);
		fprintf(to, "%7s = with %s in ", "", v[i].role);
		mla_put_clean(to, mla_str_c(path));
		fprintf(to, ":%u: ", mla_text_line(v[i].module->text, v[i].span.start));
		mla_put_joined(to, mla_text_slice(v[i].module->text, v[i].span));
		fputc('\n', to);
	}
}

void mla_report_text(const mla_report *r)
{
	FILE *to = r->to;
	const mla_scan *s = r->scan;
	const style plain = {to, "", "", "", ""};
	const style colored = {to, "\033[1m", "\033[31m", "\033[2m", "\033[0m"};
	const style *st = mla_use_color(s->options, to) ? &colored : &plain;

	if (s->options->statistics) {
		mla_statistics_print(to, s);
		return;
	}
	for (uint32_t i = 0; i < s->trees.n; i++) {
		const mla_scan_tree *t = &s->trees.v[i];

		for (uint32_t k = 0; k < t->results.n; k++) {
			const mla_finding *f = t->results.v[k].finding;

			put_place(st, t, f->module, f->span);
			fprintf(to, "%s%s%s ", st->code, f->rule->code, st->reset);
			if (f->role)
				fprintf(to, "[%s] ", mla_role_name(f->role));
			mla_put_joined(to, f->message);
			fputc('\n', to);
			put_line(st, f->module, f->span);
			put_related(to, s, t, f);
			fprintf(to, "%7s = %.*s\n", "",
			        MLA_ARG(mla_fix_text(s->arena, t->results.v[k].fix)));
		}
		for (uint32_t k = 0; k < t->unanalysed_count; k++) {
			const mla_unanalysed *u = &t->unanalysed[k];

			put_place(st, t, u->module, u->span);
			fprintf(to, "unanalysed: ");
			mla_put_joined(to, mla_text_slice(u->module->text, u->span));
			fputc('\n', to);
		}
		for (uint32_t k = 0; k < t->suppressed.n && s->options->show_suppressed; k++) {
			const mla_finding *f = t->suppressed.v[k];

			put_place(st, t, f->module, f->span);
			fprintf(to, "%.*s\n", MLA_ARG(mla_suppressed_text(s->arena, f)));
		}
		for (uint32_t k = 0; k < t->kept.n; k++) {
			const mla_test *test = t->kept.v[k].test;

			put_place(st, t, test->module, test->node->span);
			fprintf(to, "kept (%s): ", mla_kept_name(test->kept));
			mla_put_joined(to, mla_node_text(test->module->text, test->node));
			fputc('\n', to);
		}
	}
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* What a diff or a fix leaves out is in no other output. */
static void put_refusals(FILE *to, const mla_scan *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].results.n; k++) {
			const mla_result *r = &s->trees.v[i].results.v[k];
			char path[PATH_MAX];

			if (r->fix->edits.n)
				continue;
			mla_file_display(path, sizeof(path), s->trees.v[i].tree,
			                 r->finding->module->path);
			fputs("mlalint: no fix: ", to);
			mla_put_clean(to, mla_str_c(path));
			fprintf(to, ":%u: ",
			        mla_text_line(r->finding->module->text, r->finding->span.start));
			mla_put_joined(to, r->fix->refusal);
			fputc('\n', to);
		}
}

/* Fixes that are not offered, each with its reason. */
static void put_hidden(FILE *to, const mla_scan *s, uint32_t hidden)
{
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n; k++) {
			const mla_fix *f = s->trees.v[i].fixes.v[k];
			char path[PATH_MAX];

			const mla_module *m = f->site   ? f->site->module
			                      : f->pool ? f->pool->module
			                                : NULL;

			if (!f->edits.n || !m || mla_fix_offered(f, s->options))
				continue;
			mla_file_display(path, sizeof(path), s->trees.v[i].tree, m->path);
			fprintf(to, "mlalint: %s: %s: %.*s: %.*s\n",
			        f->applicability == MLA_FIX_REJECTED ? "rejected" : "hidden", path,
			        MLA_ARG(f->site ? f->site->symbol : f->pool->symbol),
			        MLA_ARG(f->reason));
		}
	if (hidden)
		fprintf(to, "mlalint: %u fix%s hidden: not verified; --unsafe-fixes offers %s\n",
		        hidden, hidden == 1 ? "" : "es", hidden == 1 ? "it" : "them");
}

/* A reader of findings takes a fix for checked, or for doubted, when nobody says which. */
static void put_not_run(FILE *to, const mla_scan *s)
{
	const mla_options *o = s->options;
	bool text = false;

	for (uint32_t i = 0; i < o->output_count; i++)
		text |= o->output[i].format == MLA_FORMAT_TEXT;
	if (text && s->fixable && o->verb == MLA_VERB_CHECK && !o->statistics && !o->verify &&
	    !o->no_verify && !o->diff && !o->fix)
		fputs("mlalint: the fixes have not been verified yet: mlalint verify does that, "
		      "check --diff shows them too\n",
		      to);
}

void mla_report_notes(FILE *to, const mla_scan *s)
{
	if (s->options->verbose)
		mla_report_verbose(to, s);
	for (uint32_t i = 0; i < s->files.notes.n; i++) {
		fputs("mlalint: ", to);
		mla_put_clean(to, mla_str_c(s->files.notes.v[i]));
		fputc('\n', to);
	}
}

void mla_report_summary(FILE *to, const mla_scan *s)
{
	const mla_file *f;
	mla_cursor at = {0};
	uint32_t hidden = 0;

	while ((f = mla_next_file(&at, s))) {
		char path[PATH_MAX];

		if (f->state == MLA_FILE_CHECKED)
			continue;
		fprintf(to, "mlalint: %s: ", mla_file_state_name(f->state));
		mla_file_display(path, sizeof(path), &s->files.trees.v[at.tree], f->path);
		mla_put_clean(to, mla_str_c(s->files.trees.n > 1 ? path : f->path));
		fputs(" (", to);
		mla_put_clean(to, mla_str_c(f->reason));
		fputs(")\n", to);
	}
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n; k++) {
			const mla_fix *fix = s->trees.v[i].fixes.v[k];

			hidden += fix->edits.n && fix->applicability != MLA_FIX_REJECTED &&
			          !mla_fix_offered(fix, s->options);
		}
	if (s->options->diff || s->options->fix)
		put_refusals(to, s);
	put_not_run(to, s);
	fprintf(to, "mlalint: %u file%s checked", s->checked + s->partial,
	        plural(s->checked + s->partial));
	if (s->partial)
		fprintf(to, " (%u partial)", s->partial);
	if (s->skipped)
		fprintf(to, ", %u skipped", s->skipped);
	if (s->failed)
		fprintf(to, ", %u failed", s->failed);
	fprintf(to, "; %u finding%s, %u with a fix", s->findings, plural(s->findings), s->fixable);
	if (s->suppressed)
		fprintf(to, "; %u suppressed", s->suppressed);
	if (s->options->show_kept)
		fprintf(to, "; %u test%s kept", s->kept, plural(s->kept));
	if (s->options->diff_base)
		fprintf(to, "; %u not new", s->in_base);
	if (s->has_baseline)
		fprintf(to, "; %u in the baseline", s->in_baseline);
	if (s->baseline_gone)
		fprintf(to, "; %u baseline entr%s no longer found", s->baseline_gone,
		        s->baseline_gone == 1 ? "y" : "ies");
	if (s->options->write_baseline)
		fprintf(to, "; %u listed in the new baseline", s->accepted_count);
	fputc('\n', to);
	if (s->options->diff || s->options->fix)
		put_hidden(to, s, hidden);
}

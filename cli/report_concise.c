/* One line a finding: what editors and `grep` take. */
#include "analyzer/str.h"
#include "cli/report.h"
#include "cli/statistics.h"
#include "cli/verbs.h"

#include <limits.h>

static void put_place(FILE *to, const mla_tree *tree, const mla_module *m, mla_span span)
{
	mla_pos pos = mla_text_pos(m->text, span.start);
	char path[PATH_MAX];

	mla_file_display(path, sizeof(path), tree, m->path);
	mla_put_clean(to, mla_str_c(path));
	fprintf(to, ":%u:%u: ", pos.line, pos.column);
}

/* No finding, so not among them: an editor would list it as one. */
static void put_unanalysed(const mla_scan *s)
{
	const mla_unanalysed *u;
	mla_cursor at = {0};

	while ((u = mla_next_unanalysed(&at, s))) {
		fputs("mlalint: unanalysed: ", stderr);
		put_place(stderr, s->trees.v[at.tree].tree, u->module, u->span);
		mla_put_joined(stderr, mla_text_slice(u->module->text, u->span));
		fputc('\n', stderr);
	}
}

void mla_report_concise(const mla_report *r)
{
	const mla_scan *s = r->scan;
	const mla_result *result;
	const mla_kept_test *k;
	const mla_finding *const *f;
	mla_cursor at = {0}, at_suppressed = {0}, at_kept = {0};

	if (s->options->statistics) {
		mla_statistics_print(r->to, s);
		return;
	}
	while ((result = mla_next_result(&at, s))) {
		put_place(r->to, s->trees.v[at.tree].tree, result->finding->module,
		          result->finding->span);
		fprintf(r->to, "%s %s", result->finding->rule->code,
		        mla_fix_offered(result->fix, s->options) ? "[*] " : "");
		mla_put_joined(r->to, result->finding->message);
		fputc('\n', r->to);
	}
	while ((f = mla_next_suppressed(&at_suppressed, s))) {
		put_place(r->to, s->trees.v[at_suppressed.tree].tree, (*f)->module, (*f)->span);
		fprintf(r->to, "%.*s\n", MLA_ARG(mla_suppressed_text(s->arena, *f)));
	}
	while ((k = mla_next_kept(&at_kept, s))) {
		put_place(r->to, s->trees.v[at_kept.tree].tree, k->module, k->test->node->span);
		fprintf(r->to, "kept (%s): ", mla_kept_name(k->test->kept));
		mla_put_joined(r->to, mla_node_text(k->module->text, k->test->node));
		fputc('\n', r->to);
	}
	put_unanalysed(s);
}

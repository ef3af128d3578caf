/*
 * Workflow commands of GitHub Actions, which become annotations. GitHub takes the first ten errors
 * and the first ten warnings of a step, so the more severe come first and the rest is announced;
 * every command stays readable in the log.
 */
#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/report.h"
#include "cli/verbs.h"

enum { LIMIT = 10 };

typedef struct {
	mla_severity level;
	const char *path;
	mla_pos start, end;  /* line 0: the file as a whole */
	mla_str title, text; /* the text is put on one line, then the note on the next */
	mla_str note;
} annotation;

typedef MLA_VEC(annotation) annotations;

static const char *const levels[] = {
	[MLA_NOTE] = "notice",
	[MLA_WARNING] = "warning",
	[MLA_ERROR] = "error",
};

/* In the value of a property ':' and ',' mean something, too. */
static void put_escaped(FILE *to, mla_str s, bool property)
{
	for (uint32_t i = 0; i < s.len; i++)
		if (strchr(property ? "%\r\n:," : "%\r\n", s.ptr[i]) && s.ptr[i])
			fprintf(to, "%%%02X", (unsigned char)s.ptr[i]);
		else
			fputc(s.ptr[i], to);
}

static void put(FILE *to, const annotation *a)
{
	fprintf(to, "::%s title=", levels[a->level]);
	put_escaped(to, a->title, true);
	fputs(",file=", to);
	put_escaped(to, mla_str_c(a->path), true);
	fprintf(to, ",line=%u", a->start.line ? a->start.line : 1);
	/* Columns are for a range within one line only. */
	if (a->start.line && a->start.line == a->end.line)
		fprintf(to, ",col=%u,endLine=%u,endColumn=%u", a->start.column, a->end.line,
		        a->end.column);
	else if (a->start.line)
		fprintf(to, ",endLine=%u", a->end.line);
	fputs("::", to);
	put_escaped(to, mla_str_c(a->path), false);
	if (a->start.line)
		fprintf(to, ":%u:%u", a->start.line, a->start.column);
	fputs(": ", to);
	put_escaped(to, a->text, false);
	if (a->note.len) {
		fputs("%0A", to);
		put_escaped(to, a->note, false);
	}
	fputc('\n', to);
}

static void place(annotation *a, const mla_module *m, mla_span span)
{
	a->path = m->path;
	a->start = mla_text_pos(m->text, span.start);
	a->end = mla_text_pos(m->text, span.end);
}

static void add_results(annotations *list, const mla_scan *s)
{
	const mla_result *r;
	const mla_kept_test *k;
	mla_cursor at = {0}, at_kept = {0};

	while ((r = mla_next_result(&at, s))) {
		const mla_finding *f = r->finding;
		annotation a = {.level = f->severity};

		place(&a, f->module, f->span);
		a.title = mla_arena_format(s->arena, "%s (%s)", f->rule->code, f->rule->name);
		a.text = mla_arena_format(s->arena, "%s %.*s", f->rule->code,
		                          MLA_ARG(mla_joined(s->arena, f->message)));
		a.note = mla_fix_text(s->arena, r->fix);
		mla_vec_push(list, a);
	}
	while ((k = mla_next_kept(&at_kept, s))) {
		annotation a = {.level = MLA_NOTE, .title = mla_str_c("mlalint (kept)")};
		mla_str test = mla_node_text(k->module->text, k->test->node);

		place(&a, k->module, k->test->node->span);
		a.text = mla_arena_format(s->arena, "kept (%s): %.*s", mla_kept_name(k->test->kept),
		                          MLA_ARG(mla_joined(s->arena, test)));
		mla_vec_push(list, a);
	}
}

static void add_unanalysed(annotations *list, const mla_scan *s)
{
	const mla_unanalysed *u;
	mla_cursor at = {0};

	while ((u = mla_next_unanalysed(&at, s))) {
		annotation a = {.level = MLA_NOTE, .title = mla_str_c("mlalint (unanalysed)")};
		mla_str text = mla_text_slice(u->module->text, u->span);

		place(&a, u->module, u->span);
		a.text = mla_arena_format(s->arena, "unanalysed: %.*s",
		                          MLA_ARG(mla_joined(s->arena, text)));
		mla_vec_push(list, a);
	}
}

static void add_files(annotations *list, const mla_scan *s)
{
	const mla_file *f;
	mla_cursor at = {0};

	while ((f = mla_next_file(&at, s))) {
		const char *state = mla_file_state_name(f->state);

		if (f->state == MLA_FILE_CHECKED)
			continue;
		mla_vec_push(list,
		             ((annotation){
				     .level = mla_file_severity(f),
				     .path = f->path,
				     .title = mla_arena_format(s->arena, "mlalint (%s)", state),
				     .text = mla_arena_format(s->arena, "%s: %s", state, f->reason),
			     }));
	}
}

static void put_limit(FILE *to, const uint32_t *count)
{
	const char *sep = "";

	if (count[MLA_ERROR] <= LIMIT && count[MLA_WARNING] <= LIMIT && count[MLA_NOTE] <= LIMIT)
		return;
	fputs("::notice title=mlalint (annotations)::GitHub shows at most 10 annotations of each "
	      "level for a step; only this log has the other ",
	      to);
	for (int level = MLA_ERROR; level >= MLA_NOTE; level--)
		if (count[level] > LIMIT) {
			fprintf(to, "%s%u %s%s", sep, count[level] - LIMIT, levels[level],
			        count[level] - LIMIT == 1 ? "" : "s");
			sep = ", ";
		}
	fputc('\n', to);
}

void mla_report_github(const mla_report *r)
{
	uint32_t count[MLA_ERROR + 1] = {0};
	annotations list = {0};

	add_files(&list, r->scan);
	add_unanalysed(&list, r->scan);
	add_results(&list, r->scan);
	for (uint32_t i = 0; i < list.n; i++)
		count[list.v[i].level]++;
	/* Notices have a limit as well: this one must not fall victim to it. */
	put_limit(r->to, count);
	for (int level = MLA_ERROR; level >= MLA_NOTE; level--)
		for (uint32_t i = 0; i < list.n; i++)
			if ((int)list.v[i].level == level)
				put(r->to, &list.v[i]);
	mla_vec_free(&list);
}

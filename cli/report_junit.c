/*
 * JUnit XML: a suite for every file, a case for everything that was found in it. A file without
 * findings has one case that passes, since some servers take a suite without cases for a mistake.
 */
#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/report.h"
#include "cli/xml.h"

typedef enum { PASSED, FAILED, ERROR, SKIPPED, OUTCOMES } outcome;

typedef struct {
	outcome outcome;
	mla_str name, message, detail;
	mla_pos at; /* line 0: the file as a whole */
} junit_case;

typedef struct {
	mla_arena *arena;
	FILE *to;                    /* where suites go */
	MLA_VEC(junit_case) cases;   /* of the suite at hand */
	uint32_t total[OUTCOMES], n; /* of all suites */
} junit;

static void put_number(FILE *to, const char *name, uint32_t n)
{
	fprintf(to, " %s=\"%u\"", name, n);
}

static void put_counts(FILE *to, const uint32_t *count, uint32_t tests)
{
	put_number(to, "tests", tests);
	put_number(to, "failures", count[FAILED]);
	put_number(to, "errors", count[ERROR]);
	put_number(to, "skipped", count[SKIPPED]);
}

static void put_case(FILE *to, const junit_case *c, const char *path)
{
	static const char *const elements[] = {
		[FAILED] = "failure",
		[ERROR] = "error",
		[SKIPPED] = "skipped",
	};

	fputs("    <testcase", to);
	mla_xml_attribute(to, "name", c->name);
	mla_xml_attribute(to, "classname", mla_str_c(path));
	mla_xml_attribute(to, "file", mla_str_c(path));
	if (c->at.line) {
		put_number(to, "line", c->at.line);
		put_number(to, "column", c->at.column);
	}
	if (c->outcome == PASSED) {
		fputs("/>\n", to);
		return;
	}
	fprintf(to, ">\n      <%s", elements[c->outcome]);
	mla_xml_attribute(to, "message", c->message);
	fputc('>', to);
	mla_xml_put(to, c->detail);
	fprintf(to, "</%s>\n    </testcase>\n", elements[c->outcome]);
}

/* Writes the cases as a suite and forgets them. */
static void put_suite(junit *j, const char *path)
{
	uint32_t count[OUTCOMES] = {0};

	for (uint32_t i = 0; i < j->cases.n; i++)
		count[j->cases.v[i].outcome]++;
	fputs("  <testsuite", j->to);
	mla_xml_attribute(j->to, "name", mla_str_c(path));
	put_counts(j->to, count, j->cases.n);
	fputs(">\n", j->to);
	for (uint32_t i = 0; i < j->cases.n; i++)
		put_case(j->to, &j->cases.v[i], path);
	fputs("  </testsuite>\n", j->to);
	for (int k = 0; k < OUTCOMES; k++)
		j->total[k] += count[k];
	j->n += j->cases.n;
	j->cases.n = 0;
}

static void add_finding(junit *j, const mla_result *r)
{
	const mla_finding *f = r->finding;
	mla_pos at = mla_text_pos(f->module->text, f->span.start);
	junit_case c = {.outcome = FAILED, .at = at};

	c.name = mla_arena_format(j->arena, "%s line %u column %u", f->rule->code, at.line,
	                          at.column);
	c.message = mla_joined(j->arena, f->message);
	c.detail = mla_arena_format(j->arena, "line %u, column %u: %.*s\n%.*s", at.line, at.column,
	                            MLA_ARG(c.message), MLA_ARG(mla_fix_text(j->arena, r->fix)));
	mla_vec_push(&j->cases, c);
}

static void add_suppressed(junit *j, const mla_finding *f)
{
	mla_pos at = mla_text_pos(f->module->text, f->span.start);
	junit_case c = {.outcome = SKIPPED, .at = at};

	c.name = mla_arena_format(j->arena, "%s line %u column %u", f->rule->code, at.line,
	                          at.column);
	c.message = mla_suppressed_text(j->arena, f);
	mla_vec_push(&j->cases, c);
}

static void add_kept(junit *j, const mla_kept_test *k)
{
	mla_pos at = mla_text_pos(k->module->text, k->test->node->span.start);
	junit_case c = {.outcome = PASSED, .at = at};

	c.name = mla_arena_format(j->arena, "kept (%s) line %u column %u",
	                          mla_kept_name(k->test->kept), at.line, at.column);
	mla_vec_push(&j->cases, c);
}

static void add_unanalysed(junit *j, const mla_unanalysed *u)
{
	mla_pos at = mla_text_pos(u->module->text, u->span.start);
	junit_case c = {.outcome = ERROR, .at = at};
	mla_str text = mla_text_slice(u->module->text, u->span);

	c.name = mla_arena_format(j->arena, "unanalysed line %u column %u", at.line, at.column);
	c.message =
		mla_arena_format(j->arena, "unanalysed: %.*s", MLA_ARG(mla_joined(j->arena, text)));
	mla_vec_push(&j->cases, c);
}

/* What became of the file itself; a case that passes when there is no other. */
static void add_file(junit *j, const mla_file *f)
{
	const char *state = mla_file_state_name(f->state);
	junit_case c = {.name = mla_arena_format(j->arena, "file %s", state)};

	if (f->state == MLA_FILE_CHECKED && j->cases.n)
		return;
	if (mla_file_without_verdict(f))
		c.outcome = ERROR;
	else if (f->state != MLA_FILE_CHECKED)
		c.outcome = SKIPPED;
	c.message = mla_arena_format(j->arena, "%s: %s", state, f->reason);
	mla_vec_push(&j->cases, c);
}

static bool is_of(const mla_module *m, const mla_file *f)
{
	return strcmp(m->path, f->path) == 0;
}

/* Results and kept tests are in the order of the files. */
static void put_tree(junit *j, const mla_scan *s, uint32_t tree)
{
	static const mla_scan_tree none = {0};
	const mla_scan_tree *t = tree < s->trees.n ? &s->trees.v[tree] : &none;
	uint32_t result = 0, suppressed = 0, kept = 0, unanalysed = 0;
	uint32_t suppressions = s->options->show_suppressed ? t->suppressed.n : 0;

	for (uint32_t i = 0; i < s->files.trees.v[tree].files.n; i++) {
		const mla_file *f = &s->files.trees.v[tree].files.v[i];

		while (result < t->results.n && is_of(t->results.v[result].finding->module, f))
			add_finding(j, &t->results.v[result++]);
		while (suppressed < suppressions && is_of(t->suppressed.v[suppressed]->module, f))
			add_suppressed(j, t->suppressed.v[suppressed++]);
		while (kept < t->kept.n && is_of(t->kept.v[kept].module, f))
			add_kept(j, &t->kept.v[kept++]);
		while (unanalysed < t->unanalysed_count &&
		       is_of(t->unanalysed[unanalysed].module, f))
			add_unanalysed(j, &t->unanalysed[unanalysed++]);
		add_file(j, f);
		put_suite(j, f->path);
	}
}

void mla_report_junit(const mla_report *r)
{
	char *body;
	size_t size;
	junit j = {.arena = r->scan->arena, .to = open_memstream(&body, &size)};

	for (uint32_t i = 0; i < r->scan->files.trees.n; i++)
		put_tree(&j, r->scan, i);
	if (!j.n) {
		mla_vec_push(&j.cases, ((junit_case){.name = mla_str_c("no files to check")}));
		put_suite(&j, "mlalint");
	}
	fclose(j.to);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mlalint\"", r->to);
	put_counts(r->to, j.total, j.n);
	fputs(">\n", r->to);
	fwrite(body, 1, size, r->to);
	fputs("</testsuites>\n", r->to);
	free(body);
	mla_vec_free(&j.cases);
}

/* The emitted function needs no header, and compiles as C99, C++ and Objective-C. */
#include "fixers/c_helper.h"

#include "fixers/c_home.h"

#include "analyzer/c_info.h"
#include "analyzer/c_source.h"
#include "analyzer/str.h"

/*
 * Sizes beyond 31 bits are an unsigned difference that went below zero, not a model. Below that
 * r d is under 2^63: d < 2 r where it is used. With a cached length T the quotient is
 * r d T / (r d + m T), m = 2 r - d; where r d T leaves 63 bits, r d / (r d / T + m) stands for it.
 */
static const char *const comment_lines[] = {
	"/*",
	" * The largest number of queries for which absorbed attention takes no more multiply-adds",
	NULL, /* by form */
	" */",
};

static const char *const floor_lines[] = {
	"0static inline long long mla_max_absorbed_queries(long long rank, long long nope, long "
	"long "
	"v)",
	"0{",
	"1const long long limit = 2147483647;",
	"1long long d, saved, queries;",
	"0",
	"1/* An unsigned difference below zero is beyond the limit. */",
	"1if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)",
	"2return 1;",
	"1d = nope + v;",
	"1saved = 2 * rank - d;",
	"1if (saved <= 0)",
	"2return 1;",
	"1queries = rank * d / saved;",
	"1return queries < 1 ? 1 : queries;",
	"0}",
	NULL,
};

static const char *const cached_lines[] = {
	"0static inline long long mla_max_absorbed_queries_at(long long rank, long long nope, long "
	"long v,",
	"0                                                    long long cached)",
	"0{",
	"1const long long limit = 2147483647, most = 9223372036854775807LL;",
	"1long long d, saved, once, queries;",
	"0",
	"1/* An unsigned difference below zero is beyond the limit. */",
	"1if (rank < 1 || nope < 0 || v < 0 || rank > limit || nope > limit || v > limit)",
	"2return 1;",
	"1d = nope + v;",
	"1saved = 2 * rank - d;",
	"1if (saved <= 0 || d == 0 || cached < 1)",
	"2return 1;",
	"1once = rank * d;",
	"1if (cached <= most / once && cached <= (most - once) / saved)",
	"2queries = once * cached / (once + saved * cached);",
	"1else",
	"2queries = once / (once / cached + saved);",
	"1return queries < 1 ? 1 : queries;",
	"0}",
	NULL,
};

/* One step of indentation of a C file: the first indented line after an opening brace. */
static mla_str indent_unit(const mla_text *t)
{
	uint32_t lines = mla_text_line_count(t);

	for (uint32_t i = 1; i < lines; i++) {
		mla_str line = mla_text_slice(t, mla_text_line_span(t, i)), next;

		if (!line.len || line.ptr[line.len - 1] != '{' || line.ptr[0] == ' ' ||
		    line.ptr[0] == '\t')
			continue;
		next = mla_text_indent_at(t, mla_text_line_span(t, i + 1).start);
		if (next.len)
			return next;
	}
	return mla_str_c("    ");
}

static const char *helper_name(mla_form form)
{
	return form == MLA_FORM_GEOMETRY ? "mla_max_absorbed_queries"
	                                 : "mla_max_absorbed_queries_at";
}

static void write_helper(mla_writer *w, mla_form form)
{
	const char *const *line = form == MLA_FORM_GEOMETRY ? floor_lines : cached_lines;

	for (size_t i = 0; i < sizeof(comment_lines) / sizeof(*comment_lines); i++) {
		const char *text = comment_lines[i];

		if (!text)
			text = form == MLA_FORM_GEOMETRY
			               ? " * than expanding a long cache: r d / (2 r - d), d = "
			                 "nope + v; at least 1."
			               : " * than expanding `cached` rows: r d T / (r d + (2 r - "
			                 "d) T), d = nope + v; at least 1.";
		mla_write_line(w, 0, "%s", text);
	}
	for (; *line; line++)
		mla_write_line(w, (uint32_t)(**line - '0'), "%s", *line + 1);
}

static mla_writer writer_of(mla_arena *arena, const mla_module *m, uint32_t at)
{
	mla_writer w = mla_writer_at(arena, m, at);

	w.indent = (mla_str){"", 0};
	w.unit = indent_unit(m->text);
	return w;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Same text but for blanks? */
static bool reads_the_same(mla_str a, mla_str b)
{
	uint32_t i = 0, k = 0;

	for (;;) {
		while (i < a.len && is_blank(a.ptr[i]))
			i++;
		while (k < b.len && is_blank(b.ptr[k]))
			k++;
		if (i == a.len || k == b.len)
			return i == a.len && k == b.len;
		if (a.ptr[i++] != b.ptr[k++])
			return false;
	}
}

/* The text of the function alone, without the comment above it. */
static mla_str function_text(mla_arena *arena, const mla_module *m, mla_form form)
{
	mla_writer w = writer_of(arena, m, 0);
	mla_str all;
	uint32_t start = 0;

	write_helper(&w, form);
	all = mla_writer_text(&w);
	for (uint32_t i = 0; i + 6 < all.len; i++)
		if (memcmp(all.ptr + i, "static", 6) == 0) {
			start = i;
			break;
		}
	return (mla_str){all.ptr + start, all.len - start};
}

static const mla_node *function_named(const mla_module *m, const char *name)
{
	const mla_node *root = m->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, n->kind == MLA_N_FUNCTION))
		if (n->kind == MLA_N_FUNCTION && mla_kid(n, 1) && mla_str_is(n->name, name))
			return n;
	return NULL;
}

typedef struct {
	mla_fix *fix;
	mla_project *project;
	mla_form form;
} request;

static void insert(const request *q, const mla_c_home *home)
{
	mla_writer w = writer_of(q->fix->edits.arena, home->module, home->at);

	if (home->below)
		mla_write_blank(&w);
	write_helper(&w, q->form);
	if (!home->below)
		mla_write_blank(&w);
	mla_edits_bind(&q->fix->edits, home->module, (mla_span){home->at, home->at},
	               mla_writer_text(&w), mla_str_c(helper_name(q->form)));
}

/* How many tests of the site a function in `m` is declared for; false: one stands before it. */
static bool count_seeing(uint32_t *n, const mla_site *s, const mla_module *m, const mla_node *f)
{
	for (uint32_t i = 0; i < s->test_count; i++) {
		const mla_test *t = s->test[i];

		*n += t->module == m || mla_c_sees(t->module, m);
		if (t->module == m && t->node->span.start < f->span.start)
			return false;
	}
	return true;
}

/* An existing one of that name: *found, and false when it is something else or in the way. */
static bool reuse(const request *q, bool *found, const mla_module *home)
{
	const mla_site *s = q->fix->site;
	const char *name = helper_name(q->form);
	uint32_t index = 0;
	mla_module *m;

	*found = false;
	while ((m = mla_project_next(q->project, &index))) {
		const mla_node *f = m->c ? function_named(m, name) : NULL;
		uint32_t seeing = 0;

		if (!f)
			continue;
		if (!count_seeing(&seeing, s, m, f))
			return mla_fix_refuse(q->fix, "%s is defined after the test", name);
		if (!seeing && !(home && mla_c_sees(m, home)))
			continue;
		if (!reads_the_same(mla_node_text(m->text, f),
		                    function_text(q->fix->edits.arena, m, q->form)))
			return mla_fix_refuse(q->fix, "%s is another function in %s", name,
			                      m->path);
		if (seeing < s->test_count)
			return mla_fix_refuse(q->fix, "%s is in %s, which not every test includes",
			                      name, m->path);
		*found = true;
	}
	return true;
}

bool mla_c_helper_require(mla_str *name, mla_fix *fix, mla_project *project, mla_form form)
{
	const request q = {fix, project, form};
	mla_c_home home;
	const char *why;
	bool found, placed;

	*name = mla_str_c(helper_name(form));
	placed = mla_c_home_find(&home, &why, fix->edits.arena, project, fix->site);
	if (!reuse(&q, &found, placed ? home.module : NULL))
		return false;
	if (found)
		return true;
	if (!placed)
		return mla_fix_refuse(fix, "%s", why);
	insert(&q, &home);
	return true;
}

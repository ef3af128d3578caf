/* Import statements: extending one, or adding one where a sorted list would have it. */
#include "fixers/import.h"

#include "analyzer/str.h"

enum { LINE_WIDTH = 88 };

static bool top_level(const mla_node *n)
{
	return n->parent && n->parent->kind == MLA_N_MODULE;
}

static const mla_node *from_import(const mla_module *user, const mla_module *home)
{
	const mla_node *root = user->syntax.root;

	for (uint32_t i = 0; i < root->n; i++) {
		const mla_node *n = root->kid[i];

		if (n->kind == MLA_N_IMPORT_FROM && n->n && !n->has_error &&
		    !mla_str_is(n->kid[0]->name, "*") && mla_import_means(user, n->name, home))
			return n;
	}
	return NULL;
}

bool mla_never_runs(const mla_module *m, const mla_node *n)
{
	for (; n->parent; n = n->parent) {
		const mla_node *test = n->parent->kind == MLA_N_IF ? n->parent->kid[0] : NULL;

		if (test && n->index == 1 &&
		    (test->kind == MLA_N_FALSE ||
		     mla_str_contains(mla_node_text(m->text, test), "TYPE_CHECKING")))
			return true;
	}
	return false;
}

/*
 * The import under a condition (try, if) that brings `beside`: wherever that name is there, what
 * the same statement imports is there too. NULL with *refusal: several places bind it, each under
 * its own condition.
 */
static const mla_node *import_beside(mla_str *refusal, mla_arena *arena, const mla_module *user,
                                     const mla_module *home, mla_str beside)
{
	const mla_node *last = NULL;
	uint32_t count = 0;
	bool conditional = false;

	for (uint32_t i = 0; i < user->binding_count; i++) {
		const mla_node *n = user->bindings[i].node, *statement = mla_node_statement(n);

		if (!mla_str_eq(user->bindings[i].name, beside) || mla_never_runs(user, n))
			continue;
		count++;
		conditional |= !top_level(statement);
		last = n;
	}
	if (count > 1 && conditional)
		*refusal = mla_arena_format(arena, "%s binds %.*s in more than one place",
		                            user->path, MLA_ARG(beside));
	if (count != 1 || last->kind != MLA_N_ALIAS || last->parent->kind != MLA_N_IMPORT_FROM ||
	    last->parent->has_error || !mla_import_means(user, last->parent->name, home))
		return NULL;
	return last->parent;
}

/* A name under which `user` has the module itself. */
static mla_str module_name(mla_project *p, mla_module *user, const mla_module *home)
{
	for (uint32_t i = 0; i < user->binding_count; i++) {
		mla_str name = user->bindings[i].name;
		mla_symbol s;

		if (user->bindings[i].node->kind != MLA_N_ALIAS ||
		    !top_level(user->bindings[i].node->parent))
			continue;
		s = mla_project_resolve(p, user, name);
		if (s.module == home && !s.node)
			return name;
	}
	return (mla_str){"", 0};
}

/* isort's default order inside a list: CONSTANTS, Classes, the rest; then without case. */
static int name_class(mla_str s)
{
	bool upper = false, lower = false;

	for (uint32_t i = 0; i < s.len; i++) {
		upper |= s.ptr[i] >= 'A' && s.ptr[i] <= 'Z';
		lower |= s.ptr[i] >= 'a' && s.ptr[i] <= 'z';
	}
	if (s.len > 1 && upper && !lower)
		return 0;
	return s.len && s.ptr[0] >= 'A' && s.ptr[0] <= 'Z' ? 1 : 2;
}

static int no_case_cmp(mla_str a, mla_str b)
{
	for (uint32_t i = 0; i < a.len && i < b.len; i++) {
		int x = a.ptr[i] | 0x20, y = b.ptr[i] | 0x20;

		if (x != y)
			return x - y;
	}
	return a.len < b.len ? -1 : a.len > b.len;
}

static int name_cmp(mla_str a, mla_str b)
{
	int x = name_class(a), y = name_class(b);

	return x != y ? x - y : no_case_cmp(a, b);
}

/* The index before which `name` goes: its place in a sorted list, the end of any other. */
static uint32_t place_in(const mla_node *import, mla_str name)
{
	uint32_t at = import->n;

	for (uint32_t i = 1; i < import->n; i++)
		if (name_cmp(import->kid[i - 1]->name, import->kid[i]->name) > 0)
			return import->n;
	while (at > 0 && name_cmp(import->kid[at - 1]->name, name) > 0)
		at--;
	return at;
}

/* One name per line inside parentheses, a trailing comma after the last: as black writes it. */
static void rewrite_wrapped(mla_edits *e, mla_module *m, const mla_node *import, mla_span names,
                            uint32_t at, mla_str name)
{
	mla_writer w = mla_writer_at(e->arena, m, import->span.start);

	mla_write(&w, "(%.*s", MLA_ARG(w.eol));
	for (uint32_t i = 0; i <= import->n; i++) {
		if (i == at)
			mla_write_line(&w, 1, "%.*s,", MLA_ARG(name));
		if (i < import->n)
			mla_write_line(&w, 1, "%.*s,",
			               MLA_ARG(mla_node_text(m->text, import->kid[i])));
	}
	mla_write(&w, "%.*s)", MLA_ARG(w.indent));
	mla_edits_bind(e, m, names, mla_writer_text(&w), name);
}

/* The next byte after `at` that is no blank. */
static uint32_t skip_blanks(mla_str b, uint32_t at)
{
	while (at < b.len && (b.ptr[at] == ' ' || b.ptr[at] == '\t'))
		at++;
	return at;
}

/* A name on a line of its own, after the line of the name before it and that line's comment. False
 * where the list is not written so: a comma elsewhere than behind its name, another name behind. */
static bool insert_line(mla_edits *e, mla_module *m, const mla_node *import, uint32_t index,
                        mla_str name)
{
	const mla_node *before = import->kid[index];
	mla_str b = mla_text_bytes(m->text);
	uint32_t comma = skip_blanks(b, before->span.end), end = comma, line, next;
	bool has_comma = comma < b.len && b.ptr[comma] == ',';
	mla_writer w = mla_writer_at(e->arena, m, before->span.start);

	if (has_comma)
		end = skip_blanks(b, end + 1);
	if (end >= b.len ||
	    (b.ptr[end] != '\n' && b.ptr[end] != '\r' && !mla_comment_at(&next, m, end)))
		return false;
	if (!has_comma) {
		if (index + 1 < import->n)
			return false;
		for (uint32_t at = comma; at < import->span.end; at++)
			if (mla_comment_at(&next, m, at))
				at = next - 1;
			else if (b.ptr[at] == ',')
				return false;
		mla_edits_add(e, m, (mla_span){before->span.end, before->span.end}, mla_str_c(","));
	}
	line = mla_text_line_next(m->text, mla_text_line(m->text, before->span.start));
	mla_write_line(&w, 0, "%.*s,", MLA_ARG(name));
	mla_edits_bind(e, m, (mla_span){line, line}, mla_writer_text(&w), name);
	return true;
}

static void extend(mla_edits *e, mla_module *m, const mla_node *import, mla_str name)
{
	const mla_node *first = import->kid[0], *last = import->kid[import->n - 1];
	mla_str b = mla_text_bytes(m->text);
	uint32_t at = place_in(import, name);
	bool one_line = mla_text_line(m->text, import->span.start) ==
	                mla_text_line(m->text, import->span.end - 1);
	bool paren = b.ptr[import->span.end - 1] == ')';
	uint32_t point = at < import->n ? import->kid[at]->span.start : last->span.end;
	mla_span whole = mla_text_line_span(m->text, mla_text_line(m->text, point));

	/* Without parentheses, lines are continued by backslashes: there is no line of its own. */
	if ((one_line || !paren) &&
	    mla_text_width(mla_text_slice(m->text, whole)) + 2 + name.len > LINE_WIDTH) {
		mla_span names = {first->span.start, paren ? import->span.end : last->span.end};

		while (paren && b.ptr[names.start] != '(')
			names.start--;
		rewrite_wrapped(e, m, import, names, at, name);
		return;
	}
	if (!one_line && paren && at > 0 && insert_line(e, m, import, at - 1, name))
		return;
	if (!one_line && paren && at == 0) {
		mla_writer w = mla_writer_at(e->arena, m, first->span.start);

		mla_write(&w, "%.*s,%.*s%.*s", MLA_ARG(name), MLA_ARG(w.eol), MLA_ARG(w.indent));
		mla_edits_bind(e, m, (mla_span){point, point}, mla_writer_text(&w), name);
		return;
	}
	mla_edits_bind(
		e, m, (mla_span){point, point},
		mla_arena_format(e->arena, at < import->n ? "%.*s, " : ", %.*s", MLA_ARG(name)),
		name);
}

static uint32_t leading_dots(mla_str spec)
{
	uint32_t n = 0;

	while (n < spec.len && spec.ptr[n] == '.')
		n++;
	return n;
}

/* isort: absolute before relative, farther relatives first, then by name. */
static int spec_cmp(mla_str a, mla_str b)
{
	uint32_t x = leading_dots(a), y = leading_dots(b);

	if (!x != !y)
		return x ? 1 : -1;
	return x != y ? (x > y ? -1 : 1) : no_case_cmp(a, b);
}

static bool has_relative_import(const mla_module *m)
{
	const mla_node *root = m->syntax.root;

	for (uint32_t i = 0; i < root->n; i++)
		if (root->kid[i]->kind == MLA_N_IMPORT_FROM && leading_dots(root->kid[i]->name))
			return true;
	return false;
}

/* "a/b/mla.py" from position `start` on, as "b.mla" */
static mla_str dotted_path(mla_arena *arena, const char *path, size_t start)
{
	mla_str s = mla_arena_dup(arena, mla_str_c(path + start));
	char *p = (char *)s.ptr;

	if (mla_str_ends(s, "/__init__.py"))
		s.len -= 12;
	else if (mla_str_ends(s, ".py"))
		s.len -= 3;
	for (uint32_t i = 0; i < s.len; i++)
		if (p[i] == '/')
			p[i] = '.';
	return s;
}

/* Where the absolute imports of `user` start: the folder on the import path, as a prefix length. */
static bool absolute_base(size_t *base, mla_project *p, mla_module *user)
{
	const mla_node *root = user->syntax.root;

	for (uint32_t i = 0; i < root->n; i++) {
		const mla_node *n = root->kid[i];
		mla_module *m;
		size_t path, spec = n->name.len;

		if (n->kind != MLA_N_IMPORT_FROM || leading_dots(n->name))
			continue;
		m = mla_project_import(p, user, n->name);
		if (!m)
			continue;
		path = strlen(m->path) -
		       (mla_str_ends(mla_str_c(m->path), "/__init__.py") ? 12 : 3);
		if (path >= spec) {
			*base = path - spec;
			return true;
		}
	}
	return false;
}

static mla_str relative_spec(mla_arena *arena, const char *user, const char *home)
{
	size_t common = 0, dots = 1;
	char lead[32];

	for (size_t i = 0; user[i] && user[i] == home[i]; i++)
		if (user[i] == '/')
			common = i + 1;
	for (const char *c = user + common; *c; c++)
		dots += *c == '/';
	if (dots > sizeof(lead) - 1)
		dots = sizeof(lead) - 1;
	memset(lead, '.', dots);
	return mla_arena_format(arena, "%.*s%.*s", (int)dots, lead,
	                        MLA_ARG(dotted_path(arena, home, common)));
}

/* The import after which one of `spec` would be sorted; the last import at worst. */
static const mla_node *import_before(const mla_module *m, mla_str spec)
{
	const mla_node *root = m->syntax.root, *best = NULL, *last = NULL;

	for (uint32_t i = 0; i < root->n; i++) {
		const mla_node *n = root->kid[i];

		if (n->kind != MLA_N_IMPORT && n->kind != MLA_N_IMPORT_FROM)
			continue;
		last = n;
		if (n->kind == MLA_N_IMPORT_FROM && !leading_dots(n->name) == !leading_dots(spec) &&
		    spec_cmp(n->name, spec) <= 0)
			best = n;
	}
	return best ? best : last;
}

static bool is_docstring(const mla_node *n)
{
	return n && n->kind == MLA_N_EXPRESSION && mla_kid(n, 0) && n->kid[0]->kind == MLA_N_STRING;
}

/* Behind the first comments of a file, the shebang and coding lines among them; *found: there are
 * any. */
static uint32_t past_comments(const mla_module *m, bool *found)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t at = mla_text_has_bom(m->text) ? 3 : 0, place = at, next;

	for (uint32_t line = 1; line <= mla_text_line_count(m->text); line++) {
		uint32_t end = mla_text_line_span(m->text, line).end;

		while (at < end && (b.ptr[at] == ' ' || b.ptr[at] == '\t' || b.ptr[at] == '\f'))
			at++;
		if (at < end && !mla_comment_at(&next, m, at))
			break;
		if (at < end)
			place = mla_text_line_next(m->text, line);
		*found |= at < end;
		at = mla_text_line_next(m->text, line);
	}
	return place;
}

static bool is_blank_line(const mla_module *m, uint32_t line)
{
	mla_str s = mla_text_slice(m->text, mla_text_line_span(m->text, line));

	return skip_blanks(s, 0) == s.len;
}

/* Where there is no import to put one beside: behind comments and docstring, a blank line on
 * either side. */
static bool first_import(uint32_t *at, mla_str *lead, bool *blank_after, const mla_module *m)
{
	const mla_node *first = mla_kid(m->syntax.root, 0);
	bool header = is_docstring(first);

	*lead = (mla_str){"", 0};
	if (header && !mla_insert_after(at, lead, m, first))
		return false;
	if (!header)
		*at = past_comments(m, &header);
	if (header)
		*lead = mla_text_eol_at(m->text, *at);
	*blank_after = !is_blank_line(m, mla_text_line(m->text, *at));
	return true;
}

static bool add_import(mla_str *refusal, mla_edits *e, mla_project *p, mla_module *user,
                       mla_module *home, mla_str name)
{
	size_t base;
	mla_str spec, lead;
	const mla_node *after;
	mla_writer w;
	uint32_t at;
	bool placed, blank_after = false;

	if (!has_relative_import(user) && absolute_base(&base, p, user))
		spec = dotted_path(e->arena, home->path, base);
	else
		spec = relative_spec(e->arena, user->path, home->path);
	after = import_before(user, spec);
	placed = after ? mla_insert_after(&at, &lead, user, after)
	               : first_import(&at, &lead, &blank_after, user);
	if (!placed) {
		*refusal = mla_arena_format(e->arena, "%s has no line of its own for an import",
		                            user->path);
		return false;
	}
	w = mla_writer_at(e->arena, user, at);
	w.indent.len = 0;
	mla_write(&w, "%.*s", MLA_ARG(lead));
	mla_write_line(&w, 0, "from %.*s import %.*s", MLA_ARG(spec), MLA_ARG(name));
	if (blank_after)
		mla_write_blank(&w);
	mla_edits_bind(e, user, (mla_span){at, at}, mla_writer_text(&w), name);
	return true;
}

bool mla_import_name(mla_str *callee, mla_str *refusal, mla_edits *e, mla_project *project,
                     mla_module *user, mla_module *home, mla_str name, mla_str beside)
{
	const mla_node *import = from_import(user, home);
	mla_str prefix;

	*callee = name;
	if (!import && beside.len)
		import = import_beside(refusal, e->arena, user, home, beside);
	if (refusal->len)
		return false;
	if (import) {
		extend(e, user, import, name);
		return true;
	}
	prefix = module_name(project, user, home);
	if (prefix.len) {
		*callee = mla_arena_format(e->arena, "%.*s.%.*s", MLA_ARG(prefix), MLA_ARG(name));
		return true;
	}
	return add_import(refusal, e, project, user, home, name);
}

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

		if (n->kind == MLA_N_IMPORT_FROM && n->n && !mla_str_is(n->kid[0]->name, "*") &&
		    mla_import_means(user, n->name, home))
			return n;
	}
	return NULL;
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
	mla_edits_add(e, m, names, mla_writer_text(&w));
}

/* The next byte after `at` that is no blank. */
static uint32_t skip_blanks(mla_str b, uint32_t at)
{
	while (at < b.len && (b.ptr[at] == ' ' || b.ptr[at] == '\t'))
		at++;
	return at;
}

/* A name on a line of its own, after the line of the name before it and that line's comment. */
static bool insert_line(mla_edits *e, mla_module *m, const mla_node *before, mla_str name)
{
	mla_str b = mla_text_bytes(m->text);
	uint32_t comma = skip_blanks(b, before->span.end), end = comma, line;
	mla_writer w = mla_writer_at(e->arena, m, before->span.start);

	if (end < b.len && b.ptr[end] == ',')
		end = skip_blanks(b, end + 1);
	if (end >= b.len || (b.ptr[end] != '\n' && b.ptr[end] != '\r' && b.ptr[end] != '#'))
		return false;
	if (b.ptr[comma] != ',')
		mla_edits_add(e, m, (mla_span){before->span.end, before->span.end}, mla_str_c(","));
	line = mla_text_line_next(m->text, mla_text_line(m->text, before->span.start));
	mla_write_line(&w, 0, "%.*s,", MLA_ARG(name));
	mla_edits_add(e, m, (mla_span){line, line}, mla_writer_text(&w));
	return true;
}

static void extend(mla_edits *e, mla_module *m, const mla_node *import, mla_str name)
{
	const mla_node *first = import->kid[0], *last = import->kid[import->n - 1];
	mla_str b = mla_text_bytes(m->text);
	uint32_t at = place_in(import, name);
	uint32_t line = mla_text_line(m->text, import->span.start);
	bool one_line = line == mla_text_line(m->text, import->span.end - 1);
	bool paren = b.ptr[import->span.end - 1] == ')';
	mla_span whole = mla_text_line_span(m->text, line);
	uint32_t point;

	if (one_line &&
	    mla_text_width(mla_text_slice(m->text, whole)) + 2 + name.len > LINE_WIDTH) {
		mla_span names = {first->span.start, import->span.end};

		while (paren && b.ptr[names.start] != '(')
			names.start--;
		rewrite_wrapped(e, m, import, names, at, name);
		return;
	}
	if (!one_line && at > 0 && insert_line(e, m, import->kid[at - 1], name))
		return;
	point = at < import->n ? import->kid[at]->span.start : last->span.end;
	if (!one_line && at == 0) {
		mla_writer w = mla_writer_at(e->arena, m, first->span.start);

		mla_write(&w, "%.*s,%.*s%.*s", MLA_ARG(name), MLA_ARG(w.eol), MLA_ARG(w.indent));
		mla_edits_add(e, m, (mla_span){point, point}, mla_writer_text(&w));
		return;
	}
	mla_edits_add(
		e, m, (mla_span){point, point},
		mla_arena_format(e->arena, at < import->n ? "%.*s, " : ", %.*s", MLA_ARG(name)));
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
		    spec_cmp(n->name, spec) < 0)
			best = n;
	}
	return best ? best : last;
}

static void add_import(mla_edits *e, mla_project *p, mla_module *user, mla_module *home,
                       mla_str name)
{
	size_t base;
	mla_str spec, lead = {"", 0};
	const mla_node *after;
	mla_writer w;
	uint32_t at;

	if (!has_relative_import(user) && absolute_base(&base, p, user))
		spec = dotted_path(e->arena, home->path, base);
	else
		spec = relative_spec(e->arena, user->path, home->path);
	after = import_before(user, spec);
	if (after) {
		at = mla_insert_after(user, after, &lead);
		w = mla_writer_at(e->arena, user, after->span.start);
		mla_write(&w, "%.*s", MLA_ARG(lead));
	} else {
		at = mla_text_has_bom(user->text) ? 3 : 0;
		w = mla_writer_at(e->arena, user, at);
		w.indent.len = 0;
	}
	mla_write_line(&w, 0, "from %.*s import %.*s", MLA_ARG(spec), MLA_ARG(name));
	mla_edits_add(e, user, (mla_span){at, at}, mla_writer_text(&w));
}

void mla_import_name(mla_str *callee, mla_edits *e, mla_project *project, mla_module *user,
                     mla_module *home, mla_str name)
{
	const mla_node *import;
	mla_str prefix;

	*callee = name;
	if (user == home || mla_module_binding(user, name))
		return;
	import = from_import(user, home);
	if (import) {
		extend(e, user, import, name);
		return;
	}
	prefix = module_name(project, user, home);
	if (prefix.len) {
		*callee = mla_arena_format(e->arena, "%.*s.%.*s", MLA_ARG(prefix), MLA_ARG(name));
		return;
	}
	add_import(e, project, user, home, name);
}

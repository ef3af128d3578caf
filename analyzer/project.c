/* Modules and imports. Knows what names are bound to, not what they mean for attention. */
#include "analyzer/project.h"

#include "analyzer/c_source.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

#include <pthread.h>

/* Re-exports through packages are a few hops; a cycle of imports must end. */
enum { MAX_HOPS = 12 };

typedef struct {
	char *path;
	mla_module *module; /* NULL: known to be absent */
} entry;

struct mla_project {
	pthread_mutex_t lock; /* around entries, reader and parser */
	mla_reader reader;
	mla_python *python;
	MLA_VEC(entry) entries; /* sorted by path */
};

int mla_project_new(mla_project **out, mla_reader reader)
{
	mla_project *p = mla_alloc(sizeof(*p));
	int error = mla_python_new(&p->python);

	if (error < 0) {
		free(p);
		return error;
	}
	p->reader = reader;
	pthread_mutex_init(&p->lock, NULL);
	*out = p;
	return 0;
}

void mla_project_free(mla_project *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->entries.n; i++) {
		mla_module_free(p->entries.v[i].module);
		free(p->entries.v[i].path);
	}
	mla_vec_free(&p->entries);
	mla_python_free(p->python);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

typedef MLA_VEC(mla_binding) binding_list;

static void bind_target(binding_list *list, const mla_node *target, const mla_node *value)
{
	if (target->kind == MLA_N_NAME)
		mla_vec_push(list, ((mla_binding){target->name, value}));
}

static void bind_import(binding_list *list, const mla_node *n)
{
	for (uint32_t i = 0; i < n->n; i++) {
		const mla_node *alias = n->kid[i], *as = mla_kid(alias, 0);
		mla_str name = as ? as->name : alias->name;

		/* `import a.b` binds a. */
		for (uint32_t k = 0; !as && n->kind == MLA_N_IMPORT && k < name.len; k++)
			if (name.ptr[k] == '.')
				name.len = k;
		mla_vec_push(list, ((mla_binding){name, alias}));
	}
}

/* Names of the module's own scope, also those bound inside if, try, with and loops. */
static void bind(mla_module *m)
{
	binding_list list = {0};
	mla_binding *copy;
	bool skip = false;

	for (const mla_node *n = m->syntax.root; n; n = mla_node_next(n, m->syntax.root, skip)) {
		skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
		if (skip)
			mla_vec_push(&list, ((mla_binding){n->name, n}));
		else if (n->kind == MLA_N_ASSIGN)
			for (uint32_t i = 0; i + 1 < n->n; i++)
				bind_target(&list, n->kid[i], n->kid[n->n - 1]);
		else if (n->kind == MLA_N_ANN_ASSIGN && mla_kid(n, 2))
			bind_target(&list, n->kid[0], n->kid[2]);
		else if (n->kind == MLA_N_IMPORT || n->kind == MLA_N_IMPORT_FROM)
			bind_import(&list, n);
	}
	copy = mla_arena_array(m->arena, list.n, sizeof(*copy));
	if (list.n)
		memcpy(copy, list.v, list.n * sizeof(*copy));
	m->bindings = copy;
	m->binding_count = list.n;
	mla_vec_free(&list);
}

int mla_module_parse(mla_module **out, mla_python *python, mla_text *text)
{
	mla_module *m = mla_alloc(sizeof(*m));
	int error;

	m->text = text;
	m->path = mla_text_path(text);
	m->arena = mla_arena_new();
	if ((error = mla_python_parse(&m->syntax, python, text, m->arena)) < 0) {
		mla_module_free(m);
		return error;
	}
	bind(m);
	*out = m;
	return 0;
}

void mla_module_free(mla_module *m)
{
	if (!m)
		return;
	mla_text_free(m->text);
	if (m->c)
		mla_clang_free(&m->c->tree);
	mla_arena_free(m->arena);
	free(m);
}

/* Where `path` is, or where it would be. */
static uint32_t find(const mla_project *p, const char *path, bool *found)
{
	uint32_t low = 0, high = p->entries.n;

	*found = false;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int c = strcmp(p->entries.v[mid].path, path);

		if (c == 0) {
			*found = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static mla_module *insert(mla_project *p, const char *path, mla_module *m)
{
	bool found;
	uint32_t at = find(p, path, &found);
	entry e = {0};

	if (found) {
		entry *old = &p->entries.v[at];

		if (!old->module)
			old->module = m;
		else if (old->module != m)
			mla_module_free(m);
		return old->module;
	}
	e.path = mla_alloc(strlen(path) + 1);
	memcpy(e.path, path, strlen(path));
	e.module = m;
	mla_vec_push(&p->entries, e);
	memmove(&p->entries.v[at + 1], &p->entries.v[at],
	        (p->entries.n - 1 - at) * sizeof(*p->entries.v));
	p->entries.v[at] = e;
	return m;
}

void mla_project_add(mla_project *p, mla_module *m)
{
	insert(p, m->path, m);
}

static mla_module *look_up(mla_project *p, const char *path)
{
	bool found;
	uint32_t at = find(p, path, &found);
	mla_module *m = NULL;
	mla_text *text;

	if (found)
		return p->entries.v[at].module;
	if (p->reader.read(&text, p->reader.payload, path) == 0)
		mla_module_parse(&m, p->python, text);
	return insert(p, path, m);
}

mla_module *mla_project_next(mla_project *p, uint32_t *index)
{
	while (*index < p->entries.n) {
		mla_module *m = p->entries.v[(*index)++].module;

		if (m)
			return m;
	}
	return NULL;
}

mla_module *mla_project_owner(mla_project *p, const mla_node *n)
{
	mla_module *m = NULL;

	while (n && n->parent)
		n = n->parent;
	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; n && !m && i < p->entries.n; i++)
		if (p->entries.v[i].module && p->entries.v[i].module->syntax.root == n)
			m = p->entries.v[i].module;
	pthread_mutex_unlock(&p->lock);
	return m;
}

mla_module *mla_project_module(mla_project *p, const char *path)
{
	mla_module *m;

	pthread_mutex_lock(&p->lock);
	m = look_up(p, path);
	pthread_mutex_unlock(&p->lock);
	return m;
}

enum { FORM_FILE, FORM_PACKAGE, FORM_COUNT };

/* base/a/b.py or base/a/b/__init__.py for the dotted name a.b; base "" is the root. */
static mla_str path_under(mla_arena *scratch, mla_str base, mla_str dotted, int form)
{
	static const char *const ends[FORM_COUNT] = {".py", "/__init__.py"};
	mla_str path =
		mla_arena_format(scratch, "%.*s%s%.*s%s", MLA_ARG(base),
	                         base.len && dotted.len ? "/" : "", MLA_ARG(dotted), ends[form]);

	for (uint32_t i = base.len; i < path.len - strlen(ends[form]); i++)
		if (path.ptr[i] == '.')
			((char *)path.ptr)[i] = '/';
	if (path.ptr[0] == '/')
		path = (mla_str){path.ptr + 1, path.len - 1};
	return path;
}

/* "a/b/c.py" -> "a/b"; "c.py" -> "" */
static mla_str parent_of(mla_str path)
{
	while (path.len && path.ptr[path.len - 1] != '/')
		path.len--;
	if (path.len)
		path.len--;
	return path;
}

/*
 * The places where `import spec` in `from` may lie, in order: calls `found` with each path until
 * it returns true. A relative name has one folder, an absolute one every folder up to the root.
 */
static void each_place(const mla_module *from, mla_str spec, bool (*found)(void *, const char *),
                       void *payload)
{
	mla_arena *scratch = mla_arena_new();
	mla_str folder = parent_of(mla_str_c(from->path));
	uint32_t dots = 0;
	bool done = false;

	while (dots < spec.len && spec.ptr[dots] == '.')
		dots++;
	spec.ptr += dots;
	spec.len -= dots;
	for (uint32_t i = 0; i < spec.len; i++) /* `from .. m import x`, continuation lines */
		done |= spec.ptr[i] == ' ' || spec.ptr[i] == '\\';
	for (uint32_t up = 1; up < dots && !done; up++) {
		done = !folder.len; /* above the root */
		folder = parent_of(folder);
	}
	while (!done) {
		for (int form = spec.len ? FORM_FILE : FORM_PACKAGE; form < FORM_COUNT && !done;
		     form++)
			done = found(payload, path_under(scratch, folder, spec, form).ptr);
		done |= dots || !folder.len;
		folder = parent_of(folder);
	}
	mla_arena_free(scratch);
}

typedef struct {
	mla_project *project;
	mla_module *module;
} search;

static bool load_place(void *payload, const char *path)
{
	search *s = payload;

	s->module = mla_project_module(s->project, path);
	return s->module != NULL;
}

mla_module *mla_project_import(mla_project *p, const mla_module *from, mla_str spec)
{
	search s = {p, NULL};

	each_place(from, spec, load_place, &s);
	return s.module;
}

typedef struct {
	const mla_module *home;
	bool same;
} comparison;

static bool compare_place(void *payload, const char *path)
{
	comparison *c = payload;

	c->same = strcmp(c->home->path, path) == 0;
	return c->same;
}

bool mla_import_means(const mla_module *from, mla_str spec, const mla_module *home)
{
	comparison c = {home, false};

	each_place(from, spec, compare_place, &c);
	return c.same;
}

const mla_binding *mla_module_binding(const mla_module *m, mla_str name)
{
	for (uint32_t i = m->binding_count; i > 0; i--)
		if (mla_str_eq(m->bindings[i - 1].name, name))
			return &m->bindings[i - 1];
	return NULL;
}

const mla_node *mla_module_alias(const mla_module *m, mla_str name)
{
	const mla_binding *b = mla_module_binding(m, name);

	return b && b->node->kind == MLA_N_ALIAS ? b->node : NULL;
}

static mla_symbol resolve(mla_project *p, mla_module *m, mla_str name, int hops);

/* `from spec import name`: something in that module, or a submodule of that package. */
static mla_symbol resolve_from(mla_project *p, mla_module *m, const mla_node *alias, int hops)
{
	mla_str spec = alias->parent->name;
	mla_module *source = mla_project_import(p, m, spec);
	mla_symbol s = {0};
	mla_arena *scratch;
	bool dot;

	if (source && source != m)
		s = resolve(p, source, alias->name, hops - 1);
	if (s.module)
		return s;
	scratch = mla_arena_new();
	dot = spec.len && spec.ptr[spec.len - 1] != '.';
	s.module = mla_project_import(p, m,
	                              mla_arena_format(scratch, "%.*s%s%.*s", MLA_ARG(spec),
	                                               dot ? "." : "", MLA_ARG(alias->name)));
	mla_arena_free(scratch);
	return s;
}

/* `from spec import *` anywhere in the module */
static mla_symbol resolve_star(mla_project *p, mla_module *m, mla_str name, int hops)
{
	for (uint32_t i = 0; i < m->binding_count; i++) {
		const mla_node *alias = m->bindings[i].node;
		mla_module *source;

		if (alias->kind != MLA_N_ALIAS || !mla_str_is(alias->name, "*"))
			continue;
		source = mla_project_import(p, m, alias->parent->name);
		if (source && source != m) {
			mla_symbol s = resolve(p, source, name, hops - 1);

			if (s.module)
				return s;
		}
	}
	return (mla_symbol){0};
}

static mla_symbol resolve(mla_project *p, mla_module *m, mla_str name, int hops)
{
	const mla_binding *b = mla_module_binding(m, name);
	const mla_node *n;

	if (hops <= 0)
		return (mla_symbol){0};
	if (!b)
		return resolve_star(p, m, name, hops);
	n = b->node;
	if (n->kind == MLA_N_ALIAS && n->parent->kind == MLA_N_IMPORT_FROM)
		return resolve_from(p, m, n, hops);
	if (n->kind == MLA_N_ALIAS)
		return (mla_symbol){mla_project_import(p, m, mla_kid(n, 0) ? n->name : name), NULL};
	if (n->kind == MLA_N_NAME && !mla_str_eq(n->name, name)) /* B = A */
		return resolve(p, m, n->name, hops - 1);
	return (mla_symbol){m, n};
}

mla_symbol mla_project_resolve(mla_project *p, mla_module *m, mla_str name)
{
	return resolve(p, m, name, MAX_HOPS);
}

mla_symbol mla_project_resolve_node(mla_project *p, mla_module *m, const mla_node *expr)
{
	const mla_node *part[MAX_HOPS];
	mla_symbol s;
	int n = 0;

	for (; expr && expr->kind == MLA_N_ATTRIBUTE && n < MAX_HOPS; expr = expr->kid[0])
		part[n++] = expr;
	if (!expr || expr->kind != MLA_N_NAME)
		return (mla_symbol){0};
	s = mla_project_resolve(p, m, expr->name);
	while (n > 0 && s.module && !s.node) {
		mla_module *package = s.module;

		s = mla_project_resolve(p, package, part[n - 1]->name);
		if (!s.module)
			s.module = mla_project_import(p, package, part[n - 1]->name);
		n--;
	}
	return n == 0 ? s : (mla_symbol){0};
}

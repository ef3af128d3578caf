/* Loading libclang, and running it in a process per source. */
#include "analyzer/clang.h"

#include "analyzer/c_arguments.h"
#include "analyzer/c_candidate.h"
#include "analyzer/clang_api.h"
#include "analyzer/clang_launch.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <errno.h>
#include <unistd.h>

enum { SECONDS = 20, WALL_SECONDS = 120 };
#define TREE_BYTES ((size_t)512 << 20)

static mla_clang_api api;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char version[128] = "not found";

static void *open_library(void)
{
	/* The library that the headers came with first, then what a package without headers has. */
	static const char *const names[] = {
		MLA_LIBCLANG "/libclang.so",
		MLA_LIBCLANG "/libclang.dylib",
		"libclang-19.so.19",
		"libclang-20.so.20",
		"libclang-21.so.21",
		"libclang-19.so.1",
		"libclang.so",
		"libclang.dylib",
	};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static bool bind_function(void *out, void *library, const char *name)
{
	void *f = dlsym(library, name);

	memcpy(out, &f, sizeof(f));
	return f != NULL;
}

static void load(void)
{
	void *library = open_library();
	bool all = library != NULL;
	CXString s;

#define X(name) all = all && bind_function(&api.name, library, "clang_" #name);
	MLA_CLANG_FUNCTIONS(X)
#undef X
	if (!all)
		return;
	s = api.getClangVersion();
	snprintf(version, sizeof(version), "%s", api.getCString(s));
	api.disposeString(s);
	loaded = true;
}

int mla_clang_load(void)
{
	pthread_once(&once, load);
	if (!loaded)
		return mla_error(MLA_EPARSE, "libclang 19 or newer was not found: install "
		                             "libclang-19-dev and libclang-common-19-dev "
		                             "(Homebrew: llvm)");
	return 0;
}

const char *mla_clang_version(void)
{
	mla_clang_load();
	return version;
}

bool mla_clang_is_source(mla_str path)
{
	static const char *const ends[] = {".c",  ".h",  ".cc",  ".cpp", ".cxx", ".hpp",
	                                   ".hh", ".cu", ".cuh", ".m",   ".mm",  NULL};

	for (const char *const *e = ends; *e; e++)
		if (mla_str_ends(path, *e))
			return true;
	return false;
}

bool mla_clang_is_cuda(mla_str path)
{
	return mla_str_ends(path, ".cu") || mla_str_ends(path, ".cuh");
}

/* What the child leaves at the start of the region. */
typedef struct {
	mla_region region;
	mla_clang_tree tree;
	int error; /* CXErrorCode */
	bool done;
} shared;

void *mla_region_alloc(mla_region *r, size_t size)
{
	void *p = r->base + r->used;

	size = (size + 15) & ~(size_t)15;
	if (size > r->size - r->used)
		_exit(1);
	r->used += size;
	return p; /* fresh pages are zero */
}

static mla_str copy_string(mla_region *r, CXString s)
{
	const char *z = api.getCString(s);
	uint32_t n = z ? (uint32_t)strlen(z) : 0;
	char *p = mla_region_alloc(r, n + 1);

	if (n)
		memcpy(p, z, n);
	api.disposeString(s);
	return (mla_str){p, n};
}

static bool in_file(mla_lowering *l, CXSourceLocation at)
{
	return api.Location_isFromMainFile(at) != 0 && l->file != NULL;
}

/* "'ops/mul.h' file not found" */
static void note_missing(shared *s, mla_str *list, mla_str diagnostic)
{
	const char *end = diagnostic.len ? strrchr(diagnostic.ptr, '\'') : NULL;
	mla_str name = {diagnostic.ptr + 1, 0};

	if (!end || diagnostic.ptr[0] != '\'' || end == diagnostic.ptr)
		return;
	name.len = (uint32_t)(end - name.ptr);
	for (uint32_t i = 0; i < s->tree.missing_count; i++)
		if (mla_str_eq(list[i], name))
			return;
	list[s->tree.missing_count++] = name;
}

static void read_diagnostics(shared *s, mla_lowering *l, CXTranslationUnit unit)
{
	uint32_t n = api.getNumDiagnostics(unit);
	uint32_t *at = mla_region_alloc(&s->region, (n + 1) * sizeof(*at));
	mla_str *missing = mla_region_alloc(&s->region, (n + 1) * sizeof(*missing));
	uint32_t *lost = mla_region_alloc(&s->region, (n + 1) * sizeof(*lost));

	for (uint32_t i = 0; i < n; i++) {
		CXDiagnostic d = api.getDiagnostic(unit, i);
		CXSourceLocation where = api.getDiagnosticLocation(d);
		bool error = api.getDiagnosticSeverity(d) >= CXDiagnostic_Error;
		CXString category = api.getDiagnosticCategoryText(d);
		CXString text = api.getDiagnosticSpelling(d);
		const char *z = api.getCString(text);

		if (error && in_file(l, where) &&
		    strcmp(api.getCString(category), "Parse Issue") == 0)
			at[s->tree.error_count++] = mla_lower_offset(l, where);
		else if (error && in_file(l, where) && s->tree.missing_count)
			lost[s->tree.lost_count++] = mla_lower_offset(l, where);
		api.disposeString(category);
		if (error && strstr(z, "file not found"))
			note_missing(s, missing, copy_string(&s->region, text));
		else
			api.disposeString(text);
		api.disposeDiagnostic(d);
	}
	s->tree.error = at;
	s->tree.missing = missing;
	s->tree.lost = lost;
}

static void read_inactive(shared *s, mla_lowering *l, CXTranslationUnit unit)
{
	CXSourceRangeList *list = api.getSkippedRanges(unit, l->file);
	mla_span *v = mla_region_alloc(&s->region, (list->count + 1) * sizeof(*v));

	for (unsigned i = 0; i < list->count; i++) {
		v[i].start = mla_lower_offset(l, api.getRangeStart(list->ranges[i]));
		v[i].end = mla_lower_offset(l, api.getRangeEnd(list->ranges[i]));
	}
	s->tree.inactive = v;
	s->tree.inactive_count = list->count;
	api.disposeSourceRangeList(list);
}

typedef struct {
	mla_lowering *l;
	mla_arena *arena;
	mla_str root; /* with the slash behind it */
	MLA_VEC(mla_str) found;
} inclusions;

static void visit_inclusion(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
	inclusions *v = data;
	CXString name = v->l->api->getFileName(file);
	const char *z = v->l->api->getCString(name);
	mla_str path = mla_c_path_plain(v->arena, mla_str_c(z ? z : ""));

	(void)stack;
	if (depth && path.len > v->root.len && memcmp(path.ptr, v->root.ptr, v->root.len) == 0)
		mla_vec_push(&v->found,
		             ((mla_str){path.ptr + v->root.len, path.len - v->root.len}));
	v->l->api->disposeString(name);
}

/* Those below the root of the scan, which is what `path` has before the name in the scan. */
static void read_inclusions(shared *s, mla_lowering *l, CXTranslationUnit unit, const char *path)
{
	size_t name = strlen(mla_text_path(l->text)), whole = strlen(path);
	inclusions v = {.l = l, .arena = mla_arena_new()};
	mla_str *copy;

	v.root = (mla_str){path, (uint32_t)(whole > name ? whole - name : 0)};
	api.getInclusions(unit, visit_inclusion, &v);
	copy = mla_region_alloc(&s->region, (v.found.n + 1) * sizeof(*copy));
	for (uint32_t i = 0; i < v.found.n; i++) {
		char *p = mla_region_alloc(&s->region, v.found.v[i].len);

		memcpy(p, v.found.v[i].ptr, v.found.v[i].len);
		copy[i] = (mla_str){p, v.found.v[i].len};
	}
	s->tree.include = copy;
	s->tree.include_count = v.found.n;
}

static CXTranslationUnit parse_unit(shared *s, const char *path, mla_str bytes,
                                    const char *const *arguments, uint32_t n, bool retain)
{
	const unsigned flags = CXTranslationUnit_KeepGoing | CXTranslationUnit_Incomplete |
	                       CXTranslationUnit_DetailedPreprocessingRecord;
	struct CXUnsavedFile unsaved = {path, bytes.ptr, bytes.len};
	CXTranslationUnit unit = NULL;

	s->error = (int)api.parseTranslationUnit2(
		api.createIndex(0, 0), path, arguments, (int)n, &unsaved, 1,
		flags | (retain ? CXTranslationUnit_RetainExcludedConditionalBlocks : 0), &unit);
	return s->error ? NULL : unit;
}

/* May a query count be compared in what was left out? Only then is it worth a second parse. */
static bool compares_inactive(const shared *s, const mla_lowering *l)
{
	const mla_tokens *t = l->tokens;

	for (uint32_t i = 0; i < s->tree.inactive_count; i++) {
		mla_span span = s->tree.inactive[i];

		for (uint32_t k = mla_tokens_at(t, span.start);
		     k < t->n && t->v[k].span.end <= span.end; k++)
			if (mla_c_may_compare(l->text, t, k))
				return true;
	}
	return false;
}

/* What the parser gets: of CUDA, without what is no C++. */
static mla_str to_parse(shared *s, const mla_text *text, const mla_tokens *tokens, const char *path)
{
	mla_str bytes = mla_text_bytes(text);
	char *copy;

	if (!mla_clang_is_cuda(mla_str_c(path)))
		return bytes;
	copy = mla_region_alloc(&s->region, (size_t)bytes.len + 1);
	memcpy(copy, bytes.ptr, bytes.len);
	mla_clang_hide_launches(copy, bytes.len, tokens);
	return (mla_str){copy, bytes.len};
}

/* In the child. Nothing is given back: the process ends. */
static void run(shared *s, const mla_text *text, const mla_tokens *tokens, const char *path,
                const char *const *arguments, uint32_t n)
{
	mla_str bytes = to_parse(s, text, tokens, path);
	mla_lowering l = {.api = &api, .region = &s->region, .text = text, .tokens = tokens};
	CXTranslationUnit unit = parse_unit(s, path, bytes, arguments, n, false);

	if (!unit)
		return;
	l.file = api.getFile(unit, path);
	read_diagnostics(s, &l, unit);
	read_inactive(s, &l, unit);
	read_inclusions(s, &l, unit, path);
	s->tree.root = mla_clang_lower(&l, api.getTranslationUnitCursor(unit));
	if (compares_inactive(s, &l) && (unit = parse_unit(s, path, bytes, arguments, n, true))) {
		l.file = api.getFile(unit, path);
		s->tree.retained = mla_clang_lower(&l, api.getTranslationUnitCursor(unit));
	}
	s->done = true;
}

static void limit_child(void)
{
	int null = open("/dev/null", O_RDWR);
	struct rlimit cpu = {SECONDS, SECONDS + 1};

	setrlimit(RLIMIT_CPU, &cpu);
	alarm(WALL_SECONDS);
	if (null >= 0) /* what the library says when it fails is not for the user */
		dup2(null, STDERR_FILENO);
}

static int outcome(const shared *s, int status, const mla_text *text)
{
	const char *path = mla_text_path(text);

	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM ||
	                            WTERMSIG(status) == SIGKILL))
		return mla_error(MLA_ELIMIT, "%s: libclang needs more than %d s for it", path,
		                 SECONDS);
	if (WIFSIGNALED(status))
		return mla_error(MLA_EPARSE, "%s: libclang stopped with signal %d", path,
		                 WTERMSIG(status));
	if (WEXITSTATUS(status))
		return mla_error(MLA_ELIMIT, "%s: its tree is larger than %zu MB", path,
		                 TREE_BYTES >> 20);
	if (!s->done)
		return mla_error(MLA_EPARSE, "%s: libclang refuses it (error %d)", path, s->error);
	return 0;
}

/* Gives back what was not used of the region. */
static void keep_used(shared *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (s->region.used + page - 1) / page * page;

	if (used < TREE_BYTES)
		munmap(s->region.base + used, TREE_BYTES - used);
	s->tree.memory = s->region.base;
	s->tree.size = used;
}

static void mark_errors(mla_clang_tree *t)
{
	for (uint32_t i = 0; i < t->error_count; i++) {
		const mla_span point = {t->error[i], t->error[i] + 1};

		for (mla_node *n = mla_node_at(t->root, point); n; n = n->parent)
			n->has_error = true;
	}
}

int mla_clang_parse(mla_clang_tree *out, const mla_text *text, const mla_tokens *tokens,
                    const char *path, const char *const *arguments, uint32_t argument_count)
{
	void *memory;
	shared *s;
	pid_t child;
	int status = 0, error = mla_clang_load();

	if (error < 0)
		return error;
	memory = mmap(NULL, TREE_BYTES, PROT_READ | PROT_WRITE,
	              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return mla_error(MLA_ELIMIT, "no memory for the tree of %s", path);
	s = memory;
	s->region = (mla_region){memory, (sizeof(*s) + 15) & ~(size_t)15, TREE_BYTES};
	child = fork();
	if (child == 0) {
		limit_child();
		run(s, text, tokens, path, arguments, argument_count);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	error = child < 0 ? mla_error(MLA_ELIMIT, "no process for %s: %s", path, strerror(errno))
	                  : outcome(s, status, text);
	if (error < 0) {
		munmap(memory, TREE_BYTES);
		return error;
	}
	keep_used(s);
	*out = s->tree;
	mark_errors(out);
	return 0;
}

void mla_clang_free(mla_clang_tree *t)
{
	if (t->memory)
		munmap(t->memory, t->size);
	t->memory = NULL;
}

/* compile_commands.json and the defaults. */
#include "analyzer/c_arguments.h"

#include "analyzer/c_headers.h"
#include "analyzer/clang.h"
#include "analyzer/str.h"
#include "analyzer/vec.h"

#include <dirent.h>
#include <jansson.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	char *folder;
	json_t *commands; /* NULL: there is no such file there, or it is none */
} database;

struct mla_c_arguments {
	char *root;
	pthread_mutex_t lock;
	MLA_VEC(database) databases;
	mla_c_headers *headers;
};

typedef MLA_VEC(const char *) words;

mla_c_arguments *mla_c_arguments_new(const char *root)
{
	mla_c_arguments *a = mla_alloc(sizeof(*a));

	a->root = mla_alloc(strlen(root) + 1);
	memcpy(a->root, root, strlen(root));
	pthread_mutex_init(&a->lock, NULL);
	a->headers = mla_c_headers_new(root);
	return a;
}

void mla_c_arguments_free(mla_c_arguments *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->databases.n; i++) {
		free(a->databases.v[i].folder);
		json_decref(a->databases.v[i].commands);
	}
	mla_vec_free(&a->databases);
	mla_c_headers_free(a->headers);
	pthread_mutex_destroy(&a->lock);
	free(a->root);
	free(a);
}

mla_str mla_c_path_plain(mla_arena *arena, mla_str path)
{
	char *p = mla_arena_alloc(arena, (size_t)path.len + 1);
	uint32_t n = 0, i = 0;

	while (i < path.len) {
		uint32_t end = i;

		while (end < path.len && path.ptr[end] != '/')
			end++;
		if (end - i == 2 && memcmp(path.ptr + i, "..", 2) == 0 && n > 1) {
			while (n > 0 && p[n - 1] != '/')
				n--;
			n -= n > 1;
			while (n > 0 && p[n - 1] == '/')
				n--;
		} else if (end > i && !(end - i == 1 && path.ptr[i] == '.')) {
			if (n || path.ptr[0] == '/')
				p[n++] = '/';
			memcpy(p + n, path.ptr + i, end - i);
			n += end - i;
		}
		i = end + 1;
	}
	return (mla_str){p, n};
}

static mla_str join(mla_arena *arena, const char *folder, const char *path)
{
	if (path[0] == '/')
		return mla_c_path_plain(arena, mla_str_c(path));
	return mla_c_path_plain(arena, mla_arena_format(arena, "%s/%s", folder, path));
}

const char *mla_c_arguments_absolute(const mla_c_arguments *a, mla_arena *arena, const char *path)
{
	return mla_arena_format(arena, "%s/%s", strcmp(a->root, "/") ? a->root : "", path).ptr;
}

/* The database in `folder`, read once. The lock is held. */
static json_t *commands_in(mla_c_arguments *a, const char *folder)
{
	char path[4096];
	json_t *commands = NULL;
	char *copy;

	for (uint32_t i = 0; i < a->databases.n; i++)
		if (strcmp(a->databases.v[i].folder, folder) == 0)
			return a->databases.v[i].commands;
	if ((size_t)snprintf(path, sizeof(path), "%s/compile_commands.json", folder) < sizeof(path))
		commands = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	if (commands && !json_is_array(commands)) {
		json_decref(commands);
		commands = NULL;
	}
	copy = mla_alloc(strlen(folder) + 1);
	memcpy(copy, folder, strlen(folder));
	mla_vec_push(&a->databases, ((database){copy, commands}));
	return commands;
}

/* Splits a command line as a shell does, without expanding anything. */
static void split(words *out, mla_arena *arena, const char *s)
{
	while (*s) {
		char *word, *w;
		char quote = 0;

		while (*s == ' ' || *s == '\t' || *s == '\n')
			s++;
		if (!*s)
			break;
		word = w = mla_arena_alloc(arena, strlen(s) + 1);
		for (; *s && (quote || !strchr(" \t\n", *s)); s++) {
			if (*s == quote)
				quote = 0;
			else if (!quote && (*s == '"' || *s == '\''))
				quote = *s;
			else if (*s == '\\' && quote != '\'' && s[1])
				*w++ = *++s;
			else
				*w++ = *s;
		}
		mla_vec_push(out, word);
	}
}

static void push_once(words *out, const char *flag, const char *value)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (strcmp(out->v[i], flag) == 0 &&
		    (!value || (i + 1 < out->n && strcmp(out->v[i + 1], value) == 0)))
			return;
	mla_vec_push(out, flag);
	if (value)
		mla_vec_push(out, value);
}

/* Keeps the flags that change what the source means; folders are made absolute. */
static void keep_flags(words *out, mla_arena *arena, const words *command, const char *folder)
{
	static const char *const with_path[] = {"-isystem", "-iquote", "-include", "-I", NULL};

	for (uint32_t i = 1; i < command->n; i++) {
		mla_str w = mla_str_c(command->v[i]);
		const char *next = i + 1 < command->n ? command->v[i + 1] : NULL;
		bool done = false;

		for (const char *const *p = with_path; *p && !done; p++) {
			if (!mla_str_starts(w, *p))
				continue;
			done = true;
			if (w.len > strlen(*p))
				push_once(out, *p, join(arena, folder, w.ptr + strlen(*p)).ptr);
			else if (next)
				push_once(out, *p, join(arena, folder, next).ptr);
		}
		if (done)
			continue;
		if (mla_str_starts(w, "-D") || mla_str_starts(w, "-U")) {
			if (w.len > 2)
				push_once(out, w.ptr, NULL);
			else if (next)
				push_once(out, w.ptr, next);
		} else if (mla_str_starts(w, "-std=")) {
			push_once(out, w.ptr, NULL);
		} else if (mla_str_is(w, "-x") && next) {
			push_once(out, "-x", next);
		}
	}
}

static const char *text_of(json_t *entry, const char *key)
{
	const char *s = json_string_value(json_object_get(entry, key));

	return s ? s : "";
}

/* Adds the flags of every entry of `path`; or with `any`, of the first entry at all: a header has
 * none of its own. */
static bool add_entries(words *out, mla_arena *arena, json_t *commands, const char *folder,
                        const char *path, bool any)
{
	bool found = false;

	for (size_t i = 0; i < json_array_size(commands) && !(any && found); i++) {
		json_t *entry = json_array_get(commands, i);
		json_t *list = json_object_get(entry, "arguments");
		mla_str directory = join(arena, folder, text_of(entry, "directory"));
		words command = {0};

		if (!any && !mla_str_is(join(arena, directory.ptr, text_of(entry, "file")), path))
			continue;
		for (size_t k = 0; k < json_array_size(list); k++) {
			const char *s = json_string_value(json_array_get(list, k));

			mla_vec_push(&command, s ? s : "");
		}
		if (!json_array_size(list))
			split(&command, arena, text_of(entry, "command"));
		keep_flags(out, arena, &command, directory.ptr);
		mla_vec_free(&command);
		found = true;
	}
	return found;
}

/* The flags of the nearest database that knows the file: upwards to the root, or in build/. */
static bool from_database(words *out, mla_c_arguments *a, mla_arena *arena, const char *path,
                          bool header)
{
	char folder[4096];
	bool found = false;

	snprintf(folder, sizeof(folder), "%s", path);
	pthread_mutex_lock(&a->lock);
	while (!found && strlen(folder) > strlen(a->root)) {
		char build[4200];
		char *slash = strrchr(folder, '/');

		*slash = '\0';
		snprintf(build, sizeof(build), "%s/build", folder);
		for (int i = 0; i < 2 && !found; i++) {
			const char *where = i ? build : folder;
			json_t *commands = commands_in(a, where);

			found = commands && add_entries(out, arena, commands, where, path, header);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return found;
}

typedef enum { C, CXX, OBJC, OBJCXX } language;

/* A header is what it is written in. */
static language header_language(mla_str bytes, const mla_tokens *t)
{
	static const char *const words_of_cxx[] = {"class",       "namespace", "template",
	                                           "constexpr",   "nullptr",   "typename",
	                                           "static_cast", "virtual",   NULL};

	for (uint32_t i = 0; i < t->n; i++) {
		mla_str s = {bytes.ptr + t->v[i].span.start, t->v[i].span.end - t->v[i].span.start};

		if (t->v[i].directive)
			continue;
		if (mla_str_is(s, "::") ||
		    (t->v[i].kind == MLA_TOKEN_NAME && mla_str_in(s, words_of_cxx)))
			return CXX;
		if (mla_str_is(s, "@"))
			return OBJC;
	}
	return C;
}

static language language_of(const char *path, mla_str bytes, const mla_tokens *t)
{
	mla_str p = mla_str_c(path);

	if (mla_str_ends(p, ".c"))
		return C;
	if (mla_str_ends(p, ".h"))
		return header_language(bytes, t);
	if (mla_str_ends(p, ".m"))
		return OBJC;
	return mla_str_ends(p, ".mm") ? OBJCXX : CXX;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* base/NAME/include and base/NAME/src: a repository with its libraries beside its sources. */
static void add_components(words *out, mla_arena *arena, const char *base)
{
	static const char *const below[] = {"include", "src", NULL};
	DIR *dir = opendir(base);
	struct dirent *d;
	words found = {0};

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			mla_vec_push(&found, mla_arena_dup(arena, mla_str_c(d->d_name)).ptr);
	if (dir)
		closedir(dir);
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_name);
	for (const char *const *b = below; *b; b++)
		for (uint32_t i = 0; i < found.n; i++) {
			mla_str folder = mla_arena_format(arena, "%s/%s/%s", base, found.v[i], *b);

			if (is_folder(folder.ptr))
				push_once(out, "-I", folder.ptr);
		}
	mla_vec_free(&found);
}

static void add_base(words *out, mla_arena *arena, const char *base)
{
	static const char *const below[] = {"", "/include", "/src", NULL};

	for (const char *const *b = below; *b; b++)
		push_once(out, "-I", mla_arena_format(arena, "%s%s", base, *b).ptr);
	add_components(out, arena, base);
}

/* The folder above a root that is only part of a project: `src` beside `include`. NULL: none. */
static const char *above_root(const mla_c_arguments *a, mla_arena *arena)
{
	char *above = (char *)mla_arena_dup(arena, mla_str_c(a->root)).ptr;
	char *slash = strrchr(above, '/');

	if (is_folder(mla_arena_format(arena, "%s/.git", a->root).ptr) || !slash || slash == above)
		return NULL;
	*slash = '\0';
	return is_folder(mla_arena_format(arena, "%s/include", above).ptr) ? above : NULL;
}

/* A project of its own: a scan may begin above several. */
static bool is_project(mla_arena *arena, const char *folder)
{
	return is_folder(mla_arena_format(arena, "%s/include", folder).ptr) ||
	       access(mla_arena_format(arena, "%s/.git", folder).ptr, F_OK) == 0;
}

static void add_defaults(words *out, mla_c_arguments *a, mla_arena *arena, const char *path)
{
	const char *above = above_root(a, arena);
	char folder[4096];

	/* The file's own folder and those above it. */
	snprintf(folder, sizeof(folder), "%s", path);
	while (strlen(folder) > strlen(a->root)) {
		*strrchr(folder, '/') = '\0';
		if (folder[0])
			push_once(out, "-I", mla_arena_dup(arena, mla_str_c(folder)).ptr);
		if (folder[0] && is_project(arena, folder))
			add_base(out, arena, folder);
	}
	add_base(out, arena, a->root);
	if (above)
		add_base(out, arena, above);
}

static void add_cuda(words *out)
{
	static const char *const empty[] = {"-D__global__=",        "-D__device__=",
	                                    "-D__host__=",          "-D__shared__=",
	                                    "-D__constant__=",      "-D__managed__=",
	                                    "-D__grid_constant__=", "-D__forceinline__=",
	                                    "-D__noinline__=",      "-D__launch_bounds__(...)="};

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++)
		mla_vec_push(out, empty[i]);
}

void mla_c_arguments_for(mla_argument_list *out, mla_c_arguments *a, mla_arena *arena,
                         const char *path, mla_str bytes, const mla_tokens *tokens)
{
	static const char *const names[] = {"c", "c++", "objective-c", "objective-c++"};
	static const char *const standards[] = {"-std=gnu11", "-std=c++17", "-std=gnu11",
	                                        "-std=c++17"};
	const char *absolute = mla_c_arguments_absolute(a, arena, path);
	mla_str p = mla_str_c(path);
	bool header = mla_str_ends(p, ".h") || mla_str_ends(p, ".hpp") || mla_str_ends(p, ".hh") ||
	              mla_str_ends(p, ".cuh");
	language is = language_of(path, bytes, tokens);
	words list = {0}, kept = {0};
	const char **copy;

	mla_vec_push(&list, "-x");
	mla_vec_push(&list, names[is]);
	mla_vec_push(&list, standards[is]);
	mla_vec_push(&list, "-ferror-limit=0");
	mla_vec_push(&list, "-w");
	if (mla_clang_is_cuda(p))
		add_cuda(&list);
	/* What comes later wins. A header keeps its own language. */
	if (from_database(&kept, a, arena, absolute, false) ||
	    (header && from_database(&kept, a, arena, absolute, true))) {
		for (uint32_t i = 0; i < kept.n; i++) {
			bool standard = strncmp(kept.v[i], "-std=", 5) == 0;
			bool fits = !header && (strstr(kept.v[i], "++") != NULL) == (is & 1);

			if (strcmp(kept.v[i], "-x") == 0)
				i++; /* said by the name of the file */
			else if (!standard || fits)
				mla_vec_push(&list, kept.v[i]);
		}
	} else {
		add_defaults(&list, a, arena, absolute);
	}
	copy = mla_arena_array(arena, list.n + 1, sizeof(*copy));
	memcpy(copy, list.v, list.n * sizeof(*copy));
	*out = (mla_argument_list){copy, list.n};
	mla_vec_free(&list);
	mla_vec_free(&kept);
}

bool mla_c_arguments_find(mla_argument_list *list, mla_c_arguments *a, mla_arena *arena,
                          const char *path, const mla_str *header, uint32_t n)
{
	const char *absolute = mla_c_arguments_absolute(a, arena, path);
	words all = {0};
	const char **copy;
	bool found;

	for (uint32_t i = 0; i < list->n; i++)
		mla_vec_push(&all, list->v[i]);
	for (uint32_t i = 0; i < n; i++) {
		const char *folder = mla_c_headers_folder(a->headers, arena, absolute, header[i]);

		if (folder)
			push_once(&all, "-I", folder);
	}
	found = all.n > list->n;
	copy = mla_arena_array(arena, all.n, sizeof(*copy));
	memcpy(copy, all.v, all.n * sizeof(*copy));
	*list = (mla_argument_list){copy, all.n};
	mla_vec_free(&all);
	return found;
}

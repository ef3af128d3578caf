/* Headers by name. The folders are read level by level, and no more than a bounded number. */
#include "analyzer/c_headers.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

/* Enough for the largest public runtimes; a root with more is no project. */
enum { ENTRIES_MAX = 100000 };

typedef MLA_VEC(const char *) paths;

struct mla_c_headers {
	const char *root;
	mla_arena *arena;
	pthread_mutex_t lock;
	bool read;
	paths found; /* absolute */
};

mla_c_headers *mla_c_headers_new(const char *root)
{
	mla_c_headers *h = mla_alloc(sizeof(*h));

	h->arena = mla_arena_new();
	h->root = mla_arena_dup(h->arena, mla_str_c(root)).ptr;
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

void mla_c_headers_free(mla_c_headers *h)
{
	if (!h)
		return;
	mla_vec_free(&h->found);
	mla_arena_free(h->arena);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static bool is_header(const char *name)
{
	static const char *const ends[] = {".h",   ".hpp", ".hh",  ".hxx",
	                                   ".cuh", ".inc", ".inl", NULL};

	for (const char *const *e = ends; *e; e++)
		if (mla_str_ends(mla_str_c(name), *e))
			return true;
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Hidden ones and links are left out. False: that was one entry too many. */
static bool read_folder(mla_c_headers *h, paths *folders, const char *folder, uint32_t *entries)
{
	DIR *dir = opendir(folder);
	uint32_t first = folders->n;
	struct dirent *d;

	while (dir && *entries < ENTRIES_MAX && (d = readdir(dir))) {
		const char *path;
		struct stat st;

		++*entries;
		if (d->d_name[0] == '.')
			continue;
		path = mla_arena_format(h->arena, "%s/%s", folder, d->d_name).ptr;
		if (lstat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			mla_vec_push(folders, path);
		else if (S_ISREG(st.st_mode) && is_header(d->d_name))
			mla_vec_push(&h->found, path);
	}
	if (dir)
		closedir(dir);
	if (folders->n > first)
		qsort(folders->v + first, folders->n - first, sizeof(*folders->v), by_name);
	return *entries < ENTRIES_MAX;
}

static void read_all(mla_c_headers *h)
{
	paths folders = {0};
	uint32_t entries = 0;

	mla_vec_push(&folders, h->root);
	for (uint32_t i = 0; i < folders.n && read_folder(h, &folders, folders.v[i], &entries); i++)
		;
	mla_vec_free(&folders);
}

static uint32_t folders_in(const char *path)
{
	uint32_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

static uint32_t folders_in_common(const char *a, const char *b)
{
	uint32_t n = 0;

	for (; *a && *a == *b; a++, b++)
		n += *a == '/';
	return n;
}

static bool is_better(const char *path, const char *a, const char *b)
{
	uint32_t near_a = folders_in_common(path, a), near_b = folders_in_common(path, b);

	if (near_a != near_b)
		return near_a > near_b;
	if (folders_in(a) != folders_in(b))
		return folders_in(a) < folders_in(b);
	return strcmp(a, b) < 0;
}

static bool is_named(const char *path, mla_str name)
{
	size_t n = strlen(path);

	return n > name.len && path[n - name.len - 1] == '/' &&
	       memcmp(path + n - name.len, name.ptr, name.len) == 0;
}

const char *mla_c_headers_folder(mla_c_headers *h, mla_arena *arena, const char *path, mla_str name)
{
	const char *best = NULL;

	if (!name.len)
		return NULL;
	pthread_mutex_lock(&h->lock);
	if (!h->read)
		read_all(h);
	h->read = true;
	pthread_mutex_unlock(&h->lock);
	for (uint32_t i = 0; i < h->found.n; i++)
		if (is_named(h->found.v[i], name) &&
		    (!best || is_better(path, h->found.v[i], best)))
			best = h->found.v[i];
	return best ? mla_arena_dup(arena, (mla_str){best, (uint32_t)(strlen(best) - name.len - 1)})
	                       .ptr
	            : NULL;
}

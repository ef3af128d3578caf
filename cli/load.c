/* A few threads take files off one list. All that is shared is the index of the next file. */
#include "cli/load.h"

#include "analyzer/str.h"
#include "cli/prefilter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
	mla_load *v;
	uint32_t n;
	bool with_kept, with_loaders;
	mla_prefilter *prefilter;
	mla_base_names *names; /* of the second look; NULL in the first */
	atomic_uint next;
	atomic_size_t kept; /* bytes of files for the second look */
	atomic_int error;
	char message[256]; /* of the thread that set error first */
} work;

static void fail(mla_file *f, mla_file_state state)
{
	f->state = state;
	snprintf(f->reason, sizeof(f->reason), "%s", mla_error_last());
}

/* A file that was named is worth a parse: what it derives from may not have been named. */
static bool is_candidate(const work *w, const mla_file *f, mla_str bytes)
{
	if (mla_clang_is_source(mla_str_c(f->path)))
		return !w->names && mla_prefilter_c(bytes);
	if (w->names)
		return mla_base_names_candidate(w->names, bytes);
	if (w->with_loaders && mla_prefilter_loads(bytes))
		return true;
	return ((w->with_kept || f->named) && mla_prefilter_listed(bytes)) ||
	       mla_prefilter_candidate(w->prefilter, bytes);
}

/* Python reads no such source either; UTF-16 is the usual reason. */
static bool is_text(mla_file *f, mla_str bytes)
{
	bool utf16 = bytes.len > 1 && (memcmp(bytes.ptr, "\xFF\xFE", 2) == 0 ||
	                               memcmp(bytes.ptr, "\xFE\xFF", 2) == 0);

	if (!utf16 && (!bytes.len || !memchr(bytes.ptr, '\0', bytes.len)))
		return true;
	mla_error(MLA_EPARSE, "not text: %s", utf16 ? "UTF-16" : "it holds NUL bytes");
	fail(f, MLA_FILE_SKIPPED);
	return false;
}

/* Reading a file once more costs more than its bytes do, up to some size of a repository. */
static void keep(mla_load *l, work *w, mla_str bytes)
{
	enum { KEEP_MAX = 4 << 20 };
	char *copy;

	if (atomic_fetch_add(&w->kept, bytes.len) + bytes.len > KEEP_MAX)
		return;
	copy = mla_alloc((size_t)bytes.len + 1);
	if (bytes.len)
		memcpy(copy, bytes.ptr, bytes.len);
	l->bytes = (mla_str){copy, bytes.len};
}

static void parse_c(mla_load *l, mla_text *text)
{
	if (mla_c_module_parse(&l->module, l->c, text) < 0) {
		l->module = NULL;
		fail(l->file, MLA_FILE_FAILED);
		mla_text_free(text);
	}
}

static void parse(mla_load *l, mla_python *python, mla_text *text)
{
	if (mla_clang_is_source(mla_str_c(l->file->path))) {
		parse_c(l, text);
		return;
	}
	if (mla_module_parse(&l->module, python, text) < 0) {
		l->module = NULL;
		fail(l->file, MLA_FILE_FAILED);
	}
}

/* Standard input has its text already. */
static void load_given(mla_load *l, const work *w, mla_python *python)
{
	mla_text *text = l->file->text;
	mla_str bytes = mla_text_bytes(text);

	l->file->text = NULL;
	if (is_text(l->file, bytes) && is_candidate(w, l->file, bytes))
		parse(l, python, text);
	else
		mla_text_free(text);
}

static void load(mla_load *l, work *w, mla_python *python, mla_bytes *buffer)
{
	mla_str bytes = l->bytes;
	struct stat st;
	mla_text *text;
	int error;

	if (!bytes.ptr) {
		error = mla_file_bytes(buffer, &st, l->tree, l->file->path);
		if (error) {
			if (error > 0)
				mla_error(MLA_EIO, "vanished while the scan ran");
			fail(l->file, error == MLA_ELIMIT ? MLA_FILE_SKIPPED : MLA_FILE_FAILED);
			return;
		}
		bytes = (mla_str){buffer->ptr, (uint32_t)buffer->len};
		if (!is_text(l->file, bytes))
			return;
	}
	if (!is_candidate(w, l->file, bytes)) {
		if (!w->names)
			keep(l, w, bytes);
	} else if (mla_text_new(&text, l->file->path, bytes) == 0) {
		parse(l, python, text);
	}
}

static bool is_done(const mla_load *l)
{
	return l->module || l->file->state != MLA_FILE_CHECKED;
}

static void *run(void *argument)
{
	work *w = argument;
	mla_bytes buffer = {0};
	mla_python *python;
	uint32_t i;

	if (mla_python_new(&python) < 0) {
		int none = 0;

		if (atomic_compare_exchange_strong(&w->error, &none, MLA_EPARSE))
			snprintf(w->message, sizeof(w->message), "%s", mla_error_last());
		return NULL;
	}
	while ((i = atomic_fetch_add(&w->next, 1)) < w->n) {
		if (is_done(&w->v[i]))
			continue;
		if (w->v[i].file->text)
			load_given(&w->v[i], w, python);
		else
			load(&w->v[i], w, python, &buffer);
	}
	free(buffer.ptr);
	mla_python_free(python);
	return NULL;
}

static int run_all(work *w, uint32_t threads)
{
	enum { MAX_THREADS = 256, FILES_PER_THREAD = 16 };
	pthread_t thread[MAX_THREADS];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t started = 0;

	if (!threads)
		threads = processors > 0 ? (uint32_t)processors : 1;
	if (threads > w->n / FILES_PER_THREAD + 1)
		threads = w->n / FILES_PER_THREAD + 1;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	while (started + 1 < threads && pthread_create(&thread[started], NULL, run, w) == 0)
		started++;
	run(w);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (w->error)
		return mla_error(w->error, "%s", w->message);
	return 0;
}

int mla_load_all(mla_load *v, uint32_t n, uint32_t threads, bool with_kept, bool with_loaders)
{
	work w = {.v = v,
	          .n = n,
	          .with_kept = with_kept,
	          .with_loaders = with_loaders,
	          .prefilter = mla_prefilter_new()};
	int error = run_all(&w, threads);

	mla_prefilter_free(w.prefilter);
	return error;
}

int mla_load_derived(mla_load *v, uint32_t n, uint32_t threads, const char *const *names)
{
	work w = {.v = v, .n = n, .names = mla_base_names_new(names)};
	int error = run_all(&w, threads);

	mla_base_names_free(w.names);
	return error;
}

void mla_load_free(mla_load *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free((char *)v[i].bytes.ptr);
}

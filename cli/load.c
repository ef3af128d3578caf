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
	bool with_kept;
	const mla_prefilter *prefilter;
	atomic_uint next;
	atomic_int error;
	char message[256]; /* of the thread that set error first */
} work;

static void fail(mla_file *f, mla_file_state state)
{
	f->state = state;
	snprintf(f->reason, sizeof(f->reason), "%s", mla_error_last());
}

static bool is_candidate(const work *w, mla_str bytes)
{
	return w->with_kept ? mla_prefilter_listed(bytes)
	                    : mla_prefilter_candidate(w->prefilter, bytes);
}

static void parse(mla_load *l, mla_python *python, mla_text *text)
{
	if (mla_module_parse(&l->module, python, text) < 0) {
		l->module = NULL;
		fail(l->file, MLA_FILE_FAILED);
	}
}

/* Standard input has its text already. */
static void load_given(mla_load *l, const work *w, mla_python *python)
{
	mla_text *text = l->file->text;

	l->file->text = NULL;
	if (is_candidate(w, mla_text_bytes(text)))
		parse(l, python, text);
	else
		mla_text_free(text);
}

static void load(mla_load *l, const work *w, mla_python *python, mla_bytes *buffer)
{
	struct stat st;
	mla_text *text;
	mla_str bytes;
	int error = mla_file_bytes(buffer, &st, l->tree, l->file->path);

	if (error) {
		if (error > 0)
			mla_error(MLA_EIO, "vanished while the scan ran");
		fail(l->file, error == MLA_ELIMIT ? MLA_FILE_SKIPPED : MLA_FILE_FAILED);
		return;
	}
	bytes = (mla_str){buffer->ptr, (uint32_t)buffer->len};
	if (is_candidate(w, bytes) && mla_text_new(&text, l->file->path, bytes) == 0)
		parse(l, python, text);
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
		if (w->v[i].file->text)
			load_given(&w->v[i], w, python);
		else
			load(&w->v[i], w, python, &buffer);
	}
	free(buffer.ptr);
	mla_python_free(python);
	return NULL;
}

int mla_load_all(mla_load *v, uint32_t n, uint32_t threads, bool with_kept)
{
	enum { MAX_THREADS = 256, FILES_PER_THREAD = 16 };
	pthread_t thread[MAX_THREADS];
	work w = {.v = v, .n = n, .with_kept = with_kept};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t started = 0;

	if (!threads)
		threads = processors > 0 ? (uint32_t)processors : 1;
	if (threads > n / FILES_PER_THREAD + 1)
		threads = n / FILES_PER_THREAD + 1;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	w.prefilter = mla_prefilter_new();
	while (started + 1 < threads && pthread_create(&thread[started], NULL, run, &w) == 0)
		started++;
	run(&w);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	mla_prefilter_free((mla_prefilter *)w.prefilter);
	if (w.error)
		return mla_error(w.error, "%s", w.message);
	return 0;
}

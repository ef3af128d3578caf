/* Makes the patched project of each fix and asks the engine, several at a time. Writes nothing. */
#include "cli/replay.h"

#include "analyzer/str.h"
#include "engine/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A tree, with some files as a fix leaves them. */
typedef struct {
	const mla_tree *tree;
	mla_changes changes;
	mla_project *after; /* NULL: there is no fix */
} patched;

/* Packed operands and partial results of one thread; real layers need a tenth. */
#define BACKEND_BYTES ((uint64_t)512 << 20)

enum { MAX_THREADS = 64 };

/* A thread has its own backend: engines share one only where nothing runs at the same time. */
typedef struct {
	struct work *w;
	mla_backend *backend;
} worker;

typedef struct work {
	const mla_scan *s;
	mla_verdict *v;
	patched *after;
	worker worker[MAX_THREADS];
	uint32_t workers, n, next, done;
	bool shown;
	struct timespec start;
	pthread_mutex_t lock;
} work;

static int read_patched(mla_text **out, void *payload, const char *path)
{
	const patched *p = payload;
	struct stat st;

	for (uint32_t i = 0; i < p->changes.n; i++)
		if (strcmp(p->changes.v[i].module->path, path) == 0)
			return mla_text_new(out, path, p->changes.v[i].after);
	return mla_file_read(out, &st, p->tree, path);
}

static int make_patched(patched *out, const mla_scan *s, const mla_verdict *v)
{
	bool applied = false;

	*out = (patched){.tree = v->tree->tree};
	if (!v->fix->edits.n)
		return 0;
	mla_apply(&out->changes, &applied, s->arena, &v->fix, 1);
	return mla_project_new(&out->after, (mla_reader){read_patched, out});
}

static void measure_tails(mla_verdict *v, const mla_site_options *options)
{
	mla_tail_check_options o = {.geometry = v->result.geometry,
	                            .bits = v->result.bits,
	                            .seed = options->seed,
	                            .cache_len = options->cache_len,
	                            .backend = options->backend};

	v->has_tails = mla_tail_check_run(&v->tails, &o) == 0;
}

static void replay_pool(work *w, uint32_t i, const mla_site_options *options)
{
	mla_verdict *v = &w->v[i];

	if (v->fix->pool->module->c)
		snprintf(v->pool.reason, sizeof(v->pool.reason),
		         "the arms of C code are not executed");
	else
		mla_pool_verify(&v->pool, v->tree->project, w->after[i].after, v->fix->pool,
		                options);
	v->result = (mla_site_verdict){.outcome = v->pool.outcome};
	memcpy(v->result.reason, v->pool.reason, sizeof(v->result.reason));
}

static void replay(work *w, uint32_t i, mla_backend *backend)
{
	enum { SEED = 1 };
	mla_verdict *v = &w->v[i];
	mla_settings sizes = w->s->sizes;
	mla_site_options options = {.settings = &sizes, .seed = SEED, .backend = backend};

	sizes.geometry = mla_scan_settings(v->tree, v->fix)->geometry;
	if (v->fix->pool) {
		replay_pool(w, i, &options);
		return;
	}
	if (v->fix->site->module->c) {
		v->result = (mla_site_verdict){.outcome = MLA_UNVERIFIED, .bits = 4};
		snprintf(v->result.reason, sizeof(v->result.reason),
		         "the arms of C code are not executed");
		mla_site_geometry(&v->result, &v->fix->site->latent);
		if (v->fix->edits.n)
			measure_tails(v, &options);
		return;
	}
	v->whole_call = v->fix->form == MLA_FORM_CACHE_LENGTH;
	if (v->whole_call)
		options.cache_len = MLA_REPLAY_CACHE_LEN;
	mla_site_verify(&v->result, v->tree->project, w->after[i].after, v->fix->site, &options);
	if (v->result.outcome == MLA_UNVERIFIED && w->after[i].after && !v->result.limited)
		measure_tails(v, &options);
}

static void show(work *w, bool end)
{
	struct timespec now;

	if (w->s->options->quiet || !isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (end && w->shown)
		fprintf(stderr, "\r%40s\r", "");
	else if (!end && now.tv_sec > w->start.tv_sec) {
		fprintf(stderr, "\rmlalint: %u of %u sites replayed ", w->done, w->n);
		w->shown = true;
	}
	fflush(stderr);
}

static void *run(void *payload)
{
	const worker *own = payload;
	work *w = own->w;

	for (;;) {
		uint32_t i;

		pthread_mutex_lock(&w->lock);
		i = w->next++;
		pthread_mutex_unlock(&w->lock);
		if (i >= w->n)
			return NULL;
		replay(w, i, own->backend);
		pthread_mutex_lock(&w->lock);
		w->done++;
		show(w, false);
		pthread_mutex_unlock(&w->lock);
	}
}

/* A replay nests as deep as its limits allow; the stack of a thread is made for that. */
static void run_threads(work *w)
{
	enum { STACK = 64 << 20 };
	pthread_t thread[MAX_THREADS];
	pthread_attr_t attributes;
	uint32_t n = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	while (n < w->workers && pthread_create(&thread[n], &attributes, run, &w->worker[n]) == 0)
		n++;
	if (!n)
		run(&w->worker[0]);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_attr_destroy(&attributes);
}

/* One for each thread, and one in any case: a name that is wrong is wrong without a site too. */
static int open_backends(work *w)
{
	const char *name = w->s->options->backend ? w->s->options->backend : "cpu";
	/* The sites run side by side already; more threads would only wait for each other. */
	mla_backend_options options = {.threads = 1, .max_bytes = BACKEND_BYTES};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t want = w->s->options->jobs;
	int error;

	if (!want)
		want = processors > 0 ? (uint32_t)processors : 1;
	want = want > w->n ? w->n : want;
	want = want > MAX_THREADS ? MAX_THREADS : want;
	do {
		worker *own = &w->worker[w->workers];

		if ((error = mla_backend_open(&own->backend, name, &options)) < 0)
			return error;
		own->w = w;
	} while (++w->workers < want);
	return 0;
}

static void describe(mla_replay_device *out, const mla_backend *b)
{
	size_t kind = strcspn(mla_backend_name(b), " ");

	snprintf(out->label, sizeof(out->label), "%s", mla_backend_name(b));
	snprintf(out->kind, sizeof(out->kind), "%.*s", (int)kind, out->label);
	snprintf(out->note, sizeof(out->note), "%s", mla_backend_note(b));
}

int mla_replay_all(mla_replay_device *device, const mla_scan *s, mla_verdict *v, uint32_t n)
{
	work w = {.s = s, .v = v, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER};
	int error;

	clock_gettime(CLOCK_MONOTONIC, &w.start);
	w.after = mla_arena_array(s->arena, n, sizeof(*w.after));
	if ((error = open_backends(&w)) == 0)
		describe(device, w.worker[0].backend);
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = make_patched(&w.after[i], s, &v[i]);
	if (error == 0)
		run_threads(&w);
	show(&w, true);
	for (uint32_t i = 0; i < n; i++)
		mla_project_free(w.after[i].after);
	for (uint32_t i = 0; i < w.workers; i++)
		mla_backend_free(w.worker[i].backend);
	return error;
}

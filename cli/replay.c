/* Makes the patched project of each fix and asks the engine, several at a time. Writes nothing. */
#include "cli/replay.h"

#include "analyzer/str.h"

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

typedef struct {
	const mla_scan *s;
	mla_verdict *v;
	patched *after;
	uint32_t n, next, done;
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

static void replay(work *w, uint32_t i)
{
	enum { SEED = 1 };
	mla_site_options options = {.settings = &w->s->settings, .seed = SEED};
	mla_verdict *v = &w->v[i];

	if (v->fix->site->module->c) {
		v->result.outcome = MLA_UNVERIFIED;
		snprintf(v->result.reason, sizeof(v->result.reason),
		         "the arms of C code are not executed");
		return;
	}
	v->whole_call = v->fix->form == MLA_FORM_CACHE_LENGTH;
	if (v->whole_call)
		options.cache_len = MLA_REPLAY_CACHE_LEN;
	mla_site_verify(&v->result, v->tree->project, w->after[i].after, v->fix->site, &options);
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
	work *w = payload;

	for (;;) {
		uint32_t i;

		pthread_mutex_lock(&w->lock);
		i = w->next++;
		pthread_mutex_unlock(&w->lock);
		if (i >= w->n)
			return NULL;
		replay(w, i);
		pthread_mutex_lock(&w->lock);
		w->done++;
		show(w, false);
		pthread_mutex_unlock(&w->lock);
	}
}

/* A replay nests as deep as its limits allow; the stack of a thread is made for that. */
static void run_threads(work *w)
{
	enum { MAX_THREADS = 64, STACK = 64 << 20 };
	pthread_t thread[MAX_THREADS];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t want = w->s->options->jobs, n = 0;
	pthread_attr_t attributes;

	if (!want)
		want = processors > 0 ? (uint32_t)processors : 1;
	want = want > w->n ? w->n : want;
	want = want > MAX_THREADS ? MAX_THREADS : want;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	while (n < want && pthread_create(&thread[n], &attributes, run, w) == 0)
		n++;
	if (!n)
		run(w);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_attr_destroy(&attributes);
}

int mla_replay_all(const mla_scan *s, mla_verdict *v, uint32_t n)
{
	work w = {.s = s, .v = v, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER};
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &w.start);
	w.after = mla_arena_array(s->arena, n, sizeof(*w.after));
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = make_patched(&w.after[i], s, &v[i]);
	if (error == 0)
		run_threads(&w);
	show(&w, true);
	for (uint32_t i = 0; i < n; i++)
		mla_project_free(w.after[i].after);
	return error;
}
